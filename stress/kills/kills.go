package main

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"handloom/internal/entrance"
	"handloom/journal"
	"handloom/proof/game"
	"handloom/proof/process"
	"handloom/world"
)

type options struct {
	Dir      string // the journal's folder; need not exist
	Kills    int
	Seed     uint64   // for moments and numbers of workers
	Command  []string // runs [runChild], without its arguments
	Progress func(r *result)
}

type result struct {
	Kills    int    // number of kills
	Ticks    uint64 // last reported tick
	Acks     int    // returned Submits
	Replayed int    // ticks replayed by opening children

	LostTicks int // reported, but missing after a kill
	LostAcks  int // reported, but missing at the end
	Twice     int // keys found twice
	Wrong     int // digests that differ from earlier ones
	Faults    []string

	digests map[uint64]uint64 // by tick
	acked   map[uint64]bool   // by key
}

func (r *result) fault(count *int, format string, args ...any) {
	if *count++; len(r.Faults) < 20 {
		r.Faults = append(r.Faults, fmt.Sprintf(format, args...))
	}
}

// kill starts children one after another and kills all but the last, which ends
// by itself. Then it replays the journal. After an error the result is
// incomplete.
func kill(ctx context.Context, o options) (*result, error) {
	r := &result{digests: map[uint64]uint64{}, acked: map[uint64]bool{}}
	random := rand.New(rand.NewPCG(o.Seed, 0))
	for n := 0; r.Kills < o.Kills && ctx.Err() == nil; n++ {
		if n > 2*o.Kills+10 {
			return r, fmt.Errorf("%d children were started for %d kills", n, r.Kills)
		}
		if err := r.child(o, n, random, false); err != nil {
			return r, err
		}
		o.Progress(r)
	}
	err := r.child(o, 1<<20, random, true)
	if err == nil {
		err = r.replay(o)
	}
	return r, err
}

// workers are the numbers of workers of successive children, so that each
// replays the ticks of another.
var workers = []int{1, 2, 3, 8}

const replayWorkers = 5

func newGame(workers int) *game.Game { return game.New(workers, 0) }

// worldOptions have frequent snapshots and digests.
func worldOptions(g *game.Game, applied func(ctx context.Context, o world.Outcome)) world.Options {
	return world.Options{Version: "kills 1", Init: g.Init, Tick: g.Tick, Applied: applied, SnapshotTicks: 5, DigestTicks: 6, Portable: true}
}

var journalOptions = journal.Options{SegmentBytes: 32 << 10}

// child runs one child until it is killed or, as the last one, for some ticks.
func (r *result) child(o options, n int, random *rand.Rand, last bool) error {
	// A third of the kills come while the child opens the journal, or soon
	// after.
	lines := random.IntN(80)
	if random.IntN(3) == 0 {
		lines = random.IntN(4)
	}
	moment := time.Duration(random.IntN(4000)) * time.Microsecond
	if last {
		lines = 80
	}
	l := listener{result: r, child: n}
	enough := make(chan struct{})
	if lines == 0 {
		close(enough)
	}
	words := []string{childCommand, o.Dir, fmt.Sprint(n), fmt.Sprint(workers[n%len(workers)])}
	p, err := process.Start(slices.Concat(o.Command, words), nil, func(line string) {
		if l.failed == "" {
			l.line(line)
		}
		if lines--; lines == 0 {
			close(enough)
		}
	})
	if err != nil {
		return err
	}
	select {
	case <-enough:
	case <-p.Gone():
	}
	if last {
		err = p.End()
	} else {
		time.Sleep(moment)
		p.Kill()
		if p.State().ExitCode() < 0 { // killed
			r.Kills++
		} else {
			err = p.End()
		}
	}
	switch {
	case l.failed != "":
		return fmt.Errorf("child %d: %s", n, l.failed)
	case err != nil:
		return fmt.Errorf("child %d: %w", n, err)
	}
	return nil
}

