package store_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
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

// shelf has long shards and short ones, in an order in which blocks of several shards are
// read before the first is decoded.
func shelf(t tb, workers int) (*store.Store, *store.Table[[64]uint64], *store.StableTable[string]) {
	s := newStore(t, store.Options{Workers: workers})
	register(t, s, store.TableOptions[item]{Name: "first"})
	wide := register(t, s, store.TableOptions[[64]uint64]{Name: "wide", Shards: 3})
	addColumn(t, wide, store.ColumnOptions[uint64]{Name: "column"})
	texts := registerStable(t, s, store.TableOptions[string]{Name: "texts", Shards: 2})
	register(t, s, store.TableOptions[item]{Name: "last", Shards: 4})
	return s, wide, texts
}

func fullShelf(t tb) (s *store.Store, image []byte) {
	s, wide, texts := shelf(t, 1)
	q := queues(t, s, 1)[0]
	for i := range uint64(12_000) {
		wide.Emplace(q, [64]uint64{i, i * i})
		if i%8 == 0 {
			texts.Emplace(q, strings.Repeat("text", int(i%1000)))
		}
	}
	flush(t, s)
	q = queues(t, s, 1)[0]
	for h := range wide.All() {
		if h.ID.Slot()%3 == 0 {
			wide.Erase(q, h)
		}
	}
	flush(t, s)
	var b bytes.Buffer
	noError(t, s.Snapshot(context.Background(), &b))
	atLeast(t, "bytes of the snapshot", b.Len(), 4*blockBytes)
	return s, b.Bytes()
}

// Blocks that are read while others are decoded lead to the same state, the same error and
// the same end of the input.
func TestLoad_EqualsOneWorker(t *testing.T) {
	saved, whole := fullShelf(t)
	one, _, _ := shelf(t, 1)
	two, _, _ := shelf(t, 2)
	load := func(s *store.Store, b []byte) string {
		r := bytes.NewReader(append(b[:len(b):len(b)], "rest"...))
		err := s.Load(t.Context(), r)
		if err == nil {
			equal(t, "bytes after the snapshot", r.Len(), len("rest"))
		}
		return fmt.Sprint(err)
	}
	compare := func(what string, b []byte, fails bool) {
		t.Helper()
		want := load(one, b)
		equal(t, "error for "+what, load(two, b), want)
		equal(t, "digest after "+what, digest(t, two), digest(t, one))
		if fails && want == "<nil>" {
			t.Errorf("%s: loaded", what)
		}
	}
	compare("the whole snapshot", whole, false)
	equal(t, "digest", digest(t, two), digest(t, saved))
	step := len(whole)/10 + 7
	if check.Cheap {
		step *= 4
	}
	for at := 1; at < len(whole); at += step {
		damaged := bytes.Clone(whole)
		damaged[at] ^= 1
		compare(fmt.Sprintf("%d bytes", at), whole[:at], true)
		compare(fmt.Sprintf("a bit at byte %d", at), damaged, true)
		compare(fmt.Sprintf("a signed bit at byte %d", at), signed(damaged), false)
	}
	compare("the whole snapshot again", whole, false)
}

// endless has a snapshot and then zeros, and counts the bytes read.
type endless struct {
	io.Reader
	n int
}

func (r *endless) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	if err == io.EOF {
		clear(b)
		n, err = len(b), nil
	}
	r.n += n
	return n, err
}

func TestLoad_ReadsLittleAfterAFault(t *testing.T) {
	_, whole := fullShelf(t)
	s, _, _ := shelf(t, 2)
	start := headOf(whole)
	shards := shardsOf(whole)
	long := shards[1].payload
	copy(long[8:], "\xff\xff\xff\xff\xff\xff\xff\x7f") // a number of slots
	damaged := reblocked(whole[:start], shards, blockBytes)
	r := &endless{Reader: bytes.NewReader(damaged)}
	wantError(t, "Load", s.Load(t.Context(), r), store.ErrSnapshot)
	atMost(t, "bytes read", r.n, start+6*blockBytes)
}

// failing calls fail at a byte.
type failing struct {
	io.Reader
	left int
	fail func()
}

func (r *failing) Read(b []byte) (int, error) {
	if len(b) > r.left {
		r.fail()
	}
	r.left -= len(b)
	return r.Reader.Read(b)
}

// A reader runs on the goroutine of the caller, which it may end.
func TestLoad_EndsWithItsReader(t *testing.T) {
	saved, whole := fullShelf(t)
	s, _, _ := shelf(t, 2)
	for at := 2 * blockBytes; at < len(whole); at += 3 * blockBytes {
		for name, fail := range map[string]func(){"panic": func() { panic(errTask) }, "exit": runtime.Goexit} {
			returned, value := make(chan bool, 1), any(nil)
			go func() {
				done := false
				defer func() {
					value = recover()
					returned <- done
				}()
				_ = s.Load(context.Background(), &failing{bytes.NewReader(whole), at, fail})
				done = true
			}()
			if <-returned {
				t.Errorf("Load returned after a %s of its reader", name)
			}
			if err, _ := value.(error); name == "panic" && !errors.Is(err, errTask) {
				t.Errorf("panic with %v, want %v", value, errTask)
			}
		}
	}
	noError(t, s.Load(t.Context(), bytes.NewReader(whole)))
	equal(t, "digest", digest(t, s), digest(t, saved))
}
