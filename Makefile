# The commands of this repository; `make help` lists them.

GO       ?= go
FUZZTIME ?= 10s
SEEDS    ?= 3
SCHEDULES ?= 20000
LIARS ?= 10000
ONE ?= 100000
FROM     ?= 0
HOUR     ?= 1h
# Packages that are tested at once: one more than there are cores, as some wait now and then.
PACKAGES ?= $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 1)))

.DEFAULT_GOAL := help
.PHONY: build test test-swarm test-browser chaos chaos-short race flakes lint fuzz mutants bench bench-swarm bench-recovery bench-dashboard sim-tables liars-tables recovery-tables objects-tables sim-check soak sim-mutants help

build: tab ## Build the commands into bin/
	$(GO) build -o bin/ ./cmd/...

.PHONY: tab
tab: ## Build the program for visitors' browsers, which satin-peer share serves, into peer/gateway/dist
	$(GO) run ./internal/tab/pack

# go test would vet again what lint vets more of, and every dependency with it. It begins with what is named first: tests
# that wait for much are not left to the end, where nothing runs beside them. Without symbols, which only a debugger wants,
# some eighty programs are linked in half the time.
test: ## Run all tests, 5 minutes on 2 cores the first time, as half of it is compiling
	$(GO) test -vet=off -ldflags='-s -w' -timeout 10m -p $(PACKAGES) ./cli ./internal/hostile ./peer/... ./...
	cd internal/bench && $(GO) test -vet=off -ldflags='-s -w' -timeout 10m ./...

# What has goroutines that share memory: the engine, and what is beside it in the process of a peer. The cores of the
# protocol are called by one goroutine at a time, which the drivers' users here do too; what modules compute the detector does
# not see, and their host is tried in compute/child; and applications, commands and attacks race what is here, in more time.
RACED = . ./internal/engine ./internal/compute/... ./internal/port/... ./internal/checkpoint ./internal/tab/visitor \
	./gossip ./dashboard ./peer/...

race: ## Run the short tests of what shares memory under the race detector (needs a C compiler; nine minutes of processor time)
	GO="$(GO)" .ci/race $(RACED)

# The tools and the simulator have one goroutine: there is nothing in them to race.
.PHONY: race-all
race-all: ## The same of all packages, commands and attacks on peers among them (20 minutes)
	GO="$(GO)" .ci/race $$($(GO) list ./... | grep -vE '/(house|mutants|satinvet|sim|sim/.*)$$')

test-swarm: ## Run swarms of real processes on this machine, and kill, stop and end some of them (10 minutes)
	$(GO) test -tags swarm -timeout 15m ./internal/swarm

.PHONY: test-nat
test-nat: ## Have two peers behind home routers find each other and work together; and over IPv6, and with one that moves and sleeps (needs root, and iptables, which it installs on Debian; 3 minutes)
	@command -v iptables >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends iptables; } || \
		{ echo "test-nat found no iptables: install it"; exit 1; }
	$(GO) test -tags swarm -count 1 -timeout 15m -v -run '^Test(BehindRouters|Six|Laptop)$$' ./internal/swarm

.PHONY: test-service
test-service: ## Have a systemd, booted in namespaces, start the daemon for the machine and for a user (Linux, needs root and util-linux; a minute)
	$(GO) test -tags swarm -count 1 -timeout 10m -v -run '^TestServiceOfSystemd$$' ./internal/swarm

.PHONY: test-wine
test-wine: ## Run satin-peer.exe, and the tests that Debian's Wine can run, as Windows programs (installs it there; 5 minutes)
	GO="$(GO)" .ci/wine . ./job ./steal ./runs ./sharedobj ./verify ./adapt ./internal/wire ./internal/pace ./internal/plain ./peer/preferences ./peer/senses ./peer/locality

chaos: SEEDS = 100
chaos: ## Do harm to swarms of real processes and see that the answers are right: SEEDS seeds (default 100) from FROM on (default 0); long
	$(GO) test -tags swarm -count 1 -timeout 0 -v -run '^TestChaos$$' ./internal/swarm/chaos -chaos.seeds $(SEEDS) -chaos.from $(FROM) -chaos.brief=false -chaos.keep $(CURDIR)/bin/chaos

