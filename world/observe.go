package world

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"math"
	"time"
)

// observed is the log of an observing World, which changes nothing in it.
type observed struct{ Log }

// endless is longer than any log is silent, and short enough to be multiplied by stormWaits.
const endless = math.MaxInt64 / stormWaits

var (
	errObserves = fmt.Errorf("world: a world with Options.Observe: %w", ErrNotLeader)
	errNoState  = fmt.Errorf("world: the log is empty, and a world with Options.Observe makes no first state: %w; open it after a world that may own the log", fs.ErrNotExist)
)

func (observed) Append(context.Context, uint64, []byte) (uint64, error) { return 0, errObserves }

func (observed) ElectionTimeout() time.Duration { return endless }

func (observed) Save(context.Context, uint64, func(io.Writer) error) error { return errObserves }

func (observed) Trim(context.Context, uint64) error { return errObserves }
