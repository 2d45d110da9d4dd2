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

// Options of a World. Tick is needed, all else has a default.
type Options struct {
	// Program names the version of the code, say from its build info. A log of
	// another one is [ErrVersion]: that program would come to other states. At most
	// 1 KiB.
	Version string

	Hz int // ticks per second of Run; 0: 60

	// Init builds the first state, inside one Write, when the log is empty. nil: the
	// first state is what the store holds.
	Init func(ctx context.Context, w *store.Writer) error

	// Tick plays one tick, inside one Write. It must be a function of the state, of
	// t, and of what its first flush finds in the inbox, and leave no command behind.
	Tick func(ctx context.Context, w *store.Writer, t Tick) error

	// Applied is called behind each tick, on every world, and looks at the state with
	// [store.Store.Read]: what goes out, goes out here. Open calls it for the ticks
	// that it plays again, before there is a World to ask.
	Applied func(ctx context.Context, o Outcome)

	InputBytes  int // of calls in one tick, at most, or one that is longer; what is more waits for the next. 0: 1 MiB
	DigestTicks int // after which every shard has been compared; 0: 60

	// SnapshotTicks are from one snapshot to the next, or down to a quarter of that on a
	// log that several worlds share. There followers save, which costs the owner no
	// pause, unless DigestTicks are about half as many or more. 0: 600.
	SnapshotTicks int

	// Observe keeps the World from owning the log: it applies the records of other worlds,
	// and calls only Read, Tail, Snapshots and Load of the log. Submit and Handoff return
	// [ErrNotLeader]. Open of an empty log returns [io/fs.ErrNotExist].
	Observe bool

	// Shadow is the part of the ticks, 0 to 1, that the owner plays twice, going back
	// in between, to find out whether they come to the same state.
	Shadow float64

	// Portable says that the program comes to the same state whatever the
	// architecture and the version of Go: no float64 that a compiler may fuse, no
	// package math.
	Portable bool
}

// A Tick is one step of the program.
type Tick struct {
	Number uint64    // from 1
	Seed   uint64    // a random number, the same on every world
	Time   time.Time // of the owner's clock; never goes back; follows a clock that jumps slowly: see Status.ClockOff
}

// An Outcome is a tick that was applied.
type Outcome struct {
	Tick
	Leader bool // this World owned the log
	Replay bool // by Open or Replay: it had been applied before
}

// maxName is how long the name of a program may be: records and snapshots hold it.
const maxName = 1 << 10

const (
	defaultHz            = 60
	defaultInputBytes    = 1 << 20
	defaultSnapshotTicks = 600
	defaultDigestTicks   = 60
)

// withDefaults returns o with every default filled in, or all that is wrong with it.
func (o Options) withDefaults() (Options, error) {
	var errs []error
	if o.Tick == nil {
		errs = append(errs, errors.New("world: Options.Tick is nil: it is the program"))
	}
	for _, n := range []struct {
		name    string
		value   *int
		instead int
		most    int
	}{
		{"Hz", &o.Hz, defaultHz, int(time.Second)},
		{"InputBytes", &o.InputBytes, defaultInputBytes, entry.MaxInput},
		{"SnapshotTicks", &o.SnapshotTicks, defaultSnapshotTicks, 1 << 30},
		{"DigestTicks", &o.DigestTicks, defaultDigestTicks, 1 << 30},
	} {
		if *n.value < 0 || *n.value > n.most {
			errs = append(errs, fmt.Errorf("world: Options.%s is %d: 1 to %d, or 0 for %d", n.name, *n.value, n.most, n.instead))
		}
		*n.value = cmp.Or(*n.value, n.instead)
	}
	if !(o.Shadow >= 0 && o.Shadow <= 1) {
		errs = append(errs, fmt.Errorf("world: Options.Shadow is %v: 0 to 1", o.Shadow))
	}
	if len(o.Version) > maxName {
		errs = append(errs, fmt.Errorf("world: Options.Version has %d bytes: at most %d", len(o.Version), maxName))
	}
	return o, errors.Join(errs...)
}