type listener struct {
	*result
	child  int
	failed string
}

func (l *listener) line(text string) bool {
	what, rest, _ := strings.Cut(text, " ")
	var tick, digest uint64
	switch what {
	case "ack":
		if _, err := fmt.Sscan(rest, &tick); err != nil {
			return l.invalid(text)
		}
		l.Acks++
		l.acked[tick] = true
		return true
	case "replay", "open", "tick":
		if _, err := fmt.Sscan(rest, &tick, &digest); err != nil {
			return l.invalid(text)
		}
	case "fail":
		l.failed = rest
		return true
	default:
		return l.invalid(text)
	}
	if was, ok := l.digests[tick]; ok && was != digest {
		l.fault(&l.Wrong, "child %d: %s of tick %d has digest %016x, which was %016x", l.child, what, tick, digest, was)
	}
	l.digests[tick] = digest
	switch what {
	case "replay":
		l.Replayed++
	case "open":
		if tick < l.Ticks {
			l.fault(&l.LostTicks, "child %d opens tick %d, and tick %d was told", l.child, tick, l.Ticks)
		}
	case "tick":
		if tick <= l.Ticks {
			l.fault(&l.LostTicks, "child %d plays tick %d again, and tick %d was told", l.child, tick, l.Ticks)
		}
	}
	l.Ticks = max(l.Ticks, tick)
	return true
}

// invalid fails for an invalid line, such as half of one.
func (l *listener) invalid(text string) bool {
	l.failed = fmt.Sprintf("it says %q", text)
	return false
}

func (r *result) replay(o options) error {
	found, err := journal.Entrance(entrance.Key{}).Inspect(o.Dir, func(uint64, []byte) error { return nil })
	if err != nil {
		return err
	}
	r.judgeFiles(found.Damage, found.TornTail)
	g := newGame(replayWorkers)
	ctx := context.Background()
	j, err := journal.Open(o.Dir, journalOptions)
	if err != nil {
		return err
	}
	defer j.Close()
	upTo, replayed := r.Ticks, uint64(0)
	err = world.Replay(ctx, g.Store, older{j}, worldOptions(g, func(ctx context.Context, t world.Outcome) {
		replayed++
		if digest, err := g.Digest(ctx); err != nil || digest != r.digests[t.Number] {
			r.fault(&r.Wrong, "the replay of tick %d with %d workers has digest %016x, which was %016x; %v", t.Number, replayWorkers, digest, r.digests[t.Number], err)
		}
	}), upTo)
	if err != nil {
		return err
	}
	if replayed == 0 {
		return fmt.Errorf("the replay of tick %d played no tick", upTo)
	}
	r.Replayed += int(replayed)
	r.judge(func(yield func(uint64) bool) {
		for _, n := range g.Notes.All() {
			if !yield(n.Key) {
				return
			}
		}
	})
	return nil
}

// judgeFiles checks the files of the journal. Kills of a process damage no
// file, and the last child leaves nothing to truncate.
func (r *result) judgeFiles(damage error, cut string) {
	if damage != nil || cut != "" {
		r.fault(new(int), "the journal: damage %v, cut %q", damage, cut)
	}
}

// judge compares the keys in the state at the end with the acknowledged keys.
func (r *result) judge(keys iter.Seq[uint64]) {
	kept := make(map[uint64]int)
	for key := range keys {
		if kept[key]++; kept[key] == 2 {
			r.fault(&r.Twice, "key %x is there twice", key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(r.acked)) {
		if kept[key] == 0 {
			r.fault(&r.LostAcks, "key %x was acknowledged, and is not there", key)
		}
	}
}

// older is a journal without its newest snapshot, so that a replay runs ticks.
type older struct{ *journal.Journal }

func (j older) Snapshots(ctx context.Context) ([]uint64, error) {
	at, err := j.Journal.Snapshots(ctx)
	if len(at) > 1 {
		at = at[1:]
	}
	return at, err
}
