# CI runs `make check`. Tools are pinned here, not in go.mod, except benchstat, whose
# packages go.mod has.
STATICCHECK = go run honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOFUMPT     = go run mvdan.cc/gofumpt@v0.12.0
BENCHSTAT   = go run golang.org/x/perf/cmd/benchstat@$(shell go list -m -f "{{.Version}}" golang.org/x/perf)
FUZZTIME   ?= 60s
KILLS      ?= 1000
FORGERIES  ?= 1000000
DURATION   ?= 20s
SEED       ?= 1

# A lost wake-up or a held lock makes a test hang. Packages take a fraction of these
# limits, even on a busy machine.
TIMEOUT      ?= 5m
RACE_TIMEOUT ?= 9m

# Compilers that collect garbage less often take a sixth less processor time. Tests keep
# their GOGC, and both ways of building share one cache.
SELDOM = '-toolexec=env GOGC=300'

# The workspace does not allow -mod=mod. It has two modules; ./... matches one of them.
export GOFLAGS := $(filter-out -mod=mod $(SELDOM),$(shell go env GOFLAGS)) $(SELDOM)
ALL = ./cluster/... ./...

# Faster builds without debug information; panics do not need it.
BARE = -gcflags=all=-dwarf=false

.PHONY: help check nightly short short-cluster full test race race-all checked checked-all lint alone portable systems picture fuzz forgeries bench bench-check bench-compare build-cost stress kills messages schedules nemesis nemesis-check canaries release release-check

help: ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/ -/'

# alternatives returns the pattern of -run and -skip for a list of names.
alternatives = $(subst $() ,|,$(strip $(1:%=^%$$)))

check: lint portable short short-cluster full race checked bench-check stress nemesis-check canaries ## all that CI runs

# Full sizes, other systems, programs that start compilers or browsers, and faults and seeds that
# take long. Its seeds differ from day to day; each test prints its own.
nightly: SEED = $(shell date +%Y%m%d)
nightly: alone systems test race-all checked-all fuzz ## all that takes hours, with drawn seeds
	$(MAKE) schedules DURATION=10m SEED=$(SEED)
	$(MAKE) forgeries SEED=$(SEED)
	go run ./stress -seed $(SEED) -profile pr -duration 30m
	go run ./stress -canary rare
	go test -rapid.seed=0 ./batch ./store ./shard ./handle ./tasks ./proof/model $(addprefix ./internal/,digest items slotset)
	go test ./cluster -run 'TestCall_CountsOnce|TestNode_CellsSurviveKills' -call-kills 100 -call-seed $(SEED) -join-cells 30 -join-kills 20 -timeout 30m
	$(MAKE) kills messages
	$(MAKE) nemesis DURATION=20m SEED=$(SEED)
	$(MAKE) release-check

# Tests of the packages of make race and of the cluster that run without the race detector: they use
# one goroutine, or the goroutines of other tests for longer.
UNRACED = TestAppend_FailedNameIsRefused \
	TestBatch_SteadyStateAllocatesNothing TestObjects_RefuseSettings \
	TestBurst_IdleTableReleasesMemory TestBurst_MemoryIsReleased TestClaim_RefusesDamagedInputs \
	TestForeignMessage_ManyAreVoid TestIdle_ClockThatWasSetBack TestIdle_RecordsCompareAllShards \
	TestJournal_RefusesOtherHistory TestKeep_BoundsBytesOfHistory TestKeep_SpacesOldSnapshots \
	TestLoad_ChecksContextEveryMiB TestLookup_UndeclaredIsFoundByCheckedBuilds \
	TestOpenRead_BeginsNearTheRecord TestOpenRead_LeavesDescriptors TestOpen_FindsEveryFlippedBit \
	TestOpen_MakesReadRecordsDurable TestOpen_RefusesLossySettings TestOpen_ShortFileIsCorrupt \
	TestOutbox_DeliversOnceUnderKills/seed=1 TestPowerFailure_KeepsDurableRecords \
	TestPowerFailure_SeveralDeathsKeepDurableRecords TestProvisional_StaysStale \
	TestQueueLimit_DoesNotDependOnHistory TestRead_ReportsPartlyTrimmedRecord \
	TestRepair_SurvivesAPowerFailure TestReplay_ReachesBackThroughKeptHistory \
	TestRequests_ForgetOldAnswers TestRequests_RefuseExpiredCalls TestReseed_ChecksState \
	TestReseed_RefusesJournalOlderThanSnapshot TestRights_AddedServerJoins \
	TestRights_AreRenewedWithoutAStop TestRun_LimitsRequests TestSequence_SteadyStateAllocatesNothing \
	TestObjects_StoreAllSizes \
	TestSnapshot_IntoNewStoreGivesMemoryBack TestSnapshot_IsDueByBytes \
	TestTickTime_ReturnsToTheClock TestTrim_KeepsHistoryAtEverySegmentEnd \
	TestTruncated_CoversLostRecords TestUpdate_AllocatesNothing TestWait_RefusesUntilNamed \
	TestWritten_IsFreedWhenIdle

