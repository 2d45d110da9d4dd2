package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"handloom/internal/check"
	"handloom/store"
)

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
