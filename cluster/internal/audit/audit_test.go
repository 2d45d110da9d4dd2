package audit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"handloom/cluster/internal/audit"
	"handloom/store"
	"handloom/world"
)

type call struct{ Key, Tick uint64 }

// keeping is a program whose state depends on all ticks.
func keeping(workers int, applied func(audit.TickResult)) (*store.Store, world.Options) {
	s, o, _ := open(workers, applied)
	return s, o
}

func open(workers int, applied func(audit.TickResult)) (*store.Store, world.Options, *store.Table[call]) {
	s := store.New(store.Options{Workers: workers})
	calls := store.Register(s, store.TableOptions[call]{Name: "call", Shards: 2})
	return s, world.Options{
		SnapshotTicks: 1000, DigestTicks: 1000, // leave differences to the auditor
		Tick: func(ctx context.Context, _ *store.Writer, t world.Tick) error {
			if _, err := s.Flush(ctx); err != nil {
				return err
			}
			return calls.ForEach(ctx, func(c store.Chunk[call]) {
				for i := range c.Items {
					if c.Items[i].Tick == 0 {
						c.Items[i].Tick = t.Number
					}
				}
			})
		},
		Applied: func(ctx context.Context, o world.Outcome) {
			p := audit.TickResult{Outcome: o}
			p.Digest, _ = s.Digest(ctx)
			for _, c := range calls.All() {
				if c.Tick == o.Number {
					p.Keys = append(p.Keys, c.Key)
				}
			}
			applied(p)
		},
	}, calls
}

// A history is a log, and an auditor with all reports.
type history struct {
	log          world.Log
	auditor      *audit.Auditor
	faults       []string
	call         func(key uint64)
	playSilently func(key uint64) // like call, without reports
}

// inBubble runs a test with synctest, to see when a call waits.
func inBubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

const keys = 6 // one per tick, from 1

// newHistory runs a tick for each key with reports.
func newHistory(t *testing.T) *history {
	t.Helper()
	h := &history{log: world.Memory()}
	h.auditor = audit.New(func(format string, args ...any) { h.faults = append(h.faults, fmt.Sprintf(format, args...)) })
	s, o, calls := open(1, func(p audit.TickResult) { h.auditor.Applied("node", p.Number, p.Digest) })
	w, err := world.Open(t.Context(), s, h.log, o)
	noError(t, err)
	h.call = func(key uint64) { h.make(t, w, calls, key, true) }
	h.playSilently = func(key uint64) { h.make(t, w, calls, key, false) }
	for key := range uint64(keys) {
		h.call(key + 1)
	}
	return h
}