short: ## the tests of the library, in small sizes
	go test -short -timeout $(TIMEOUT) ./...

short-cluster: ## the tests of the module cluster, in small sizes
	go test -short -timeout $(TIMEOUT) ./cluster/...

# Tests that -short cuts and that take seconds in full size. make test runs the others.
FULL = TestAdmission_AgreesWithModel TestDefragment_AllOrdersAndBudgets \
	TestFold_MatchesALoop TestIndex_MatchesModel TestLoad_AcceptsOrRefusesForgeries \
	TestLoad_MigratesComponentsIndependently TestNemesis_AppliesAcknowledgedCallsOnce \
	TestOpen_ShortFileIsCorrupt TestPlay_ManyCommandsInAQueue TestProbe_MatchesOracle \
	TestReplayer_EveryWalkReachesTheSameStates TestSchedule_MatchesModel \
	TestTrim_KeepsHistoryAtEverySegmentEnd TestTruncated_CoversLostRecords \
	TestWhy_NamesPlantedFaults TestWorld_AgreesOnEveryReplica

full: ## tests that -short cuts, in full size
	go test -vet=off -run '$(call alternatives,$(FULL))' -timeout $(TIMEOUT) ./store ./world ./journal ./history ./batch ./shard/handlemap ./proof/runner

test: ## the tests in full size; they start compilers and browsers
	go test -timeout 30m $(ALL)

# -short: fewer seeds and smaller sizes, but every kind of concurrent work. By default a
# process waits a second at its end for races of other goroutines; tests leave none.
RACE = GORACE=atexit_sleep_ms=50 go test -race -short -shuffle=on -vet=off -gcflags=all=-dwarf=false -skip '$(call alternatives,$(UNRACED))'

race: ## the library under the race detector, in random order
	$(RACE) -timeout $(RACE_TIMEOUT) ./world ./store ./journal ./batch ./tasks ./view ./store/internal/schedule

race-all: ## everything under the race detector
	$(RACE) -timeout 30m $(ALL)

# Without inlining (-l) the tests of store compile in 30 s instead of 50, and run as long.
CHECKED = go test -short -vet=off -tags handloom_check -gcflags=handloom/...='-d=checkptr -dwarf=false -l' -timeout $(TIMEOUT)
BELOW_STORE = ./proof/runner ./shard/... ./batch $(addprefix ./internal/,dense digest highwater items paged slotset sparse)

# The other tests of store run under the race detector, which has the cheap checks too.
checked: ## random programs, containers and misuse in the checked build
	$(CHECKED) $(BELOW_STORE)
	$(CHECKED) -run 'Checked|Checkpoint|Lookup|Mistakes|Phase|Queues|Reduce|Schedule|System|Value|Writer' ./store

# World has no checks of its own: three tests run replicas, kills and walks on a store that
# has them. All of them would take three minutes.
checked-all: ## everything in the checked build
	$(CHECKED) $(BELOW_STORE) ./store/...
	$(CHECKED) -run '^(TestWorld_AgreesOnEveryReplica|TestNemesis_AppliesAcknowledgedCallsOnce|TestReplayer_EveryWalkReachesTheSameStates)$$' ./world

# Checkers that collect less often take less processor time, too.
lint: export GOGC = 300
lint: ## formatting, vet, staticcheck, go fix, go mod tidy, layout
	@out=$$($(GOFUMPT) -l .); test -z "$$out" || { echo "gofumpt would change:"; echo "$$out"; exit 1; }
	go vet $(ALL)
	$(STATICCHECK) $(ALL)
	go fix -diff $(ALL)
	go mod tidy -diff
	cd cluster && go mod tidy -diff
	go test -vet=off ./internal/layout

alone: ## each module without the workspace, whose versions are higher
	GOWORK=off go vet ./store/... ./world
	GOWORK=off go test -timeout $(TIMEOUT) ./tasks
	cd cluster && GOWORK=off go vet ./...

# Some systems that run on amd64 refuse programs of 386. There the tests are only built.
ONLY_BUILT = $(shell GOARCH=386 go test -run - ./internal/highwater >/dev/null 2>&1 || echo -exec true)

# 386 has other sizes of int, alignments and 64-bit atomics.
portable: ## store, journal and world on 32 bits, and a build for the browser
	@if [ "$$(go env GOHOSTARCH)" = amd64 ]; then \
		set -x; GOARCH=386 go test $(ONLY_BUILT) -short -vet=off $(BARE) -timeout $(TIMEOUT) ./store ./world ./journal; \
	else echo "the tests on 32 bits run where the machine is an amd64"; fi
	GOOS=js GOARCH=wasm go build -trimpath -gcflags=all='-dwarf=false -l' ./store ./world

systems: ## everything below store on 32 bits, and builds for other systems
	@if [ "$$(go env GOHOSTARCH)" = amd64 ]; then \
		set -x; GOARCH=386 go test $(ONLY_BUILT) -short -vet=off $(BARE) -timeout $(TIMEOUT) ./store/... ./world ./journal ./proof/runner ./shard/... ./batch ./tasks ./internal/...; \
	else echo "the tests on 32 bits run where the machine is an amd64"; fi
	GOOS=windows go vet ./journal ./internal/lockfile
	GOOS=darwin go vet ./journal ./internal/lockfile

