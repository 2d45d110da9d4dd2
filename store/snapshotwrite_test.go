package store_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"handloom/internal/check"
	snapshot "handloom/internal/image"
	"handloom/store"
)

// block is an item of the size that most of them have.
type block [8]uint64

// largeStore has tables whose shards take several frames: packed, with vacant slots and
// without, with a column, with items that are walked, and stable.
func largeStore(t tb) (*store.Store, *store.Table[block]) {
	t.Helper()
	s := newStore(t, store.Options{Workers: 1})
	type named struct {
		Name  string
		Value uint64
	}
	packed := register(t, s, store.TableOptions[block]{Name: "packed", Shards: 2})
	gaps := register(t, s, store.TableOptions[block]{Name: "gaps"})
	column, err := store.AddColumn(gaps, store.ColumnOptions[block]{Name: "column"})
	if err != nil {
		t.Fatal(err)
	}
	walked := register(t, s, store.TableOptions[named]{Name: "walked"})
	stable := registerStable(t, s, store.TableOptions[block]{Name: "stable"})
	register(t, s, store.TableOptions[block]{Name: "empty"})
	q := queues(t, s, 1)[0]
	for i := range uint64(50_000) {
		packed.Emplace(q, block{i, 7: i})
		stable.Emplace(q, block{i, 7: i})
		h := gaps.Emplace(q, block{i, 7: i})
		column.Set(q, h, block{3: i})
		walked.Emplace(q, named{fmt.Sprint("the one with number ", i), i})
	}
	flush(t, s)
	q = queues(t, s, 1)[0]
	for h, v := range gaps.All() {
		if v[0]%7 == 0 {
			gaps.Erase(q, h)
		}
	}
	flush(t, s)
	return s, packed
}

func TestSnapshot_BlocksOfEmptyTables(t *testing.T) {
	s := newStore(t, store.Options{})
	register(t, s, store.TableOptions[uint32]{Name: "two", Shards: 2})
	registerStable(t, s, store.TableOptions[uint32]{Name: "one"})
	b := image(t, s)
	var kinds, sizes []int
	for rest := b[headOf(b):]; len(rest) > 0; {
		length := int(binary.LittleEndian.Uint32(rest))
		kinds, sizes = append(kinds, int(rest[8])), append(sizes, length)
		rest = rest[16+length:]
	}
	// No slots: 16 bytes, 24 after them, and 1 for an order that is not known.
	if fmt.Sprint(kinds) != "[0 1 0 1 0 1 2]" || fmt.Sprint(sizes) != "[41 8 41 8 40 8 12]" {
		t.Errorf("blocks of kinds %v with %v bytes", kinds, sizes)
	}
}

// However fast a writer is, and whether items are copied for it or not, the bytes are
// those of the format: every frame of a shard but its last is full.
func TestFramesOfLargeShardsAreFull(t *testing.T) {
	s, _ := largeStore(t)
	b := image(t, s)
	info, err := snapshot.Inspect(bytes.NewReader(b))
	if err != nil || info.Digest != digest(t, s) {
		t.Fatalf("the digest is %x, %v", info.Digest, err)
	}
	full, last := 0, 1<<20
	for at := headOf(b); at < len(b); {
		length := int(binary.LittleEndian.Uint32(b[at:]))
		switch kind := b[at+8]; {
		case kind != 0:
			last = 1 << 20 // the next frame is of another shard
		case last != 1<<20:
			t.Fatalf("a frame of %d bytes is behind one of %d", length, last)
		default:
			last = length
			if length == 1<<20 {
				full++
			}
		}
		at += 16 + length
	}
	if full < 10 {
		t.Errorf("%d frames are full", full)
	}
	var c store.Checkpoint
	checkpoint(t, s, &c)
	slow := slowWriter{}
	if n, err := c.WriteTo(&slow); err != nil || n != int64(len(b)) || !bytes.Equal(slow.Bytes(), b) {
		t.Errorf("a slow writer gets other bytes: %d, %v", n, err)
	}
	if slow.most > 1<<20+1<<17 {
		t.Errorf("a call has %d bytes", slow.most)
	}
}

// slowWriter lets others run before it looks at what it is given.
type slowWriter struct {
	bytes.Buffer
	most int
}

func (w *slowWriter) Write(b []byte) (int, error) {
	for range 20 {
		runtime.Gosched()
	}
	w.most = max(w.most, len(b))
	return w.Buffer.Write(b)
}

// writerFunc is a writer that is a function.
type writerFunc func(b []byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// failsBehind is a writer that calls fail instead of a call behind n bytes.
func failsBehind(n int, fail func() error) writerFunc {
	return func(b []byte) (int, error) {
		if n -= len(b); n < 0 {
			return 0, fail()
		}
		return len(b), nil
	}
}

// When a writer fails, in any way, the call has come to its end, and nobody looks at the
// tables any more: what changes them at once races with nothing.
func TestAWriterThatFailsEndsTheSnapshot(t *testing.T) {
	s, packed := largeStore(t)
	broken := errors.New("the writer is broken")
	for _, behind := range []int{0, 100, 3 << 20, 10 << 20} {
		for how, fail := range map[string]func() error{
			"error": func() error { return broken },
			"panic": func() error { panic(broken) },
			"exit":  func() error { runtime.Goexit(); return nil },
		} {
			var err error
			ended := make(chan any, 1)
			go func() {
				defer func() { ended <- recover() }()
				err = s.Snapshot(context.Background(), failsBehind(behind, fail))
			}()
			if value := <-ended; how == "error" && !errors.Is(err, broken) || how == "panic" && value != any(broken) {
				t.Errorf("%s behind %d bytes: %v, %v", how, behind, err, value)
			}
			err = s.Write(context.Background(), func(context.Context, *store.Writer) error {
				for _, v := range packed.All() {
					v[5]++
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// The writer is called by the goroutine that asked, and by no other.
func TestTheCallerWrites(t *testing.T) {
	s, _ := largeStore(t)
	me, calls := check.Goroutine(), 0
	err := s.Snapshot(context.Background(), writerFunc(func(b []byte) (int, error) {
		if calls++; check.Goroutine() != me {
			t.Fatal("another goroutine writes")
		}
		return len(b), nil
	}))
	if err != nil || calls == 0 {
		t.Errorf("%d calls, %v", calls, err)
	}
}

// A snapshot takes memory for what is under way, and no more however much there is; one of
// many small tables is written in few calls.
func TestASnapshotTakesLittleMemoryAndFewCalls(t *testing.T) {
	large, _ := largeStore(t)
	small := newStore(t, store.Options{Workers: 1})
	for i := range 300 {
		register(t, small, store.TableOptions[item]{Name: fmt.Sprint(i)})
	}
	for name, of := range map[string]struct {
		*store.Store
		most  uint64
		calls int // one for each page of a stable table, 32 KiB, at most
	}{"large": {large, 8 << 20, 500}, "small": {small, 1 << 20, 10}} {
		var c store.Checkpoint
		checkpoint(t, of.Store, &c)
		calls := 0
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		n, err := c.WriteTo(writerFunc(func(b []byte) (int, error) { calls++; return len(b), nil }))
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		if grew := after.TotalAlloc - before.TotalAlloc; grew > of.most || calls > of.calls {
			t.Errorf("%s: %d bytes were allocated and %d calls made for %d", name, grew, calls, n)
		}
	}
}
