package audit_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"handloom/cluster/internal/audit"
	"handloom/world"
)

// Each fault counts for one verdict, and has a text.
func TestVerdict_CountsItsFault(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func(h *history)
		want audit.Findings // only verdicts
		text string
	}{
		{"call applied twice", func(h *history) { h.call(2) }, audit.Findings{Doubled: 1}, "call 2 is in ticks ["},
		{"two calls applied twice", func(h *history) { h.call(2); h.call(3); h.call(3) }, audit.Findings{Doubled: 2}, "call 3 is in ticks ["},
		{"uncertain call applied twice", func(h *history) { h.call(2); h.auditor.Asked(2) }, audit.Findings{Doubled: 1}, "call 2 is in ticks ["},
		{"call of nobody", func(h *history) { h.playSilently(100) }, audit.Findings{Changed: 1}, "call 64 is in ticks ["},
		{"acknowledged call lost", func(h *history) { h.auditor.Asked(99); h.auditor.Acked(99, 2) }, audit.Findings{Lost: 1}, "call 63 was acknowledged"},
		{"acknowledged in another tick", func(h *history) { h.auditor.Acked(3, 2) }, audit.Findings{Changed: 1}, "call 3 was acknowledged in tick 2"},
		{"tick past the end", func(h *history) { h.auditor.Applied("zombie", 7, 1) }, audit.Findings{Lost: 1}, "tick 7 was applied by zombie"},
		{"two digests of a tick", func(h *history) { h.auditor.Applied("zombie", 6, 1) }, audit.Findings{Diverged: 1}, "tick 6 has digest"},
		{"record that changes later", func(h *history) {
			h.log = &forged{Log: h.log, forge: func(at uint64, rec []byte) []byte {
				if at == 7 { // the last record, without a chain after it
					rec[len(rec)-1] ^= 1
				}
				return rec
			}}
		}, audit.Findings{Broken: 1, Diverged: 1}, "record 7 has changed"},
	} {
		inBubble(t, test.name, func(t *testing.T) {
			h := newHistory(t)
			h.see(t)
			test.do(h)
			f := h.finish(t)
			got := audit.Findings{Lost: f.Lost, Changed: f.Changed, Doubled: f.Doubled, Diverged: f.Diverged, Broken: f.Broken}
			bad := test.text != ""
			if fmt.Sprint(got) != fmt.Sprint(test.want) || bad != (len(h.faults) > 0) || !strings.Contains(strings.Join(h.faults, "\n"), test.text) {
				t.Errorf("%+v, want %+v and %q", f, test.want, test.text)
			}
		})
	}
}

// The log returns a record twice, or an old record.
func TestFollow_ReportsDisorder(t *testing.T) {
	for _, test := range []struct {
		name  string
		order []uint64
		want  string
	}{
		{"twice", []uint64{1, 2, 2, 3}, "record 2 comes after record 2"},
		{"back", []uint64{1, 2, 3, 2}, "record 2 comes after record 3"},
	} {
		inBubble(t, test.name, func(t *testing.T) {
			h := newHistory(t)
			recs := make(map[uint64][]byte)
			if err := h.log.Read(t.Context(), 0, func(at uint64, rec []byte) error {
				recs[at] = bytes.Clone(rec)
				if at == keys {
					return errSeen
				}
				return nil
			}); err != errSeen {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			go h.auditor.Follow(ctx, &reordered{Log: h.log, recs: recs, order: test.order})
			synctest.Wait()
			stop()
			synctest.Wait()
			if f := h.auditor.Findings(); f.Broken != 1 || !strings.Contains(strings.Join(h.faults, "\n"), test.want) {
				t.Errorf("%+v, want %q", f, test.want)
			}
		})
	}
}

// reordered is a log with another order of records.
type reordered struct {
	world.Log
	recs  map[uint64][]byte
	order []uint64
}

func (r *reordered) Read(ctx context.Context, _ uint64, each func(at uint64, rec []byte) error) error {
	for _, at := range r.order {
		if err := each(at, r.recs[at]); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return context.Cause(ctx)
}
