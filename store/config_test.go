package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"handloom/internal/check"
	"handloom/store"
)

// config is a way to run a program that must not change its outcome.
type config struct {
	workers int
	procs   int // GOMAXPROCS; 0: as it is
	shuffle bool
	team    bool
}

func (c config) String() string {
	return fmt.Sprintf("workers=%d/procs=%d/shuffle=%t/team=%t", c.workers, c.procs, c.shuffle, c.team)
}

// alone is the configuration that the others are compared with.
var alone = config{workers: 1}

var workerCounts = []int{1, 2, 3, 7, 16, 64}

// configs are all combinations; in checked builds, which make them slow, every
// fifth, which are of every kind.
func configs() []config {
	var all []config
	for _, workers := range workerCounts {
		for _, procs := range []int{1, 2, 4} {
			for _, shuffle := range []bool{false, true} {
				for _, team := range []bool{false, true} {
					all = append(all, config{workers, procs, shuffle, team})
				}
			}
		}
	}
	if !check.Cheap {
		return all
	}
	var some []config
	for i := 0; i < len(all); i += 5 {
		some = append(some, all[i])
	}
	return some
}

// outcome is everything of a run that must be equal in every configuration.
type outcome struct {
	digests []uint64
	reports []*store.Report
	names   [][]store.ID // what the provisional handles resolved to
	notes   []string     // what the scenario saw besides
}

// trial is a run of a scenario in one configuration.
type trial struct {
	tb
	*store.Store
	ctx context.Context
	out outcome
}

// run runs a scenario in a store of its own.
func (c config) run(t tb, o store.Options, scenario func(r *trial)) outcome {
	t.Helper()
	if c.procs > 0 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(c.procs))
	}
	o.Workers = c.workers
	r := &trial{tb: t, Store: newStore(t, o), ctx: context.Background()}
	if c.shuffle {
		perturb(t, shuffler(uint64(c.workers)))
		defer perturb(t, nil)
	}
	if !c.team {
		scenario(r)
		return r.out
	}
	noError(t, r.Team(r.ctx, func(ctx context.Context) error {
		r.ctx = ctx
		scenario(r)
		return nil
	}))
	return r.out
}

// shuffler has tasks run in random order, some of them delayed. Passes of
// several systems may call it at the same time, and tasks run at the same time
// anyway.
func shuffler(seed uint64) func(n int) func(task int) int {
	random := rand.New(rand.NewPCG(seed, 1))
	var lock sync.Mutex
	return func(n int) func(task int) int {
		lock.Lock()
		order := random.Perm(n)
		delays := random.IntN(3)
		lock.Unlock()
		var began atomic.Int64
		return func(task int) int {
			for range int(began.Add(1)) % (delays + 1) {
				runtime.Gosched()
			}
			return order[task]
		}
	}
}

// flush flushes, and notes the report, the digest and what the names resolve to.
func (r *trial) flush(names ...store.ID) *store.Report {
	r.Helper()
	report, err := r.Flush(r.ctx)
	noError(r, err)
	r.note(report, names)
	return report
}

func (r *trial) note(report *store.Report, names []store.ID) {
	r.Helper()
	noError(r, r.Verify(r.ctx))
	d, err := r.Digest(r.ctx)
	noError(r, err)
	real := make([]store.ID, len(names))
	for i, p := range names {
		real[i], _ = r.Resolve(p)
	}
	r.out.digests = append(r.out.digests, d)
	r.out.reports = append(r.out.reports, report.Clone())
	r.out.names = append(r.out.names, real)
}

// differs says where two outcomes part, or nothing.
func (o outcome) differs(other outcome) string {
	if len(o.digests) != len(other.digests) {
		return fmt.Sprintf("%d flushes, not %d", len(other.digests), len(o.digests))
	}
	for i := range o.digests {
		switch {
		case !o.reports[i].Equal(other.reports[i]):
			return fmt.Sprintf("flush %d reports\n\t%+v, not\n\t%+v", i, other.reports[i], o.reports[i])
		case !slices.Equal(o.names[i], other.names[i]):
			return fmt.Sprintf("after flush %d names resolve to\n\t%v, not\n\t%v", i, other.names[i], o.names[i])
		case o.digests[i] != other.digests[i]:
			return fmt.Sprintf("flush %d leaves digest %x, not %x", i, other.digests[i], o.digests[i])
		}
	}
	for i := range min(len(o.notes), len(other.notes)) {
		if o.notes[i] != other.notes[i] {
			return fmt.Sprintf("note %d is\n\t%s, not\n\t%s", i, other.notes[i], o.notes[i])
		}
	}
	if len(o.notes) != len(other.notes) {
		return fmt.Sprintf("%d notes, not %d", len(other.notes), len(o.notes))
	}
	return ""
}

// sameEverywhere runs a scenario in every configuration and compares.
func sameEverywhere(t *testing.T, o store.Options, scenario func(r *trial)) {
	t.Helper()
	want := alone.run(t, o, scenario)
	for _, c := range configs() {
		t.Run(c.String(), func(t *testing.T) {
			equal(t, "difference", want.differs(c.run(t, o, scenario)), "")
		})
	}
}