.PHONY: chaos-liars
chaos-liars: SEEDS = 20
chaos-liars: ## SEEDS (default 20) trials of chaos in which one process lies, one after the other: how soon it is out everywhere (6 minutes)
	$(GO) test -tags swarm -count 1 -timeout 0 -v -run '^TestChaos$$' ./internal/swarm/chaos -chaos.seeds $(SEEDS) -chaos.from 13 -chaos.every 16 -chaos.parallel 1 -chaos.brief=false -chaos.keep $(CURDIR)/bin/chaos

chaos-short: ## Ten seeds of chaos with short runs (3 minutes, 5 on a busy machine)
	$(GO) test -tags swarm -count 1 -timeout 15m -v -run '^TestChaos$$' ./internal/swarm/chaos

# Debian's chromium is installed where there is none and apt-get may do that; elsewhere CHROMIUM=/path/to/chrome names another.
CHROMIUM ?= $(or $(shell command -v chromium chromium-browser google-chrome 2>/dev/null | head -1),/usr/bin/chromium)

test-browser: tab ## Check the page's types and try it in Chromium, with a live swarm too, and in Firefox if that is here (needs node and npm; 6 minutes)
	@command -v npm >/dev/null || { echo "test-browser needs node 20 or later with npm: see https://nodejs.org, or apt-get install npm"; exit 1; }
	cd dashboard/web && npm ci --no-audit --no-fund && npm run check && npm test
	@[ -x "$(CHROMIUM)" ] || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends chromium; } || \
		{ echo "test-browser found no Chromium: install one (apt-get install chromium), or say where it is by CHROMIUM=/path/to/chrome"; exit 1; }
	CHROMIUM="$(CHROMIUM)" $(GO) test -tags browser -run InBrowser -count=1 -timeout 25m -v ./dashboard ./peer/gateway

.PHONY: test-upgrade
OLD ?= $(shell git describe --tags --abbrev=0 2>/dev/null)
test-upgrade: ## Upgrade daemons one after the other, while a campaign goes on, from OLD (a commit; default the last release) to this version (2 minutes)
	@[ -n "$(OLD)" ] || { echo "test-upgrade: there is no release yet: say OLD=COMMIT"; exit 1; }
	rm -rf bin/old && mkdir -p bin/old && git archive $(OLD) | tar -x -C bin/old
	cp apps/sat/version_gen.go bin/old/apps/sat/ # daemons are compared: jobs are shared only if sat is the same by its word
	cd bin/old && $(GO) build -o ../satin-peer-old ./cmd/satin-peer
	rm -rf bin/old
	SATIN_OLD=$(CURDIR)/bin/satin-peer-old $(GO) test -tags swarm -count 1 -timeout 10m -v -run '^TestUpgradedHalfWay$$' ./internal/swarm

.PHONY: test-checkers
test-checkers: ## Have checkers of proofs that others wrote, which it gets and compiles, judge ours, right ones and broken ones (needs git and a C compiler; a minute)
	.ci/checkers bin/checkers
	SATIN_CHECKERS=$(CURDIR)/bin/checkers $(GO) test -tags checkers -count 1 -v -run '^TestPublicCheckers$$' ./cli

.PHONY: test-foreign
test-foreign: ## Have a client of another implementation of libp2p talk nonsense to a peer (needs node 20 or later, and npm; a minute)
	@command -v npm >/dev/null || { echo "test-foreign needs node 20 or later with npm: see https://nodejs.org, or apt-get install npm"; exit 1; }
	cd internal/hostile/js && npm ci --no-audit --no-fund --ignore-scripts
	$(GO) test -tags foreign -run '^TestForeignClient$$' -count=1 -timeout 5m -v ./internal/hostile

COUNT ?= 20
flakes: ## Run the tests of PKG (default ./...) COUNT=20 times as they are, on one core, beside busy processes and under the race detector (hours; WAYS="busy race" for some of it)
	GO="$(GO)" WAYS="$(WAYS)" .ci/flakes $(COUNT) $(PKG)

lint: bin/satinvet bin/staticcheck ## Check format, go vet, satinvet and staticcheck
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "run gofmt -w on:" $$unformatted; exit 1; fi
	@for module in $(MODULES); do (cd $$module && echo "lint $$module" && \
		$(GO) vet ./... && $(GO) vet -vettool=$(CURDIR)/bin/satinvet ./... && $(CURDIR)/bin/staticcheck ./...) || exit 1; done

