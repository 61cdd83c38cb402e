// What the API sends, as the OpenAPI description at /api/v1/openapi.json says.

/** @typedef {{executed: number, jobs_per_second: number, jobs_given: number, jobs_taken: number, busy_seconds: number, bytes_sent: number, bytes_received: number}} Work */
/** @typedef {{peer: string, version: string, started: string, swarm: string, trust: string, state: string, why_idle?: string, paused_until?: string,
 * workers: number, busy: number, peers: number, reach: string, reach_why?: string, relay?: string, addresses: string[], cluster: string, work: Work}} Status */
/** @typedef {{name: string, mine: boolean, reason: string, peers: number, workers: number, rtt_seconds?: number}} Cluster */
/** @typedef {{peer: string, name?: string, version: string, connected: boolean, alive: boolean, relayed: boolean, address?: string, cluster: string,
 * reason: string, rtt_seconds?: number, state: string, workers: number, runs: number, jobs_given: number, jobs_taken: number}} Peer */
/** @typedef {{spawns: number, executed: number, syncs: number, aborted_jobs: number, local_steal_attempts: number, local_steal_successes: number,
 * wide_steal_attempts: number, wide_steal_successes: number, intra_cluster_bytes: number, inter_cluster_bytes: number, restarted_jobs: number,
 * orphans_reused: number, steal_time_seconds: number, recovery_time_seconds: number, useful_app_time_seconds: number}} Stats */
/** @typedef {{run: string, app: string, args: string[], title: string, owner: string, mine: boolean, state: string, ended: boolean, why?: string,
 * submitted: string, elapsed_seconds: number, share: number, peers: number, executed: number, stats?: Stats}} Run */
/** @typedef {{peers: number, runs: number, clusters: number}} LeftOut */

/** @typedef {"status" | "clusters" | "peers" | "runs" | "trouble"} Topic */
/** @typedef {{kind: "snapshot" | "delta", epoch: string, after: number, number: number, set: Partial<Record<Topic, Record<string, unknown>>>,
 * gone?: Partial<Record<Topic, string[]>>}} Change */

/** @typedef {"connecting" | "open" | "lost" | "refused"} Connection */
/** @typedef {{at: Date, text: string, letter: string, tone: string}} Notice */

export {};
