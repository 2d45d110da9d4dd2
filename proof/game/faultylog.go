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

// FaultyLog is a log whose answers are late or lost, as over a network.
type FaultyLog struct {
	world.Log
	mutex sync.Mutex
	until time.Time
	lost  int
	kept  bool // lost answers leave the record appended
}

var errLost = errors.New("the answer was lost")

// Append appends rec to the log, unless the answer is lost and the record with
// it. A lost answer is an error.
func (l *FaultyLog) Append(ctx context.Context, prev uint64, rec []byte) (uint64, error) {
	l.mutex.Lock()
	wait, lost, kept := time.Until(l.until), l.lost > 0, l.kept
	l.lost = max(0, l.lost-1)
	l.mutex.Unlock()
	// Without the lock, so that calls wait at the same time.
	time.Sleep(wait)
	// The record is lost before the log has it.
	if lost && !kept {
		return 0, errLost
	}
	// The record is in the log, and a lost answer leaves the writer uncertain.
	at, err := l.Log.Append(ctx, prev, rec)
	if lost {
		return 0, errLost
	}
	return at, err
}

// SetFaults delays all answers by pause and loses the next lost answers. With
// kept, the log keeps their records.
func (l *FaultyLog) SetFaults(pause time.Duration, lost int, kept bool) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.until, l.lost, l.kept = time.Now().Add(pause), lost, kept
}

// TearJournal damages the last record of a journal, as a torn write does.
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
	// Zeros at the end are preallocated.
	b[len(bytes.TrimRight(b, "\x00"))-1] ^= 1
	return os.WriteFile(name, b, 0o600)
}
