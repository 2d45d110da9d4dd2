package batch_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"handloom/batch"
	"handloom/handle"
	"handloom/internal/items"
	"pgregory.net/rapid"
)

func arrive(t *testing.T, a *batch.EncodedInbox, f func(q queue)) {
	t.Helper()
	q, err := a.Enter()
	noError(t, err)
	f(q)
	noError(t, a.AddCall(q, batch.NewCall()))
}

func putSealed(t *testing.T, b interface {
	PutInput(input []byte, calls []*batch.Call) error
}, a *batch.EncodedInbox,
) {
	t.Helper()
	input, calls := a.Seal(nil, 1<<30)
	noError(t, b.PutInput(input, calls))
}

type sharer struct{ To []handle.ID }

// Values that share memory name the same create.
func TestEncodedInbox_KeepsSharedMemory(t *testing.T) {
	b, r := newTable[sharer](1)
	r.Links(nil, func(v unsafe.Pointer, visit func(*handle.ID)) {
		for i := range (*sharer)(v).To {
			visit(&(*sharer)(v).To[i])
		}
	})
	a := b.Claim(errReleased)
	for range 3 {
		var own handle.ID
		var shared []handle.ID
		arrive(t, a, func(q queue) {
			r.Emplace(q, sharer{})
			own = r.Emplace(q, sharer{}).ID
			shared = []handle.ID{own}
			for range 3 {
				r.Emplace(q, sharer{shared})
				r.Put(q, handle.Of[sharer]{ID: handle.New(7, 1, 1)}, sharer{shared})
			}
		})
		if shared[0] != own {
			t.Errorf("the shared handle = %v after AddCall, want %v", shared[0], own)
		}
	}
	putSealed(t, b, a)
	b.Gather()
	c := r.Pending
	c.FixSurvivors()
	var names []handle.ID // by call of the creates, then of the puts
	add := func(values *items.Slice) {
		for _, v := range *items.As[sharer](values) {
			names = append(names, v.To...)
		}
	}
	next := uint32(0)
	c.Runs(0, c.Survivors(), func(values items.Slice, created []handle.ID) {
		for i := range created {
			created[i] = handle.New(7, 1, next)
			next++
		}
		add(&values)
	})
	c.Puts(0, false, func(puts *batch.Puts, _ batch.Key) { add(&puts.Values) })
	if len(names) != 18 || next != 15 {
		t.Fatalf("%d names in %d creates, want 18 in 15", len(names), next)
	}
	for i, id := range names {
		got, ok := c.Resolve(id)
		if want := handle.New(7, 1, uint32(5*(i%9/3)+1)); !ok || got != want {
			t.Errorf("value %d names %v, %t, want %v", i, got, ok, want)
		}
	}
}

type nested struct{ Of []nested }

func deep(n int) (v nested) {
	for range n {
		v = nested{[]nested{v}}
	}
	return v
}

func addEncoded[T any](t *testing.T, first, second T) error {
	b, r := newTable[T](1)
	a := b.Claim(errReleased)
	q, err := a.Enter()
	noError(t, err)
	r.Emplace(q, first)
	r.Emplace(q, second)
	err = a.AddCall(q, batch.NewCall())
	input, calls := a.Seal(nil, 1<<20)
	if (len(calls) == 1) != (err == nil) {
		t.Errorf("%d calls after %v", len(calls), err)
	}
	noError(t, b.PutInput(input, calls))
	return err
}

func TestEncodedInbox_RefusesCalls(t *testing.T) {
	noError(t, addEncoded(t, nested{}, deep(900)))
	if err := addEncoded(t, nested{}, deep(1100)); err == nil || !strings.Contains(err.Error(), "cannot be decoded") {
		t.Errorf("1100 deep: %v", err)
	}
	long := strings.Repeat("x", 32<<20)
	noError(t, addEncoded(t, "", long[100:]))
	wantError(t, addEncoded(t, "", long), batch.ErrQueueFull)
}

func TestClaim_Release(t *testing.T) {
	y := newYard(1)
	enter := func(inbox interface{ Enter() (queue, error) }) queue {
		q, err := inbox.Enter()
		noError(t, err)
		y.tables[0].Emplace(q, value{})
		return q
	}
	own := enter(y)
	a := y.Claim(errReleased)
	wantError(t, errorOf(y.Enter()), errReleased)
	wantError(t, y.AddCall(own, nil), errReleased)
	late, waits := enter(a), batch.NewCall()
	noError(t, a.AddCall(enter(a), waits))
	over := errors.New("over")
	a.Release(over)
	a.Release(nil)
	if <-waits.Completed(); !errors.Is(waits.Err(), over) {
		t.Errorf("a call that waited: %v", waits.Err())
	}
	wantError(t, a.AddCall(late, batch.NewCall()), over)
	wantError(t, errorOf(a.Enter()), over)
	y.call(func(q queue) { y.tables[0].Emplace(q, value{}) })
	if b := y.Claim(errReleased); b != nil {
		t.Error("an inbox in which a call waits is claimed")
	}
	y.flush()
	b := y.Claim(errReleased)
	a.Release(nil) // ends only its own claim
	wantError(t, errorOf(y.Enter()), errReleased)
	y.Close(over)
	wantError(t, errorOf(b.Enter()), over)
	b.Release(nil)
	wantError(t, errorOf(y.Enter()), over)
}

// Logs keep these bytes: a change needs another version.
func TestInput_Encoding(t *testing.T) {
	b, first := newTable[value](2, 8)
	var second recorder[value]
	var silent recorder[struct{}]
	second.Init(b, 9, 1, items.For[value]())
	second.Links([]uintptr{8}, nil)
	silent.Init(b, 10, 1, items.For[struct{}]())
	a := b.Claim(errReleased)
	arrive(t, a, func(q queue) {
		first.Put(q, name{ID: handle.New(8, 1, 5)}, value{N: 1})
		one := second.Emplace(q, value{N: 2})
		two := second.Emplace(q, value{N: 3, Link: one.ID})
		first.Emplace(q, value{N: 4, Link: two.ID})
		second.Erase(q, two)
	})
	arrive(t, a, func(q queue) {
		silent.EmplaceItems(q, make([]struct{}, 3), nil)
		q.Erase(handle.New(99, 1, 1))
		first.EraseAll(q)
	})
	input, _ := a.Seal(nil, 1000)
	want := []byte{
		2,
		2,
		1, 1, 1, 4, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 9, 0x80, // a create for the first table, which names create 2 of typeId 9
		1, 2, 2, // two creates for the second
		2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 9, 0x80,
		2, 1, 1, 5, 0, 0, 0, 1, 0, 8, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, // a put for the first: handle, item
		3, 2, 1, 2, 0, 0, 0, 0, 0, 9, 0x80, // an erase for the second
		0,
		1, 3, 3, 0, 0, 0, // three creates for the third, of empty items
		4, 1, 1, 0, 0, 0, 1, 0, 99, 0, // an erase of an unknown typeId
		5, 1, // EraseAll of the first
		0,
	}
	if !slices.Equal(input, want) {
		t.Errorf("the bytes are\n%v, not\n%v", input, want)
	}
}

func noError(t rapid.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func errorOf(_ any, err error) error { return err }

func wantError(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got error %v, want %v", err, want)
	}
}
