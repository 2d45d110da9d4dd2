package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"handloom/internal/entrance"
	"handloom/store"
)

type stem struct {
	Value    int
	Up       store.Handle[stem]
	Leaves   [2]store.Handle[leaf]
	Children []store.ID
	Name     string
	Counts   map[uint8]int32
}

type leaf struct {
	Of     store.Handle[stem]
	Weight float64
}

type mark struct{}

type claimed struct {
	*store.Store
	stems  *store.Table[stem]
	leaves *store.StableTable[leaf]
	marks  *store.Table[mark]
	bonds  *store.Column[stem, bond]
	tags   *store.Column[stem, struct{}]
	badges *store.Sparse[stem, bond]
	dry    *store.Sparse[leaf, struct{}]
	claim  storeClaim
}

func newClaimed(t tb, workers int) *claimed {
	t.Helper()
	c := newUnclaimed(t, store.Options{Workers: workers})
	c.hold(t)
	return c
}

func newUnclaimed(t tb, o store.Options) *claimed {
	t.Helper()
	c := &claimed{Store: newStore(t, o)}
	c.stems = register(t, c.Store, store.TableOptions[stem]{
		Name: "stem", Shards: 3, Changes: true,
		Links: func(v *stem, visit func(*store.ID)) {
			for i := range v.Children {
				visit(&v.Children[i])
			}
			visit(&v.Up.ID) // the flush finds this handle itself
		},
		Clone: func(dst, src *stem) {
			*dst = *src
			dst.Children = slices.Clone(src.Children)
		},
	})
	c.leaves = registerStable(t, c.Store, store.TableOptions[leaf]{Name: "leaf", Shards: 2})
	c.marks = register(t, c.Store, store.TableOptions[mark]{Name: "mark"})
	_ = store.AddValue(c.Store, store.ColumnOptions[int]{Name: "rule"}) // takes no commands
	clone := func(dst, src *bond) { *dst = bond{src.To, slices.Clone(src.Near)} }
	c.bonds = addColumn(t, c.stems, store.ColumnOptions[bond]{Name: "bonds", Links: (*bond).links, Clone: clone})
	c.badges = addSparse(t, c.stems, store.ColumnOptions[bond]{Name: "badges", Links: (*bond).links, Clone: clone})
	c.tags = addColumn(t, c.stems, store.ColumnOptions[struct{}]{Name: "tags"})
	c.dry = addSparse(t, c.leaves, store.ColumnOptions[struct{}]{Name: "dry"})
	return c
}

func (c *claimed) hold(t tb) {
	t.Helper()
	c.claim = claim(t, c.Store)
}

func (c *claimed) tick(t tb, input []byte, calls entrance.Calls) {
	t.Helper()
	noError(t, c.play(input, calls))
}

func (c *claimed) play(input []byte, calls entrance.Calls) error {
	return onlyError(c.Frame(c.claim.Context(context.Background()), func(ctx context.Context, _ *store.Writer) error {
		c.claim.ResetChanges()
		return c.claim.Unseal(ctx, input, calls)
	}))
}

func (c *claimed) digest(t tb) uint64 { return digest(t, c.Store) }

type bond struct {
	To   store.Handle[stem]
	Near []store.ID
}

func (b *bond) links(visit func(id *store.ID)) {
	for i := range b.Near {
		visit(&b.Near[i])
	}
}

// command is a random command. Its numbers choose among handles.
type command struct {
	Kind       int
	A, B, C, D int
	N          int
}

const kindsOfCommand = 15

func drawCalls(t *rapid.T) [][]command {
	one := rapid.Custom(func(t *rapid.T) command {
		small := rapid.IntRange(0, 1000)
		c := command{Kind: rapid.IntRange(0, kindsOfCommand-1).Draw(t, "kind"), N: 1}
		c.A, c.B, c.C, c.D = small.Draw(t, "a"), small.Draw(t, "b"), small.Draw(t, "c"), small.Draw(t, "d")
		if rapid.IntRange(0, 400).Draw(t, "many") == 7 {
			c.N = rapid.IntRange(2, 40_000).Draw(t, "n") // segments have 16,384
		}
		return c
	})
	return rapid.SliceOfN(rapid.SliceOfN(one, 1, 8), 0, 6).Draw(t, "calls")
}

type names struct {
	stems   []store.Handle[stem]
	leaves  []store.Handle[leaf]
	foreign []store.ID
}

func (c *claimed) names() (n names) {
	for h := range c.stems.All() {
		n.stems = append(n.stems, h)
	}
	for h := range c.leaves.All() {
		n.leaves = append(n.leaves, h)
	}
	n.foreign = []store.ID{0, 1, compose(999, 1, 1), compose(999, 1, 1) | 1<<63, compose(2, 1, 1) | 1<<63, 1<<63 | compose(1, 7, 7)}
	return n
}