stress: ## the main job, and refused input
	sh stress/check.sh

kills: ## a program on a journal, killed KILLS times
	@dir=$$(mktemp -d) && go build -o $$dir/kills ./stress/kills && { $$dir/kills -kills $(KILLS) $$dir/log; code=$$?; rm -rf $$dir; exit $$code; }

schedules: ## random schedules next to other goroutines for DURATION, from SEED on, on 1, 2 and 8 workers
	go test ./store -run TestSchedule_MatchesModel -schedules $(DURATION) -schedule-seed $(SEED) -timeout 0 -v

messages: ## a million messages each way between two cells whose nodes are killed
	go test ./cluster/cells -run TestOutbox_DeliversOnceUnderKills -messages 1000000 -timeout 20m -v

nemesis: ## three nodes on three servers, killed, stopped and cut off for DURATION, by SEED
	@dir=$$(mktemp -d) && go build -o $$dir/nemesis ./cluster/cmd/nemesis && { $$dir/nemesis -duration $(DURATION) -seed $(SEED); code=$$?; rm -rf $$dir; exit $$code; }

nemesis-check: ## nemesis for 20 seconds, and no files left
	sh cluster/cmd/nemesis/check.sh

canaries: ## seeded faults, which the harness must find
	go run ./stress -canary all

# Paths of packages follow MODULE, in code and text, but not folders such as ../handloom/. Pages
# install the version instead of a copy. go.work stays, so that the commands of the pages work.
release: ## both modules as MODULE=example.org/handloom VERSION=v0.1.0 in the new folder OUT
	@echo '$(MODULE)' | grep -qE '^[a-z0-9-]+(\.[a-z0-9-]+)+(/[A-Za-z0-9_.~-]+)+$$' || { echo 'MODULE: want a path such as example.org/handloom' >&2; exit 2; }
	@grep -qx '## $(VERSION)' CHANGELOG.md || { echo 'VERSION: want a heading of CHANGELOG.md, such as v0.1.0' >&2; exit 2; }
	mkdir '$(OUT)'
	git archive HEAD | tar -x -C '$(OUT)'
	cd '$(OUT)' && rm -r .ci && grep -rlI handloom . | xargs sed -i -E \
		-e 's#(^|[^[:alnum:]_./~-])[h]andloom/#\1$(MODULE)/#g' \
		-e 's#^module [h]andloom$$#module $(MODULE)#; s#^\t[h]andloom v0\.0\.0$$#\t$(MODULE) $(VERSION)#; /^replace [h]andloom /d' \
		-e 's#go mod edit -require (\S+)@v0\.0\.0 -replace \S+#go get \1@$(VERSION)#; s#go get [h]andloom@#go get $(MODULE)@#' \
		-e 's#`[h]andloom`#`$(MODULE)`#g; s#[P]oint your module at a copy of this repository:#Add it to yours:#' \
		-e 's#[I]n a folder next to a copy of this repository:#In an empty folder:#'
	gofmt -w '$(OUT)'
	cd '$(OUT)' && go work edit -replace $(MODULE)@$(VERSION)=./
	@echo 'Commit $(OUT), then: git tag $(VERSION) && git tag cluster/$(VERSION)'

release-check: ## the tests of both modules of a release
	rm -rf /tmp/handloom-release
	$(MAKE) release MODULE=example.org/handloom VERSION=v0.1.0 OUT=/tmp/handloom-release
	cd /tmp/handloom-release && go vet $(ALL) && go test -short $(ALL)

picture: ## the picture of the playground in the README; needs a Chromium
	go test ./guide -run TestPlayground -picture pictures/playground.png

fuzz: ## every fuzz target for FUZZTIME each
	@for pkg in $$(go list ./...); do \
		for target in $$(go test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
			echo "$$pkg $$target"; \
			go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) $$pkg || exit 1; \
		done; \
	done

forgeries: ## FORGERIES forged snapshots, from number SEED on
	go test ./store -run TestLoad_AcceptsOrRefusesForgeries -forgeries $(FORGERIES) -forgery-seed $(SEED) -timeout 0 -v

bench: ## the benchmarks of every package
	go test -run '^$$' -bench . -benchmem ./...

build-cost: ## CPU time, memory, functions and binary size of programs with 1, 8 and 32 tables; minutes
	go test ./bench -run '^$$' -bench BenchmarkBuild -build-cost -benchtime 3x -timeout 30m

bench-check: ## output of the bench program for benchstat, and refused input
	BENCHSTAT="$(BENCHSTAT)" sh bench/check.sh

bench-compare: ## BASE=rev and the working tree, alternating, 20 minutes; RUN=regexp selects cases, ROUNDS=10
	BENCHSTAT="$(BENCHSTAT)" sh bench/compare.sh "$(BASE)" "$(RUN)" "$(ROUNDS)"
