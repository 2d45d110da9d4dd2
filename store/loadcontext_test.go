package store_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	snapshot "handloom/internal/image"
	"handloom/store"
)

// endingReader ends a context after some bytes, and counts later bytes.
type endingReader struct {
	r     io.Reader
	bytes int
	end   context.CancelFunc
	after int
}

func (r *endingReader) Read(b []byte) (int, error) {
	if r.bytes <= 0 {
		r.after += len(b)
	}
	n, err := r.r.Read(b)
	if r.bytes -= n; r.bytes <= 0 {
		r.end()
	}
	return n, err
}

func TestLoad_ChecksContextEveryMiB(t *testing.T) {
	const size = 6 << 20
	for name, fill := range map[string]func(t *testing.T, s *store.Store){
		"items": func(t *testing.T, s *store.Store) {
			table := register(t, s, store.TableOptions[[64]uint64]{Name: "items"})
			q := queues(t, s, 1)[0]
			for range size / 512 {
				table.Emplace(q, [64]uint64{})
			}
		},
		"one item": func(t *testing.T, s *store.Store) {
			table := register(t, s, store.TableOptions[string]{Name: "items"})
			table.Emplace(queues(t, s, 1)[0], string(make([]byte, size)))
		},
		"header": func(t *testing.T, s *store.Store) {},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, store.Options{Workers: 1})
			fill(t, s)
			flush(t, s)
			b := image(t, s)
			if name == "header" {
				b = withHeader(b, func(h *snapshot.Header) { h.Tag.Version = strings.Repeat("p", size) })
			}
			for _, at := range []int{1, 100, 1 << 20, 1<<20 + 100, 3 << 20, 5 << 20} {
				ctx, end := context.WithCancel(t.Context())
				r := &endingReader{r: bytes.NewReader(b), bytes: at, end: end}
				wantError(t, fmt.Sprintf("Load, whose context ends after %d bytes", at), s.Load(ctx, r), context.Canceled)
				atMost(t, "bytes asked for after the context ended", r.after, 1<<20)
			}
		})
	}
}
