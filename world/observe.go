package world

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"math"
	"time"
)

type observed struct{ Log }

// endless exceeds any election timeout, and can be multiplied by stormWaits.
const endless = math.MaxInt64 / stormWaits

var (
	errObserves = fmt.Errorf("world: a world with Options.Observe: %w", ErrNotLeader)
	errNoState  = fmt.Errorf("world: a world with Options.Observe cannot begin an empty log: %w; open it after a world that can lead", fs.ErrNotExist)
)

func (observed) Append(context.Context, uint64, []byte) (uint64, error) { return 0, errObserves }

func (observed) ElectionTimeout() time.Duration { return endless }

func (observed) Save(context.Context, uint64, func(io.Writer) error) error { return errObserves }

func (observed) Trim(context.Context, uint64) error { return errObserves }
