package logtest

import (
	"context"
	"errors"
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
