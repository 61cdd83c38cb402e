// What the API sends, as the OpenAPI description at /api/v1/openapi.json says.

/** @typedef {{executed: number, jobs_per_second: number, all_jobs_per_second: number, jobs_given: number, jobs_taken: number, busy_seconds: number, bytes_sent: number, bytes_received: number, cpu_given_seconds: number, cpu_used_seconds: number, verified: Verified}} Work */
/** @typedef {{owner?: string, owner_name?: string, seconds: number, results: number, runs: number}} Thanks */
/** @typedef {{all: Thanks, owners: number, by?: Thanks[]}} Verified */
/** @typedef {{peer: string, name?: string, version: string, started: string, swarm: string, trust: string, modules: string, executables?: string[], refused?: string[], state: string, why_idle?: string, works_for?: string, paused_until?: string, limit?: string, jobs_left?: number,
 * workers: number, busy: number, peers: number, reach: string, reach_why?: string, relay?: string, addresses: string[], cluster: string, work: Work}} Status */
/** @typedef {{name: string, args: string, summary: string}} App */
/** @typedef {{at: string, here: number, all: number, busy?: number}} Moment */
/** @typedef {{name: string, about: string, kind: string, values: string[], from?: string}} Preference */
/** @typedef {{name: string, mine: boolean, reason: string, peers: number, workers: number, rtt_seconds?: number}} Cluster */
/** @typedef {{peer: string, name?: string, version: string, connected: boolean, alive: boolean, relayed: boolean, address?: string, cluster: string,
 * reason: string, rtt_seconds?: number, state: string, workers: number, runs: number, jobs_given: number, jobs_taken: number}} Peer */
/** @typedef {{spawns: number, executed: number, syncs: number, aborted_jobs: number, local_steal_attempts: number, local_steal_successes: number,
 * wide_steal_attempts: number, wide_steal_successes: number, intra_cluster_messages: number, intra_cluster_bytes: number, inter_cluster_messages: number, inter_cluster_bytes: number, jobs_given: number, jobs_taken: number, restarted_jobs: number,
 * orphans_kept: number, orphans_adopted: number, orphans_reused: number, news_messages: number, useful_app_time_seconds: number, steal_time_seconds: number, wait_time_seconds: number,
 * communication_time_seconds: number, recovery_time_seconds: number, encoding_time_seconds: number, idle_time_seconds: number,
 * held_time_seconds: number, cpu_time_seconds: number}} Stats */
/** @typedef {{run: string, app: string, args: string[], title: string, owner: string, owner_name?: string, mine: boolean, state: string, ended: boolean, why?: string, quarantined?: boolean, limits?: string[],
 * submitted: string, elapsed_seconds: number, cpu_seconds: number, share: number, left?: {least_seconds: number, most_seconds: number}, peers: number, executed: number, stats?: Stats, decided?: {at: string, text: string}[]}} Run */
/** @typedef {{peers: number, runs: number, clusters: number}} LeftOut */

/** What all workers did in the last seconds, in worker-seconds.
 * @typedef {{for_seconds: number, work: number, steal: number, comm: number, idle: number}} Workers */
/** @typedef {{run: string, version: number, spans: number, segments: number, running: number, folded: number, unknown: number, executed: number, spawned: number,
 * restarted: number, orphans: number, aborted: number, unseen: number, peers: number, newest: number, workers: Workers, cores: number}} TreeDigest */
/** A segment. @typedef {{n: number, up?: number, job: string, p: number, s: number, e?: number, sp: number, x: number, st: string, re?: boolean, f?: number, fx?: number}} Shoot */
/** @typedef {{peer: string, cluster: string}} Place */
/** @typedef {{all: boolean, epoch: string, from: number, to: number, more: boolean, set: Shoot[], gone: number[], folded: number, peers: Place[], newest: number}} Growth */
/** @typedef {{s: number, e: number, w: number, q: number, c: number, i: number}} Span */
/** @typedef {{peer: string, cluster: string, spans: Span[]}} Row */
/** @typedef {{thin: number, epoch: string, to: number, rows: Row[]}} TimelineReply */
/** @typedef {{from: string, to: string, jobs: number, rtt_seconds?: number}} Flow */
/** @typedef {{number: number, at: string, letter: string, tone: string, text: string}} ServerNotice */
/** @typedef {{theme: string, units: string}} Prefs */

/** @typedef {"status" | "clusters" | "peers" | "runs" | "trees" | "flows" | "notices" | "trouble"} Topic */
/** @typedef {{kind: "snapshot" | "delta", epoch: string, after: number, number: number, set: Partial<Record<Topic, Record<string, unknown>>>,
 * gone?: Partial<Record<Topic, string[]>>}} Change */

/** @typedef {"connecting" | "open" | "lost" | "refused"} Connection */
/** @typedef {{at: Date, text: string, letter: string, tone: string}} Notice */

export {};