fuzz: ## Run every fuzz target for FUZZTIME each (default 10s)
	@grep -rE --include='*_test.go' --exclude-dir=testdata '^func Fuzz[A-Z0-9_]' . | sed -E 's|^(.*)/[^/]*:func (Fuzz[A-Za-z0-9_]*).*|\1 \2|' | sort | \
		while read -r dir target; do echo "fuzz $$target in $$dir"; (cd $$dir && $(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) .) || exit 1; done

mutants: ## Break the code in many small ways and see that the tests notice each (long)
	$(GO) run ./internal/mutants

bench: ## Print the engine's figures beside its rivals' as ratios; BENCH="fib udp" for some sections only, APPS="uts sat" for some applications
	cd internal/bench && $(GO) run . $(BENCH)

bench-swarm: ## Print what a steal costs between processes, and what swarms of real processes make of it; BENCH=cost the CPU time of a short run, BENCH=apart what it costs that jobs have a process of their own (APPS=uts for one application), BENCH=members what they pay for signed outcomes, BENCH=idle what a daemon costs that has nothing to do, BENCH=wide over an emulated network
	cd internal/bench && $(GO) run . $(or $(BENCH),steal swarm cost apart members)

bench-recovery: ## Print what the loss of half of 8 real processes costs, beside naive recovery, and how soon the others know
	cd internal/bench && $(GO) run . recovery alarms

.PHONY: bench-adaptive
bench-adaptive: ## Print what adapting saves 8 real processes in 4 emulated clusters, published, simulated and real figures side by side (a quiet machine; 25 minutes); CELLS=1,3 for some scenarios
	cd internal/bench && $(GO) run . -cells "$(CELLS)" adaptive

.PHONY: bench-objects
bench-objects: ## Print how soon 8 real processes hear of an offer to a lattice, and of an abort behind a long leaf, how often 100 MiB cross the links of 4 emulated clusters, a search of which up to 8 of 10 processes are killed, and what is computed again when half of 8 are killed in a step (25 minutes)
	cd internal/bench && $(GO) run . objects hosts steps

.PHONY: bench-sat
MOST ?= 13
bench-sat: ## Prove w(2;3,t) to t = MOST (default 13; 14 takes an hour and 15 GB), and the palindromic ones, check each proof, and race other solvers, which it installs on Debian
	@command -v cadical >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends cadical minisat picosat; } || \
		{ echo "bench-sat found no cadical: install it"; exit 1; }
	cd internal/bench && $(GO) run ./prove series -most $(MOST)
	cd internal/bench && $(GO) run ./prove series -most $(MOST) -palindromic
	cd internal/bench && $(GO) run ./prove rivals

bench-dashboard: ## Print what it costs to be watched in the browser; for its frames, Chromium and `npm ci` in dashboard/web
	cd internal/bench && $(GO) run . watched page

.PHONY: bench-tab
bench-tab: tab ## Print how fast a browser's tab computes beside a native worker, how soon it begins, and what 200 of them cost a daemon; for Chromium, `npm ci` in dashboard/web (a quiet machine; more than 7 minutes)
	cd internal/bench && $(GO) run . -rounds 3 tab

.PHONY: bench-yield
PAIRS ?= 30
bench-yield: ## Print by how much a program of the machine's owner is slower beside a daemon that works on all cores, in PAIRS=30 pairs (a quiet machine; 5 minutes)
	cd internal/bench && $(GO) run . -rounds $(PAIRS) yield

.PHONY: bench-take
bench-take: ## Print how long an engine takes to give a job away, in this process and in a child: of a tree, of a worker that needs it at once, of a stopped one; to start a child; and to have an executable run
	$(GO) build -o bin/ ./cmd/satin-peer
	SATIN_BENCH_COMMAND="$(CURDIR)/bin/satin-peer compute-for-daemon" $(GO) test -run '^$$' -bench 'Take|Start|Program' -benchtime 300x -count 5 ./internal/compute/child

.PHONY: bench-floods
bench-floods: ## Print what a daemon's memory and its answers to thieves come to while four members flood it, each kind for 20 s (Linux, a quiet machine; 3 minutes)
	$(GO) test -tags floods -run '^TestFloods$$' -count 1 -v -timeout 15m ./internal/hostile

