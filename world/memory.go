package world

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"
	"time"

	"handloom/internal/check"
)

// Memory returns an empty [Log] in memory, with an election timeout of 300 ms. Worlds of one
// process may share it.
func Memory() Log { return &memory{more: make(chan struct{})} }

const memorySilence = 300 * time.Millisecond

type memory struct {
	mutex   sync.Mutex
	more    chan struct{} // closed when a record is added
	trimmed uint64        // position of the last trimmed record
	records [][]byte      // after trimmed
	saved   []memoryImage // newest first
}

type memoryImage struct {
	at    uint64
	bytes []byte
}

var (
	errNotLast   = errors.New("world: append position is not the last")
	errNotKept   = errors.New("world: records are trimmed or missing")
	errNotSaved  = fmt.Errorf("world: no such snapshot: %w", fs.ErrNotExist)
	errNotEnough = errors.New("world: trim needs two snapshots at or after the position")
)

func (m *memory) tail() uint64 { return m.trimmed + uint64(len(m.records)) }

func (m *memory) Append(ctx context.Context, prev uint64, rec []byte) (at uint64, err error) {
	check.Given(ctx != nil, "world: Append", "context")
	m.mutex.Lock()
	defer m.mutex.Unlock()
	switch {
	case ctx.Err() != nil:
		return 0, context.Cause(ctx)
	case prev != m.tail():
		return 0, fmt.Errorf("%w: got %d, want %d", errNotLast, prev, m.tail())
	}
	m.records = append(m.records, bytes.Clone(rec))
	close(m.more)
	m.more = make(chan struct{})
	return m.tail(), nil
}

func (m *memory) Read(ctx context.Context, after uint64, each func(at uint64, rec []byte) error) error {
	check.Given(ctx != nil, "world: Read", "context")
	check.Given(each != nil, "world: Read", "function")
	for {
		recs, more, err := m.after(after)
		if err != nil {
			return err
		}
		for _, rec := range recs {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			after++
			if err := each(after, rec); err != nil {
				return err
			}
		}
		if len(recs) > 0 {
			continue
		}
		select {
		case <-more:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (m *memory) after(after uint64) (recs [][]byte, more <-chan struct{}, err error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if after < m.trimmed || after > m.tail() {
		return nil, nil, fmt.Errorf("%w: read after record %d of %d to %d", errNotKept, after, m.trimmed+1, m.tail())
	}
	return slices.Clone(m.records[after-m.trimmed:]), m.more, nil
}

func (m *memory) Tail(ctx context.Context) (at uint64, err error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.tail(), context.Cause(ctx)
}

func (m *memory) ElectionTimeout() time.Duration { return memorySilence }

func (m *memory) Save(ctx context.Context, at uint64, write func(w io.Writer) error) error {
	check.Given(ctx != nil, "world: Save", "context")
	check.Given(write != nil, "world: Save", "function")
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	m.saved = slices.DeleteFunc(m.saved, func(i memoryImage) bool { return i.at == at })
	m.saved = append(m.saved, memoryImage{at, b.Bytes()})
	slices.SortFunc(m.saved, func(a, b memoryImage) int { return cmp.Compare(b.at, a.at) })
	m.saved = m.saved[:min(len(m.saved), 2)]
	return nil
}

func (m *memory) Snapshots(ctx context.Context) (at []uint64, err error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	for _, i := range m.saved {
		at = append(at, i.at)
	}
	return at, context.Cause(ctx)
}

func (m *memory) Load(_ context.Context, at uint64) (io.ReadCloser, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	for _, i := range m.saved {
		if i.at == at {
			return io.NopCloser(bytes.NewReader(i.bytes)), nil
		}
	}
	return nil, fmt.Errorf("%w: %d", errNotSaved, at)
}

func (m *memory) Reject(_ context.Context, at uint64) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	n := len(m.saved)
	m.saved = slices.DeleteFunc(m.saved, func(i memoryImage) bool { return i.at == at })
	if len(m.saved) == n {
		return fmt.Errorf("%w: %d", errNotSaved, at)
	}
	return nil
}

func (m *memory) Trim(_ context.Context, through uint64) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if len(m.saved) < 2 || m.saved[1].at < through {
		return fmt.Errorf("%w: %d", errNotEnough, through)
	}
	if through > m.trimmed {
		m.records = slices.Clone(m.records[through-m.trimmed:])
		m.trimmed = through
	}
	return nil
}