// make makes a call in the next tick, as a client.
func (h *history) make(t *testing.T, w *world.World, calls *store.Table[call], key uint64, reported bool) {
	t.Helper()
	if reported {
		h.auditor.Asked(key)
	}
	go func() {
		receipt, err := w.Submit(t.Context(), func(q store.Queue) error {
			calls.Emplace(q, call{Key: key})
			return nil
		})
		if err != nil {
			t.Error(err)
			return
		}
		if reported {
			h.auditor.Acked(key, receipt.Tick())
		}
	}()
	synctest.Wait() // until it waits
	if _, err := w.Step(t.Context()); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

func (h *history) finish(t *testing.T) audit.Findings {
	t.Helper()
	noError(t, h.auditor.Finish(t.Context(), h.log, keeping, 3))
	return h.auditor.Findings()
}

func TestAuditor_AcceptsHealthyHistory(t *testing.T) {
	inBubble(t, "", func(t *testing.T) {
		h := newHistory(t)
		h.auditor.Asked(100)
		f := h.finish(t)
		if len(h.faults) > 0 || f.Ticks < keys || f.Records != f.Ticks+1 || f.Reported != f.Ticks || f.Acked != keys || f.Uncertain != 1 {
			t.Errorf("%+v", f)
		}
	})
}

// A forged log was changed without the worlds' knowledge.
type forged struct {
	world.Log
	forge func(at uint64, rec []byte) []byte // nil: the record is missing
	cut   uint64
}

func (f *forged) Tail(ctx context.Context) (uint64, error) {
	at, err := f.Log.Tail(ctx)
	return at - f.cut, err
}

func (f *forged) Read(ctx context.Context, after uint64, each func(at uint64, rec []byte) error) error {
	return f.Log.Read(ctx, after, func(at uint64, rec []byte) error {
		if f.forge != nil {
			if rec = f.forge(at, bytes.Clone(rec)); rec == nil {
				return nil
			}
		}
		return each(at, rec)
	})
}

// see shows the whole log to the auditor.
func (h *history) see(t *testing.T) {
	t.Helper()
	noError(t, h.auditor.Check(t.Context(), h.log, keeping, 1))
}

const chainAt = 2 + 1 + 1 + 8 + 8 + 4 + 8 + 8 // in a record

func TestAuditor_FindsForgedLogs(t *testing.T) {
	flip := func(at uint64, index func(rec []byte) int) func(uint64, []byte) []byte {
		return func(there uint64, rec []byte) []byte {
			if there == at {
				rec[index(rec)] ^= 1
			}
			return rec
		}
	}
	lastByte := func(rec []byte) int { return len(rec) - 1 }
	for name, f := range map[string]struct {
		forged forged
		seen   bool // the auditor saw the log before the change
		want   string
	}{
		"the chain of a record": {forged{forge: flip(4, func([]byte) int { return chainAt })}, false, "record 4: the log is corrupt: chain does not match"},
		"the input of a record": {forged{forge: flip(4, lastByte)}, false, "record 4: the log is corrupt: store: Unseal"},
		"a term":                {forged{forge: flip(3, func([]byte) int { return 2 + 1 + 1 + 8 + 8 })}, false, "record 3: the log is corrupt: tick term=0"},
		"a tick":                {forged{forge: flip(3, func([]byte) int { return 2 + 1 + 1 + 8 + 8 + 4 })}, false, "record 3: the log is corrupt: tick term=1 tick=3"},
		"a record that is gone": {forged{forge: func(at uint64, rec []byte) []byte { return map[bool][]byte{false: rec}[at == 4] }}, false, "record 4: the log is corrupt: chain does not match"},
		"a time that goes back": {forged{forge: func(at uint64, rec []byte) []byte {
			if at == keys+1 { // the last record, without a chain after it
				clear(rec[chainAt-8 : chainAt])
			}
			return rec
		}}, false, "time: got"},
		"a log that is cut":       {forged{cut: 2}, true, "log ends at record"},
		"a record that is no one": {forged{forge: func(at uint64, rec []byte) []byte { return rec[:len(rec)-len(rec)*int(at/4%2)] }}, false, "record 4: "},
	} {
		inBubble(t, name, func(t *testing.T) {
			h := newHistory(t)
			if f.seen {
				h.see(t)
			}
			f.forged.Log = h.log
			h.log = &f.forged
			found := h.finish(t)
			if !strings.Contains(strings.Join(h.faults, "\n"), f.want) {
				t.Errorf("%+v: %q", found, h.faults)
			}
		})
	}
}

// The log is not at fault if it is trimmed before the auditor reads it.
func TestCheck_FailsOnUnreadTrim(t *testing.T) {
	inBubble(t, "", func(t *testing.T) {
		h := newHistory(t)
		h.log = trimmed{h.log}
		if err := h.auditor.Check(t.Context(), h.log, keeping, 1); err == nil || h.auditor.Findings().Records > 0 {
			t.Errorf("Check: %v: %+v", err, h.auditor.Findings())
		}
	})
}

type trimmed struct{ world.Log }

func (trimmed) Snapshots(context.Context) ([]uint64, error) { return []uint64{4, 3}, nil }

// Follow reads a new record while the log is asked for its end.
func TestCheck_AllowsGrowingLog(t *testing.T) {
	inBubble(t, "", func(t *testing.T) {
		h := newHistory(t)
		h.see(t)
		l := h.log
		h.log = &growing{l, func() {
			h.call(keys + 1)
			ctx, stop := context.WithCancel(t.Context())
			go h.auditor.Follow(ctx, l)
			synctest.Wait()
			stop()
		}}
		h.see(t)
		if f := h.finish(t); len(h.faults) > 0 || f.Acked != keys+1 {
			t.Errorf("%+v", f)
		}
	})
}

// growing adds a record after the first Tail.
type growing struct {
	world.Log
	grow func()
}

func (g *growing) Tail(ctx context.Context) (uint64, error) {
	at, err := g.Log.Tail(ctx)
	if grow := g.grow; grow != nil {
		g.grow = nil
		grow()
	}
	return at, err
}

func TestFollow_Retries(t *testing.T) {
	inBubble(t, "", func(t *testing.T) {
		h := newHistory(t)
		ctx, stop := context.WithCancel(t.Context())
		failing := &failingLog{Log: h.log, stop: stop}
		h.auditor.Follow(ctx, failing)
		if f := h.finish(t); len(h.faults) > 0 || failing.reads < keys {
			t.Errorf("%d reads: %+v", failing.reads, f)
		}
	})
}

var errSeen = errors.New("seen")

type failingLog struct {
	world.Log
	reads int
	stop  func()
}

func (m *failingLog) Read(ctx context.Context, after uint64, each func(at uint64, rec []byte) error) error {
	if m.reads++; m.reads > keys {
		m.stop()
	}
	return m.Log.Read(ctx, after, func(at uint64, rec []byte) error {
		if err := each(at, rec); err != nil {
			return err
		}
		return errSeen
	})
}

func TestCaughtUp_ReturnsReadError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHistory(t)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go h.auditor.Follow(ctx, unreadable{h.log})
		synctest.Wait()
		if err := h.auditor.CaughtUp(ctx, h.log); !errors.Is(err, errSeen) {
			t.Errorf("got %v, want the error of Read", err)
		}
	})
}

type unreadable struct{ world.Log }

func (unreadable) Read(context.Context, uint64, func(at uint64, rec []byte) error) error {
	return errSeen
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