func pick[E any](all []E, at int) (e E) {
	if len(all) == 0 {
		return e
	}
	return all[at%len(all)]
}

// record records a call. scratch is memory for values that the next call reuses.
func (c *claimed) record(q store.Queue, commands []command, n *names, scratch []store.ID) {
	value := func(o command) stem {
		if len(scratch) < 2 {
			scratch = make([]store.ID, 1000)
		}
		children := scratch[:2]
		scratch = scratch[2:]
		children[0], children[1] = pick(n.stems, o.D).ID, pick(n.leaves, o.A).ID
		v := stem{
			Value: o.C, Up: pick(n.stems, o.B), Name: strings.Repeat("x", o.A%5), Children: children[:o.B%3],
			Leaves: [2]store.Handle[leaf]{pick(n.leaves, o.C), {ID: pick(n.foreign, o.D)}},
		}
		if o.D%3 == 0 {
			v.Counts = map[uint8]int32{uint8(o.A): 1, uint8(o.B): -1}
		}
		if o.D%7 == 0 {
			v.Children = []store.ID{}
		}
		return v
	}
	for _, o := range commands {
		switch o.Kind {
		case 0:
			for range o.N {
				h := c.stems.Emplace(q, value(o))
				n.stems = append(n.stems, h)
			}
		case 1:
			many := make([]leaf, o.N)
			for i := range many {
				many[i] = leaf{Of: pick(n.stems, o.A+i), Weight: float64(i)}
			}
			n.leaves = c.leaves.EmplaceItems(q, many, n.leaves)
		case 2:
			h := c.stems.Emplace(q, value(o))
			if v, ok := c.stems.Staged(q, h); ok {
				v.Leaves[0] = c.leaves.Emplace(q, leaf{Of: h})
				n.leaves = append(n.leaves, v.Leaves[0])
			}
			n.stems = append(n.stems, h)
		case 3:
			c.stems.Put(q, pick(n.stems, o.A), value(o))
		case 4:
			c.leaves.Put(q, pick(n.leaves, o.A), leaf{pick(n.stems, o.B), float64(o.C)})
		case 5:
			c.stems.Erase(q, pick(n.stems, o.A))
		case 6:
			q.Erase(pick(n.leaves, o.A).ID)
		case 7:
			q.Erase(pick(n.foreign, o.A))
			c.leaves.Erase(q, store.Handle[leaf]{ID: pick(n.stems, o.B).ID})
		case 8:
			c.marks.EmplaceItems(q, make([]mark, o.N), nil)
		case 10:
			for i := range o.N {
				to := pick(n.stems, o.B+i)
				c.bonds.Set(q, pick(n.stems, o.A+i), bond{to, []store.ID{pick(n.leaves, o.C).ID, to.ID, pick(n.foreign, o.D)}})
			}
		case 11:
			c.tags.Set(q, pick(n.stems, o.A), struct{}{})
		case 12:
			to := pick(n.stems, o.B)
			c.badges.Set(q, pick(n.stems, o.A), bond{to, []store.ID{pick(n.leaves, o.C).ID, to.ID, pick(n.foreign, o.D)}})
		case 13:
			c.badges.Unset(q, pick(n.stems, o.A))
			c.badges.Unset(q, store.Handle[stem]{ID: pick(n.foreign, o.B)})
		case 14:
			c.dry.Set(q, pick(n.leaves, o.A), struct{}{})
			c.dry.Unset(q, pick(n.leaves, o.B))
		default:
			if o.A%10 == 0 {
				c.leaves.EraseAll(q)
				c.marks.EraseAll(q)
			}
		}
	}
}

type sent struct {
	done     sync.WaitGroup
	receipts []*store.Receipt
	errs     []error
}

// send submits calls on goroutines, each after the previous call has arrived.
func (c *claimed) send(calls ...func(q store.Queue) error) *sent {
	s := &sent{receipts: make([]*store.Receipt, len(calls)), errs: make([]error, len(calls))}
	for i, call := range calls {
		waits := make(chan struct{})
		arrived := sync.OnceFunc(func() { close(waits) })
		s.done.Go(func() {
			defer arrived() // if it was refused
			s.receipts[i], s.errs[i] = c.claim.Submit(arriving{context.Background(), arrived}, context.Background(), call)
		})
		<-waits
	}
	return s
}

// arriving reports the first call of Done: the inbox has the call by then.
type arriving struct {
	context.Context
	arrived func()
}

func (a arriving) Done() <-chan struct{} {
	a.arrived()
	return nil
}

