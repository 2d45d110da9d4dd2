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

type block [8]uint64

// largeStore has tables whose shards take several blocks, in each encoding.
func largeStore(t tb) (*store.Store, *store.Table[block]) {
	t.Helper()
	s := newStore(t, store.Options{Workers: 1})
	type named struct {
		Name  string
		Value uint64
	}
	packed := register(t, s, store.TableOptions[block]{Name: "packed", Shards: 2})
	gaps := register(t, s, store.TableOptions[block]{Name: "gaps"})
	column := addColumn(t, gaps, store.ColumnOptions[block]{Name: "column"})
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

// All blocks of a shard except the last are full.
func TestSnapshot_OfLargeShards(t *testing.T) {
	s, packed := largeStore(t)
	b := image(t, s)
	t.Run("blocks", func(t *testing.T) {
		info, err := snapshot.Inspect(bytes.NewReader(b))
		noError(t, err)
		equal(t, "digest", info.Digest, digest(t, s))
		full, last := 0, blockBytes
		for at := headOf(b); at < len(b); {
			length := int(binary.LittleEndian.Uint32(b[at:]))
			switch kind := b[at+8]; {
			case kind != 0:
				last = blockBytes
			case last != blockBytes:
				t.Fatalf("a block of %d bytes is after one of %d", length, last)
			default:
				last = length
				full += length / blockBytes
			}
			at += 16 + length
		}
		atLeast(t, "full blocks", full, 10)
	})
	t.Run("slow writer", func(t *testing.T) {
		var c store.Checkpoint
		checkpoint(t, s, &c)
		slow := slowWriter{}
		if n, err := c.WriteTo(&slow); err != nil || n != int64(len(b)) || !bytes.Equal(slow.Bytes(), b) {
			t.Errorf("a slow writer gets other bytes: %d, %v", n, err)
		}
		atMost(t, "bytes of a call", slow.most, blockBytes+1<<17)
	})
	t.Run("memory", func(t *testing.T) { takesLittle(t, s, 8<<20, 500) }) // at most one call per page of 32 KiB
	t.Run("writer fails", func(t *testing.T) { failsToWrite(t, s, packed) })
}

func TestSnapshot_OfSmallTablesTakesFewWrites(t *testing.T) {
	s := newStore(t, store.Options{Workers: 1})
	for i := range 300 {
		register(t, s, store.TableOptions[item]{Name: fmt.Sprint(i)})
	}
	takesLittle(t, s, 1<<20, 10)
}

func takesLittle(t *testing.T, s *store.Store, most uint64, mostCalls int) {
	t.Helper()
	var c store.Checkpoint
	checkpoint(t, s, &c)
	me, calls := check.Goroutine(), 0
	grew := allocated(func() {
		_, err := c.WriteTo(writerFunc(func(b []byte) (int, error) {
			if calls++; check.Goroutine() != me {
				t.Error("another goroutine writes")
			}
			return len(b), nil
		}))
		wantError(t, "", err, nil)
	})
	if grew > most || calls > mostCalls || calls == 0 {
		t.Errorf("%d bytes were allocated and %d calls made", grew, calls)
	}
}

// failsToWrite makes the writer fail. Changes after the call do not race with it.
func failsToWrite(t *testing.T, s *store.Store, packed *store.Table[block]) {
	broken := errors.New("the writer is broken")
	for _, after := range []int{0, 100, 3 << 20, 10 << 20} {
		for how, fail := range map[string]func(){
			"error": func() {},
			"panic": func() { panic(broken) },
			"exit":  runtime.Goexit,
		} {
			left := after
			var err error
			ended := make(chan any, 1)
			go func() {
				defer func() { ended <- recover() }()
				err = s.Snapshot(context.Background(), writerFunc(func(b []byte) (int, error) {
					if left -= len(b); left >= 0 {
						return len(b), nil
					}
					fail()
					return 0, broken
				}))
			}()
			if value := <-ended; how == "error" && !errors.Is(err, broken) || how == "panic" && value != any(broken) {
				t.Errorf("%s after %d bytes: %v, %v", how, after, err, value)
			}
			write(t, s, func(*store.Writer) {
				for _, v := range packed.All() {
					v[5]++
				}
			})
		}
	}
}

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

type writerFunc func(b []byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }
