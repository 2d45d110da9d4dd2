package store_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"hash"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"handloom/store"
)

var update = flag.Bool("update", false, "write the golden files anew")

// A fixed program that uses every operation comes to the digests that it always
// came to, on any number of workers. They change with what a program can observe,
// and with nothing else: rows, slots, freelists, generations, reports, lists of
// changes. Whoever writes them anew says in CHANGELOG.md what has changed for users.
func TestTheDigestsOfAFixedProgramAreThoseOfOld(t *testing.T) {
	for _, widths := range []struct {
		name           string
		lastGeneration uint16
		slotLimit      uint32
	}{{"full", 0, 0}, {"narrow", 6, 48}} {
		t.Run("widths="+widths.name, func(t *testing.T) {
			if widths.slotLimit > 0 {
				setWidths(t, widths.lastGeneration, widths.slotLimit)
			}
			file := filepath.Join("testdata", "golden", widths.name+".txt")
			for _, workers := range []int{1, 2, 8} {
				got := characterise(t, workers)
				if *update && workers == 1 {
					if err := os.WriteFile(file, []byte(strings.Join(got, "\n")+"\n"), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				sameLines(t, workers, got, strings.Fields(string(want)))
			}
		})
	}
}

// sameLines reports the first digest that differs; those behind it follow from it.
func sameLines(t *testing.T, workers int, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Errorf("with %d workers line %d of %d is not that of %d: got %v, want %v",
				workers, i, len(got), len(want), got[min(i, len(got)):min(i+1, len(got))], want[min(i, len(want)):min(i+1, len(want))])
			return
		}
	}
}

// ledger keeps the digests of a run: of the state, and of what was said meanwhile.
type ledger struct {
	*store.Store
	t     tb
	said  hash.Hash64
	lines []string
}

func newLedger(t tb, s *store.Store) *ledger {
	return &ledger{Store: s, t: t, said: fnv.New64a()}
}

// say adds to what is said. Values with pointers print what these lead to.
func (l *ledger) say(values ...any) { fmt.Fprintln(l.said, values...) }

// mark ends a part of the program.
func (l *ledger) mark(name string) {
	l.t.Helper()
	if err := l.Verify(context.Background()); err != nil {
		l.t.Fatalf("%s: %v", name, err)
	}
	l.lines = append(l.lines, fmt.Sprintf("%s,state=%016x,said=%016x", name, digest(l.t, l.Store), l.said.Sum64()))
	l.said.Reset()
}

// apply flushes and says how it went; a batch that does not fit is discarded.
func (l *ledger) apply(ctx context.Context) {
	l.say("pending", l.Pending().Commands)
	r, err := l.Flush(ctx)
	if err != nil {
		l.say(err, errors.Is(err, store.ErrFull), errors.Is(err, store.ErrQueueFull), l.Discard())
		return
	}
	l.report(r)
}

func (l *ledger) report(r *store.Report) {
	l.say(r.Epoch, r.Total, r.Tables)
	for _, s := range r.Stale {
		if s.Handle.IsProvisional() {
			s.Handle = 0 // its bits are no part of what a program may observe
		}
		l.say(s)
	}
}

// dice draws numbers by SplitMix64 (Steele, Lea and Flood), which stays what it is.
type dice uint64

func (d *dice) next() uint64 {
	*d += 0x9e3779b97f4a7c15
	x := uint64(*d)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func (d *dice) n(n int) int { return int(d.next() % uint64(n)) }

// pick returns one of the ids, or none.
func (d *dice) pick(ids []store.ID) store.ID {
	if len(ids) == 0 || d.n(8) == 0 {
		return 0
	}
	return ids[d.n(len(ids))]
}

// The items of the program: plain, with strings, slices and handles behind
// pointers, with handles in fields, large, small and of no size at all.
type (
	mote struct {
		X, Y int32
		Heat uint64
	}
	scroll struct {
		Title  string
		Words  []string
		Parent store.Handle[scroll]
		Kids   []store.Handle[scroll]
		Seal   *store.ID
	}
	knot struct {
		Value uint64
		To    store.ID
		Pair  [2]store.Handle[knot]
	}
	slab struct {
		Key  uint64
		Body [40]uint64
	}
	pulse uint16
	blank struct{}
)

func (v scroll) String() string {
	var seal store.ID
	if v.Seal != nil {
		seal = *v.Seal
	}
	return fmt.Sprint(v.Title, v.Words, v.Parent, v.Kids, seal)
}

func (v *scroll) links(visit func(*store.ID)) {
	for i := range v.Kids {
		visit(&v.Kids[i].ID)
	}
	if v.Seal != nil {
		visit(v.Seal)
	}
}

func copyScroll(dst, src *scroll) {
	words, kids := append(dst.Words[:0], src.Words...), append(dst.Kids[:0], src.Kids...)
	*dst = *src
	dst.Words, dst.Kids = words, kids
	if src.Seal != nil {
		seal := *src.Seal
		dst.Seal = &seal
	}
}

func newMote(d *dice, _ store.ID) mote { return mote{int32(d.n(50)), int32(d.n(9)), d.next()} }

func newScroll(d *dice, near store.ID) scroll {
	v := scroll{Title: fmt.Sprint("scroll ", d.n(1000)), Words: []string{fmt.Sprint(d.n(10))}, Parent: store.Handle[scroll]{ID: near}}
	for range d.n(3) {
		v.Kids = append(v.Kids, store.Handle[scroll]{ID: near})
	}
	if d.n(2) == 0 {
		v.Seal = &near
	}
	return v
}

func newKnot(d *dice, near store.ID) knot {
	return knot{Value: d.next(), To: near, Pair: [2]store.Handle[knot]{{ID: near}, {}}}
}

func newSlab(d *dice, _ store.ID) (v slab) {
	v.Key = d.next() % 100
	for i := range v.Body {
		v.Body[i] = v.Key * uint64(i)
	}
	return v
}

// characterise runs the program and returns its digests.
func characterise(t tb, workers int) []string {
	t.Helper()
	flushes := 0
	s := newStore(t, store.Options{Workers: workers, QueueLimit: 400, AfterFlush: func(*store.Report) { flushes++ }})
	p := newPlay(t, s)
	for round := range 16 {
		p.round(round)
	}
	p.say("flushes", flushes, s.Epoch())
	p.mark("end")
	return slices.Clone(p.lines)
}
