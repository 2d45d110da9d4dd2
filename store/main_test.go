package store_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"handloom/batch"
	"handloom/internal/check"
	"handloom/internal/seam"
	"handloom/proof/maptest"
	"handloom/store"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	checks := "250"
	if check.Cheap {
		checks = "80"
	}
	// Flags of the command line override both; -rapid.seed=0 draws a seed.
	_, _ = flag.Set("rapid.checks", checks), flag.Set("rapid.seed", "1")
	goleak.VerifyTestMain(m)
}

type tb interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
	Cleanup(f func())
}

type item struct {
	Value  uint64
	Parent store.Handle[item]
	Links  [2]store.ID
}

// newStore returns a store that the test verifies and closes at its end.
func newStore(t tb, o store.Options) *store.Store {
	t.Helper()
	s := store.New(o)
	stop := alarm()
	t.Cleanup(func() {
		defer stop()
		ctx := context.Background()
		if err := s.Verify(ctx); err != nil && !errors.Is(err, store.ErrClosed) && !errors.Is(err, store.ErrBroken) {
			t.Errorf("at the end: %v", err)
		}
		if _, err := s.Close(ctx); err != nil && !errors.Is(err, store.ErrClosed) {
			t.Errorf("at the end: %v", err)
		}
	})
	return s
}

const patience = 4 * time.Minute

// alarm ends the tests with all stacks: a gate that is never released blocks every goroutine
// that could fail the test.
func alarm() (stop func() bool) {
	var stack [64]byte
	if bytes.Contains(stack[:runtime.Stack(stack[:], false)], []byte("synctest bubble")) {
		return func() bool { return true } // synctest detects deadlocks itself
	}
	return time.AfterFunc(patience, func() {
		debug.SetTraceback("all")
		panic(fmt.Sprintf("a test has a store for more than %v", patience))
	}).Stop
}

func noError(t tb, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantError fails the test unless err is want and has the texts. Any goroutine may call it.
func wantError(t tb, what string, err, want error, texts ...string) {
	t.Helper()
	lacks := func(text string) bool { return !strings.Contains(err.Error(), text) }
	if !errors.Is(err, want) || slices.ContainsFunc(texts, lacks) {
		t.Errorf("%s: %v, want %v with %q", what, err, want, texts)
	}
}

func wantIn(t tb, what, got, want string) {
	t.Helper()
	if !strings.Contains(got, want) {
		t.Errorf("%s: %q, want %q in it", what, got, want)
	}
}

func wantText(t tb, what string, err error, text string) {
	t.Helper()
	wantIn(t, what, fmt.Sprint(err), text)
}

func equal[T comparable](t tb, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func atMost[T cmp.Ordered](t tb, what string, got, most T) {
	t.Helper()
	if got > most {
		t.Errorf("%s: %v, want at most %v", what, got, most)
	}
}

func atLeast[T cmp.Ordered](t tb, what string, got, least T) {
	t.Helper()
	if got < least {
		t.Errorf("%s: %v, want at least %v", what, got, least)
	}
}

func equalLists[E comparable](t tb, what string, got []E, want ...E) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// plainBuild skips a test of allocations in another build.
func plainBuild(t *testing.T) {
	t.Helper()
	if check.Cheap || testing.CoverMode() != "" {
		t.Skip("checks, the race detector and coverage allocate, or empty pools")
	}
}

// wantFlush flushes and compares the counts of all tables together.
func wantFlush(t tb, s *store.Store, want batch.Counts) {
	t.Helper()
	equal(t, "the flush", flush(t, s).Total, want)
}

func onlyError[V any](_ V, err error) error { return err }

func found[V any](_ V, ok bool) bool { return ok }

func register[T any](t tb, s *store.Store, o store.TableOptions[T]) *store.Table[T] {
	t.Helper()
	return store.Register(s, o)
}

func newTable(t tb, o store.Options, to store.TableOptions[item]) (*store.Store, *store.Table[item]) {
	t.Helper()
	s := newStore(t, o)
	return s, register(t, s, to)
}

func flush(t tb, s *store.Store) *store.Report {
	t.Helper()
	report, err := s.Flush(context.Background())
	noError(t, err)
	return report.Clone()
}

func digest(t tb, s *store.Store) uint64 {
	t.Helper()
	d, err := s.Digest(context.Background())
	noError(t, err)
	return d
}

// queues begins a pass of n queues that the flush ends.
func queues(t tb, s *store.Store, n int) []store.Queue {
	t.Helper()
	qs, err := s.Queues(n)
	noError(t, err)
	return qs
}

func taskOf(f func(q store.Queue)) func(int, store.Queue) {
	return func(_ int, q store.Queue) { f(q) }
}

func callOf(f func(q store.Queue)) func(store.Queue) error {
	return func(q store.Queue) error {
		f(q)
		return nil
	}
}

func fill(t tb, s *store.Store, table emplacer, n int) []store.Handle[item] {
	t.Helper()
	values := make([]item, n)
	for i := range values {
		values[i].Value = uint64(i)
	}
	names := table.EmplaceItems(queues(t, s, 1)[0], values, nil)
	flush(t, s)
	resolveAll(t, table, names)
	return names
}

type emplacer interface {
	resolver[item]
	EmplaceItems(q store.Queue, values []item, dst []store.Handle[item]) []store.Handle[item]
}

func resolve[T any](t tb, table resolver[T], p store.Handle[T]) store.Handle[T] {
	t.Helper()
	h, ok := table.Resolve(p)
	if !ok {
		t.Fatalf("%v does not resolve", p)
	}
	return h
}

func resolveAll[T any](t tb, table resolver[T], names []store.Handle[T]) {
	t.Helper()
	for i, p := range names {
		names[i] = resolve(t, table, p)
	}
}

type resolver[T any] interface {
	Resolve(p store.Handle[T]) (store.Handle[T], bool)
}

// setWidths makes handle fields narrow until the test ends.
func setWidths(t tb, lastGeneration uint16, slotLimit uint32) {
	t.Helper()
	t.Cleanup(seam.Narrow(lastGeneration, slotLimit))
}

func perturb(t tb, step func(tasks int) func(task int) int) {
	t.Helper()
	seam.Step = step
	t.Cleanup(func() { seam.Step = nil })
}

// faultOf returns the error that f panics with, or nil. It repeats other panics.
func faultOf(f func()) error {
	value := maptest.PanicOf(f)
	err, ok := value.(error)
	if value != nil && !ok {
		panic(value)
	}
	return err
}

// panicOf returns the panic of f as text, or "".
func panicOf(f func()) string {
	if value := maptest.PanicOf(f); value != nil {
		return fmt.Sprint(value)
	}
	return ""
}

// atOnce fails the test if it waits in virtual time.
func atOnce(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		alarm := time.AfterFunc(time.Second, func() { panic("a call blocks") })
		defer alarm.Stop()
		test(t)
		if waited := time.Since(begin); waited > 0 {
			t.Errorf("waited %v", waited)
		}
	})
}

var errTask = errors.New("the task fails")

func compose(typeID, generation uint16, slot uint32) store.ID {
	return store.ID(typeID)<<48 | store.ID(generation)<<32 | store.ID(slot)
}

func handleOf(id store.ID) store.Handle[item] { return store.Handle[item]{ID: id} }

// ended reports its end by Err but not by Done.
type ended struct{ context.Context }

func (ended) Done() <-chan struct{} { return nil }
func (ended) Err() error            { return context.Canceled }
func (e ended) Value(key any) any   { return e.Context.Value(key) }