.PHONY: modules bench-modules
bench-modules: ## Print what WebAssembly modules cost beside native Go, and how soon they give jobs away
	$(GO) test -run '^$$' -bench Modules -benchtime 1x ./internal/module
	@mkdir -p bin
	$(GO) run ./cmd/satin-peer build ./apps/nqueens -o $(CURDIR)/bin/bench.wasm
	SATIN_BENCH_MODULE=bin/bench.wasm $(GO) test -run '^$$' -bench FirstJob -benchtime 1x ./peer

modules: ## Rebuild the WebAssembly modules that are kept here (needs clang, lld, and rustc for wasm32)
	guest/build.sh

liars-tables: ## Try LIARS schedules with peers that lie (default 10000), ONE of quorum=2 with one liar (default 100000), and make the table of what verifying costs and finds
	$(GO) run ./cmd/satin-sim liars --seeds $(LIARS) --one $(ONE) --rows 30 --out docs/results

sim-tables: ## Make the papers' load-balancing tables in the simulator, into docs/results (SEEDS=3 runs of each)
	$(GO) run ./cmd/satin-sim table all --seeds $(SEEDS) --out docs/results

sim-check: ## Run SCHEDULES random schedules with faults and check every invariant (default 20000), and a tenth as many of real peers on bad disks
	$(GO) run ./cmd/satin-sim exact --seeds $(SCHEDULES)
	$(GO) test -run '^TestLives$$' -count 1 -timeout 60m ./peer -lives $$(($(SCHEDULES) / 10))

.PHONY: sim-huge
sim-huge: ## Make the page of what a peer costs among 10,000, a virtual HOUR=1h of each size, into docs/results (half an hour of one core, 9 GB)
	$(GO) run ./cmd/satin-sim huge --time $(HOUR) --out docs/results

soak: ## Run SEEDS=1000000 schedules, for a night or two, after those that docs/results/sim-soak.md has, and add them there
	$(GO) run ./cmd/satin-sim soak --seeds $(SEEDS) --add docs/results/sim-soak.md --of $$(git rev-parse --short HEAD)

recovery-tables: ## Make the papers' tables of crashes, departures, migration and checkpoints, and that of faults that pass, into docs/results (SEEDS=3 runs of each)
	$(GO) run ./cmd/satin-sim table recovery faults --seeds $(SEEDS) --out docs/results

objects-tables: ## Make the paper's tables of programs that share data, into docs/results (SEEDS=3 runs of each)
	$(GO) run ./cmd/satin-sim table objects othello othello-deep harm javelin --seeds $(SEEDS) --out docs/results

sim-mutants: ## Break the protocol in many small ways and see that a schedule's seed finds each
	$(GO) run ./internal/mutants sim/

.PHONY: adaptive-tables
adaptive-tables: ## Make the page of runs that fit themselves to the work, published figures beside ours, into docs/results (SEEDS=3 runs of each)
	$(GO) run ./cmd/satin-sim table adaptive --seeds $(SEEDS) --out docs/results

.PHONY: test-tidy
test-tidy: ## Begin an application outside and tidy its module with an empty module cache: its go.sum is whole (network; fetches half a gigabyte)
	.ci/tidy

.PHONY: release release-check
release: bin/nfpm ## Build archives, packages, lists of parts and sums of the present commit for all systems, into bin/release
	$(GO) run ./internal/release -nfpm bin/nfpm -only "$(ONLY)"

release-check: bin/nfpm ## Build it, and again from another place and an empty compile cache, and compare to the bit; ONLY=linux-amd64 for some systems only
	$(GO) run ./internal/release -nfpm bin/nfpm -only "$(ONLY)" -twice

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z][a-z-]*:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# The module at the top and the ones inside it.
MODULES = . $(patsubst %/go.mod,%,$(wildcard internal/*/go.mod))

.PHONY: bin/satinvet
bin/satinvet:
	@$(GO) build -o $@ ./cmd/satinvet

# staticcheck is pinned, with its dependencies, in a module file of its own, so that they stay out of go.mod.
bin/staticcheck: .ci/staticcheck/go.mod
	@$(GO) build -modfile=$< -o $@ honnef.co/go/tools/cmd/staticcheck

# nfpm likewise; it makes .deb and .rpm.
bin/nfpm: .ci/nfpm/go.mod
	@$(GO) build -modfile=$< -o $@ github.com/goreleaser/nfpm/v2/cmd/nfpm
