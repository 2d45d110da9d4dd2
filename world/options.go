package world

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"handloom/internal/entry"
	"handloom/store"
)

// Options are the settings of a World. Only Tick is required.
type Options struct {
	// Version identifies the program in at most 1 KiB. Another version may reach other states,
	// so its logs are [ErrVersion].
	Version string

	// Hz is the number of ticks per second of Run; 0: a tick when a call has arrived, and none
	// without.
	Hz int

	// Idle is the maximum time between records of a leader whose ticks have no input; default
	// 1 s, at most a minute, and on a shared log a third of its election timeout. The ticks
	// between are run without a record; the next record has their number. 1 gives each tick a
	// record.
	Idle time.Duration

	// Init builds the first state in one Frame if the log is empty; default: no change.
	Init func(ctx context.Context, w *store.Writer) error

	// Tick runs one tick in one Frame. It must be a function of the state, t and the input,
	// which its first flush applies. Its end flushes the remaining commands.
	Tick func(ctx context.Context, w *store.Writer, t Tick) error

	// Applied is called after each tick, on every World, also for ticks replayed by Open. It
	// may call [store.Store.Read]. Output is sent here.
	Applied func(ctx context.Context, o Outcome)

	InputBytes  int // max bytes of input per tick; a larger call is taken alone; default 1 MiB
	DigestTicks int // max ticks in which every shard is compared once, see the package comment; default 60

	// A snapshot is due after SnapshotBytes of records, default a third of the newest snapshot
	// but at least 1 MiB, after SnapshotTicks ticks, default 36,000, of which one without commands
	// counts a hundredth, or after ticks that took a minute. On a shared log followers save after
	// 3/4 of that, which costs the leader no pause, unless DigestTicks are more than half of it.
	SnapshotBytes, SnapshotTicks int

	// Observe makes a follower that writes nothing: it calls only Read, Tail, Snapshots and
	// Load of the log. Submit and Handoff return [ErrNotLeader]; Open of an empty log returns
	// [io/fs.ErrNotExist].
	Observe bool

	// Wait makes a World wait on a shared log of another version instead of [ErrVersion]. Once a
	// World hands off to its version, it loads that World's snapshot and takes over or follows.
	// It waits again after a handoff to another version. While it waits, Submit, Handoff, Read
	// and Export return [ErrNotLeader], and Applied is not called. On a log with a lock Wait has
	// no effect.
	Wait bool

	// Shadow is the fraction of ticks, 0 to 1, that the leader runs twice to compare the
	// states.
	Shadow float64

	// Portable accepts records of other architectures and versions of Go, which are [ErrVersion]
	// otherwise. The program must reach the same state on all: no float64 that a compiler may
	// fuse, no package math.
	Portable bool
}

// A Tick describes one step of the program.
type Tick struct {
	Number uint64    // from 1
	Seed   uint64    // a random number, equal on every World
	Time   time.Time // by the leader's clock; never decreases; lags after a pause, see Status.ClockOff
}

// An Outcome is a tick that was applied.
type Outcome struct {
	Tick
	Leader bool // this World ran the tick first

	// Unrecorded means that the log lacks this leader's tick, which had no input, until the
	// next tick that is not Unrecorded. Until then another leader may run a tick of this number
	// again, with another Seed and with input. Output that cannot be taken back waits for it, or
	// for nil from Handoff, or from Close if the World leads, ctx has not ended and
	// Status.AppendErr is empty.
	Unrecorded bool

	// Replay means that a tick of this number was applied before: by Open or Replay, or after
	// this leader lost and undid later ticks, which lacked a record.
	Replay bool
}

// maxName is in bytes. Records and snapshots contain the name.
const maxName = 1 << 10

const (
	defaultIdle          = time.Second
	maxIdle              = time.Minute
	defaultInputBytes    = 1 << 20
	defaultSnapshotTicks = 36_000
	defaultDigestTicks   = 60
)

func (o Options) withDefaults() (Options, error) {
	var errs []error
	if o.Tick == nil {
		errs = append(errs, errors.New("world: Options.Tick is nil; give the function of a tick"))
	}
	if o.Hz < 0 || o.Hz > int(time.Second) {
		errs = append(errs, fmt.Errorf("world: Options.Hz is %d, want 0 to %d", o.Hz, int(time.Second)))
	}
	for _, n := range []struct {
		name    string
		value   *int
		instead int
		max     int
	}{
		{"InputBytes", &o.InputBytes, defaultInputBytes, entry.MaxInput},
		{"SnapshotTicks", &o.SnapshotTicks, defaultSnapshotTicks, 1 << 30},
		{"DigestTicks", &o.DigestTicks, defaultDigestTicks, 1 << 30},
	} {
		if *n.value < 0 || *n.value > n.max {
			errs = append(errs, fmt.Errorf("world: Options.%s is %d, want 1 to %d, or 0 for %d", n.name, *n.value, n.max, n.instead))
		}
		*n.value = cmp.Or(*n.value, n.instead)
	}
	if o.SnapshotBytes < 0 {
		errs = append(errs, fmt.Errorf("world: Options.SnapshotBytes is %d, want at least 1, or 0 for a third of the newest snapshot", o.SnapshotBytes))
	}
	if o.Idle < 0 || o.Idle > maxIdle {
		errs = append(errs, fmt.Errorf("world: Options.Idle is %v, want 1ns to %v, or 0 for %v", o.Idle, maxIdle, defaultIdle))
	}
	o.Idle = cmp.Or(o.Idle, defaultIdle)
	if !(o.Shadow >= 0 && o.Shadow <= 1) {
		errs = append(errs, fmt.Errorf("world: Options.Shadow is %v, want 0 to 1", o.Shadow))
	}
	if len(o.Version) > maxName {
		errs = append(errs, fmt.Errorf("world: Options.Version has %d bytes, want at most %d", len(o.Version), maxName))
	}
	return o, errors.Join(errs...)
}
