package game

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"handloom/world"
)

// A Moody log loses answers, or is late with them.
type Moody struct {
	world.Log
	mutex sync.Mutex
	until time.Time // before which it does not answer
	lost  int       // answers that are lost
	kept  bool      // though the record is kept
}

var errLost = errors.New("the answer was lost")

// Append adds rec, or does not, and tells, or does not.
func (m *Moody) Append(ctx context.Context, prev uint64, rec []byte) (uint64, error) {
	m.mutex.Lock()
	wait, lost, kept := time.Until(m.until), m.lost > 0, m.kept
	m.lost = max(0, m.lost-1)
	m.mutex.Unlock()
	time.Sleep(wait)
	if lost && !kept {
		return 0, errLost
	}
	at, err := m.Log.Append(ctx, prev, rec)
	if lost {
		return 0, errLost
	}
	return at, err
}

// Mood has the log wait with all answers for so long, and lose the next ones, though it may
// keep the records.
func (m *Moody) Mood(pause time.Duration, lost int, kept bool) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.until, m.lost, m.kept = time.Now().Add(pause), lost, kept
}

// Append appends rec to l, and asks again as long as the servers of l are too slow and ctx
// has not ended. A log gives up after a time of its own; asked again, it finds rec in place
// if the servers have it.
func Append(ctx context.Context, l world.Log, prev uint64, rec []byte) (at uint64, err error) {
	for {
		at, err = l.Append(ctx, prev, rec)
		if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			return at, err
		}
	}
}

// TearJournal changes the last byte of the last record of a journal.
func TearJournal(dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil || len(names) == 0 {
		return fmt.Errorf("segments: got %v, %w", names, err)
	}
	name := slices.Max(names)
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	b[len(bytes.TrimRight(b, "\x00"))-1] ^= 1
	return os.WriteFile(name, b, 0o600)
}