// An input has the same result after Seal and Unseal as its calls in an unclaimed store.
func TestClaim_InputEqualsItsCalls(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plain := newUnclaimed(t, store.Options{Workers: 1})
		owner := newClaimed(t, 2)
		replicas := []*claimed{newClaimed(t, 1), newClaimed(t, 2), newClaimed(t, 8)}
		scratch := make([]store.ID, 1000)
		for range rapid.IntRange(1, 5).Draw(t, "ticks") {
			calls := drawCalls(t)
			var functions []func(q store.Queue) error
			recorded := make([]names, len(calls))
			for i, call := range calls {
				recorded[i] = owner.names()
				functions = append(functions, callOf(func(q store.Queue) { owner.record(q, call, &recorded[i], scratch) }))
				n := plain.names()
				noError(t, plain.Inbox(callOf(func(q store.Queue) { plain.record(q, call, &n, nil) })))
			}
			sent := owner.send(functions...)
			input, sealed := owner.claim.Seal(nil, 1<<30)
			owner.tick(t, input, sealed)
			sealed.Done(7, nil)
			sent.done.Wait()
			noError(t, errors.Join(sent.errs...))
			for _, r := range replicas {
				r.tick(t, slices.Clone(input), nil)
				equal(t, "digest of a replica", r.digest(t), owner.digest(t))
			}
			flush(t, plain.Store)
			equal(t, "digest of a store without a claim", plain.digest(t), owner.digest(t))
		}
	})
}

type hostile struct {
	Map  map[float64]int
	Text string
}

// A record that cannot be read back would end a log.
func TestClaim_ReadsBackItsInput(t *testing.T) {
	nan := math.NaN()
	for name, v := range map[string]hostile{
		"NaN key":        {Map: map[float64]int{nan: 1}},
		"equal entries":  {Map: map[float64]int{nan: 1, -nan: 1}},
		"text not UTF-8": {Text: "\xff"},
	} {
		s := newStore(t, store.Options{})
		table := register(t, s, store.TableOptions[hostile]{})
		c := claim(t, s)
		sent := (&claimed{Store: s, claim: c}).send(func(q store.Queue) error { table.Emplace(q, v); return nil })
		input, calls := c.Seal(nil, 1<<20)
		wantError(t, name, c.Unseal(c.Context(t.Context()), input, calls), nil)
		equal(t, name+": calls", calls.Len(), 1)
		calls.Done(1, nil)
		sent.returned(t)
	}
}

// The values of commands have the types of their tables and parts.
func TestClaim_TablesMakeTheirValues(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	addColumn(t, table, store.ColumnOptions[float64]{Name: "column"})
	addSparse(t, table, store.ColumnOptions[string]{Name: "sparse"})
	for _, made := range claim(t, s).Tables() {
		types := []string{fmt.Sprintf("%T", made.New())}
		for _, p := range made.Parts {
			types = append(types, fmt.Sprintf("%s %t %T", p.Name, p.Sparse, p.New()))
		}
		if made.Name == table.Name() {
			equalLists(t, "types", types, "*store_test.item", "column false *float64", "sparse true *string")
		}
	}
}

// A reader cannot check the length of a slice of elements without bytes. Values take the
// same check as tables and compile faster.
func TestClaim_RefusesElementsWithoutBytes(t *testing.T) {
	type holder struct{ Void []struct{} }
	for what, add := range map[string]func(s *store.Store){
		"item": func(s *store.Store) { register(t, s, store.TableOptions[holder]{Name: "items"}) },
		"column": func(s *store.Store) {
			addColumn(t, register(t, s, store.TableOptions[int]{Name: "items"}), store.ColumnOptions[holder]{Name: "column"})
		},
		"sparse data": func(s *store.Store) {
			addSparse(t, register(t, s, store.TableOptions[int]{Name: "items"}), store.ColumnOptions[holder]{Name: "some"})
		},
		"slice of blank fields":          valueOf[[]struct{ _ int }],
		"slice of empty arrays":          valueOf[[][0]string],
		"slice in a map":                 valueOf[map[int][]struct{}],
		"slice in an array":              valueOf[[2][]struct{}],
		"map with empty keys":            valueOf[map[struct{}]int],
		"map with empty keys and values": valueOf[map[struct{}]struct{}],
	} {
		s := newStore(t, store.Options{Workers: 1})
		add(s)
		_, claimErr := openClaim(t.Context(), s)
		var b bytes.Buffer
		for op, err := range map[string]error{"Claim": claimErr, "Snapshot": s.Snapshot(t.Context(), &b)} {
			if !errors.Is(err, store.ErrSnapshot) || !strings.Contains(err.Error(), `table "items"`) || !strings.Contains(err.Error(), ".Void") {
				t.Errorf("%s of %s: %v, want ErrSnapshot that names table and field", op, what, err)
			}
		}
		equal(t, "bytes of a snapshot of "+what, b.Len(), 0)
	}
}

func valueOf[V any](s *store.Store) {
	store.AddValue(s, store.ColumnOptions[struct{ Void V }]{Name: "items"})
}
