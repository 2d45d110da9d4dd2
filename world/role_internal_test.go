package world

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"handloom/internal/entrance"
	"handloom/internal/entry"
	"handloom/store"
)

// A call notes the answers to a pending call.
type call struct{ answers []error }

func (c *call) Len() int { return 1 }

func (c *call) Done(_ uint64, err error) {
	c.answers = append(c.answers, err)
}

// roleTable returns the rows of the table in the package comment, the first with the roles.
func roleTable(t *testing.T) (rows [][]string) {
	t.Helper()
	text, err := os.ReadFile("doc.go")
	noError(t, err)
	_, table, _ := strings.Cut(string(text), "Events change it:\n//\n")
	for line := range strings.Lines(table) {
		row := regexp.MustCompile(`\s{2,}`).Split(strings.TrimSpace(line[2:]), -1)
		if len(row) == 1 {
			break
		}
		rows = append(rows, row)
	}
	return rows
}

func roleOf(k roleKind, p *pending) role {
	return map[roleKind]role{
		waiting: new(waiter), following: new(follower), starting: &candidate{p}, leading: &leader{pending: p}, offering: new(offer),
		halted: &ended{halted, errDamaged}, closed: &ended{closed, store.ErrClosed},
	}[k]
}

// Each event in each role has the outcome that the package comment names.
func TestRole_Table(t *testing.T) {
	rows := roleTable(t)
	roles, rows := append(rows[0][1:], string(closed)), rows[1:]
	if len(rows) != len(transitions) || len(roles) != 7 {
		t.Fatalf("%d rows and %d roles, want %d and 7", len(rows), len(roles), len(transitions))
	}
	for _, row := range rows {
		usual := row[1+slices.IndexFunc(row[1:], func(to string) bool { return to != "-" })]
		for i, from := range roles {
			next, to, at := usual, string(closed), uint64(0)
			switch {
			case from == to:
			case row[1+i] == "-":
				to = string(halted)
			default:
				next, to, at = row[1+i], row[1+i], 7
			}
			w, err := newWorld(t.Context(), store.New(store.Options{}), Memory(), Options{Tick: func(context.Context, *store.Writer, Tick) error { return nil }})
			noError(t, err)
			c, waits := &sealing{Claim: w.exclusive}, new(call)
			w.exclusive, w.role = c, roleOf(roleKind(from), &pending{calls: waits})
			waited := w.change(event{eventKind(row[0]), roleOf(roleKind(next), new(pending)), &position{at: 7}, errDamaged})
			got := fmt.Sprintln(w.role.kind(), w.at().at, waited, waits.answers, c.seals, !w.lastRecord.IsZero(), w.stopped() != nil, w.ticks.Err() != nil)
			pends, ends, open := from == string(starting) || from == string(leading), to == string(halted) || to == string(closed), from != string(closed)
			want := fmt.Sprintln(to, at, pends, slices.Repeat([]error{errDamaged}, map[bool]int{true: 1}[pends]), map[bool]int{true: 1}[open && to != string(leading)], open, ends, ends && open)
			if got != want {
				t.Errorf("%s while %s: got %swant %s", row[0], from, got, want)
			}
			w.release()
		}
	}
}

func TestErrVersion_NeedsSameProgram(t *testing.T) {
	s := store.New(store.Options{})
	claim, err := s.Entrance(entrance.Key{}).OpenClaim(t.Context())
	noError(t, err)
	defer claim.Release()
	local := entry.TermStart{Version: "game", Arch: "amd64", Go: "go1.26.1", Hz: 60, Schema: entry.Chain{1}}
	for name, c := range map[string]struct {
		change   func(e *entry.TermStart)
		refused  bool
		portable bool // refused also with Options.Portable
	}{
		"the same":        {func(*entry.TermStart) {}, false, false},
		"another rate":    {func(e *entry.TermStart) { e.Hz = 30 }, false, false},
		"another program": {func(e *entry.TermStart) { e.Version = "game 2" }, true, true},
		"other tables":    {func(e *entry.TermStart) { e.Schema = entry.Chain{2} }, true, true},
		"another machine": {func(e *entry.TermStart) { e.Arch = "arm64" }, true, false},
		"another Go":      {func(e *entry.TermStart) { e.Go = "go1.26.2" }, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			other := local
			c.change(&other)
			for portable, want := range map[bool]bool{false: c.refused, true: c.portable} {
				w := World{exclusive: claim, termStart: local, o: Options{Portable: portable}}
				if err := w.mayApply(&other); errors.Is(err, ErrVersion) != want || (err != nil) != want {
					t.Errorf("portable %t: %v, want refused %t", portable, err, want)
				}
			}
		})
	}
}

// A sealing claim counts calls of Seal.
type sealing struct {
	entrance.Claim[store.Queue, *store.Receipt, *store.Writer]
	seals int
}

func (c *sealing) Seal(b []byte, maxBytes int) ([]byte, entrance.Calls) {
	c.seals++
	return c.Claim.Seal(b, maxBytes)
}

func TestRun_HeartbeatSealsNoTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := store.New(store.Options{Workers: 1})
		items := store.Register(s, store.TableOptions[int]{Name: "item"})
		w, err := Open(t.Context(), s, Memory(), Options{Tick: func(context.Context, *store.Writer, Tick) error { return nil }})
		noError(t, err)
		c := &sealing{Claim: w.exclusive}
		w.exclusive = c
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		done := make(chan error)
		go func() { done <- w.Run(ctx) }()
		time.Sleep(30 * time.Second)
		_, err = w.Submit(ctx, func(q store.Queue) error {
			items.Emplace(q, 1)
			return nil
		})
		noError(t, err)
		<-done
		if n := w.Status().Position; n < 500 || c.seals > 3 {
			t.Errorf("%d seals for %d records, want 3", c.seals, n)
		}
		noError(t, w.Close(t.Context()))
	})
}
