package batch_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"handloom/batch"
	"handloom/internal/items"
	"handloom/shard/handle"
	"pgregory.net/rapid"
)

// arrive has a call record and arrive.
func arrive(t *testing.T, a *batch.EncodedInbox, f func(q queue)) {
	t.Helper()
	q, err := a.Enter()
	noError(t, err)
	f(q)
	noError(t, a.AddCall(q, batch.NewCall(0)))
}

// putter takes inputs.
type putter interface {
	PutInput(input []byte, calls []*batch.Call) error
}

// putSealed puts the calls that arrived into b as an input.
func putSealed(t *testing.T, b putter, a *batch.EncodedInbox) {
	t.Helper()
	input, calls := a.Seal(nil, 1<<30)
	noError(t, b.PutInput(input, calls))
}

// Calls that were sealed count for the limit of the inbox no more, in whatever portions
// they are sealed.
func TestArrivals_SealMakesRoomForCalls(t *testing.T) {
	b := newLimited(batch.Limits{InboxCommands: 20}, 1)
	a := b.Claim(errReleased)
	held := 0
	for round := range 300 {
		q, err := a.Enter()
		if full := held >= 20; errors.Is(err, batch.ErrQueueFull) != full {
			t.Fatalf("round %d: Enter = %v with %d commands held", round, err, held)
		}
		if err == nil {
			n := 1 + round%7
			b.EmplaceItems(q, make([]value, n), nil)
			err := a.AddCall(q, batch.NewCall(0))
			if full := held+n > 20; errors.Is(err, batch.ErrQueueFull) != full {
				t.Fatalf("round %d: Arrive of %d commands = %v with %d held", round, n, err, held)
			}
			if err == nil {
				held += n
			}
		}
		if round%5 < 3 {
			continue
		}
		input, calls := a.Seal(nil, 60) // some of them
		noError(t, b.PutInput(input, calls))
		held -= b.Pending().Commands
		b.Finish()
	}
}

// sharer is a value that names an item in memory that other values may share.
type sharer struct{ To []handle.ID }

// A call that becomes bytes leaves the memory behind its values as it was, so that values
// which share some name the same create.
func TestArrivals_LeaveSharedMemoryAsItWas(t *testing.T) {
	b, r := batch.New(batch.Limits{}), new(recorder[sharer])
	r.Init(b, 7, 1, items.For[sharer]())
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
			t.Errorf("the shared handle = %v after Arrive, want %v", shared[0], own)
		}
	}
	putSealed(t, b, a)
	b.Gather()
	c := r.Pending
	c.FixSurvivors()
	var names []handle.ID // by create
	c.Runs(0, c.Survivors(), func(values items.Slice, created []handle.ID) {
		for i, v := range *items.As[sharer](&values) {
			created[i] = handle.New(7, 1, uint32(len(names)))
			names = append(names, 0)
			if v.To != nil {
				names[len(names)-1] = v.To[0]
			}
		}
	})
	for _, puts := range c.Puts(0) {
		for i := range puts.IDs {
			names = append(names, (*items.As[sharer](&puts.Values))[i].To[0])
		}
	}
	if len(names) != 24 {
		t.Fatalf("%d values, want 24", len(names))
	}
	for i, id := range names {
		call, create := i/5, i%5
		if i >= 15 {
			call, create = (i-15)/3, 2
		}
		got, ok := c.Resolve(id)
		if want := handle.New(7, 1, uint32(5*call+1)); create >= 2 && (!ok || got != want) {
			t.Errorf("value %d names %v, %t, want %v", i, got, ok, want)
		}
	}
}

// nested is a value as deep as it likes.
type nested struct{ Of []nested }

func TestWhatCouldNotBeReadBackDoesNotArrive(t *testing.T) {
	b, r := batch.New(batch.Limits{}), new(recorder[nested])
	r.Init(b, 7, 1, items.For[nested]())
	a := b.Claim(errReleased)
	for deep, refused := range map[int]bool{900: false, 1100: true} {
		var v nested
		for range deep {
			v = nested{[]nested{v}}
		}
		q, err := a.Enter()
		noError(t, err)
		r.Emplace(q, nested{})
		r.Emplace(q, v)
		if err := a.AddCall(q, batch.NewCall(0)); (err != nil) != refused || refused && !strings.Contains(err.Error(), "cannot be decoded") {
			t.Errorf("%d deep: %v", deep, err)
		}
	}
	input, calls := a.Seal(nil, 1<<20)
	if len(calls) != 1 {
		t.Errorf("%d calls", len(calls))
	}
	noError(t, b.PutInput(input, nil))
}

func TestACallHasABound(t *testing.T) {
	b, r := batch.New(batch.Limits{}), new(recorder[string])
	r.Init(b, 7, 1, items.For[string]())
	a := b.Claim(errReleased)
	long := strings.Repeat("x", 32<<20)
	for less, refused := range map[int]bool{0: true, 100: false} {
		q, err := a.Enter()
		noError(t, err)
		r.Emplace(q, long[less:])
		if err := a.AddCall(q, batch.NewCall(0)); errors.Is(err, batch.ErrQueueFull) != refused {
			t.Errorf("%d bytes less than the most: %v", less, err)
		}
	}
}

// The inbox is somebody's as long as they hold it, and whoever came too late is told.
func TestAnInboxIsGivenBack(t *testing.T) {
	y := newYard(1)
	own, err := y.Enter()
	noError(t, err)
	a := y.Claim(errReleased)
	wantError(t, errorOf(y.Enter()), errReleased)
	y.tables[0].Emplace(own, value{})
	wantError(t, y.AddCall(own, nil), errReleased)
	late, err := a.Enter()
	noError(t, err)
	y.tables[0].Emplace(late, value{})
	waits := batch.NewCall(0)
	q, err := a.Enter()
	noError(t, err)
	y.tables[0].Emplace(q, value{})
	noError(t, a.AddCall(q, waits))
	over := errors.New("over")
	a.Release(over)
	a.Release(nil)
	if <-waits.Completed(); !errors.Is(waits.Err(), over) {
		t.Errorf("a call that waited: %v", waits.Err())
	}
	wantError(t, a.AddCall(late, batch.NewCall(0)), over)
	wantError(t, errorOf(a.Enter()), over)
	y.call(func(q queue) { y.tables[0].Emplace(q, value{}) })
	if b := y.Claim(errReleased); b != nil {
		t.Error("an inbox in which a call waits is claimed")
	}
	y.flush()
	b := y.Claim(errReleased)
	a.Release(nil) // that of the former
	wantError(t, errorOf(y.Enter()), errReleased)
	y.Close(over)
	wantError(t, errorOf(b.Enter()), over)
	b.Release(nil)
	wantError(t, errorOf(y.Enter()), over)
}

// Names that are not of the call are stale, wherever they come from, and those of it
// are the input's own.
func TestNamesOfAnInputAreItsOwn(t *testing.T) {
	b, r := batch.New(batch.Limits{}), new(recorder[value])
	r.Init(b, 7, 2, items.For[value]())
	r.Links([]uintptr{8}, nil)
	a := b.Claim(errReleased)
	var first name
	for i := range 2 {
		arrive(t, a, func(q queue) {
			h := r.Emplace(q, value{N: 1})
			if i == 0 {
				first = h
			}
			foreign := handle.FreeBit | handle.New(8, 0, 3) // the table has it, names begin with 7
			unknown := handle.FreeBit | handle.New(99, 0, 3)
			beyond := h.ID + 1000
			for _, link := range []handle.ID{h.ID, first.ID, foreign, unknown, beyond, handle.New(7, 1, 1)} {
				r.Emplace(q, value{N: 2, Link: link})
			}
		})
	}
	putSealed(t, b, a)
	r.Recorder.Pending = new(batch.Commands)
	b.Gather()
	var links []handle.ID
	r.Pending.FixSurvivors()
	r.Pending.Runs(0, r.Pending.Survivors(), func(values items.Slice, _ []handle.ID) {
		for _, v := range *items.As[value](&values) {
			links = append(links, v.Link)
		}
	})
	for call := range 2 {
		of := links[7*call : 7*call+7]
		own := of[1]
		if _, ok := r.Pending.Resolve(own); !ok || own == first.ID {
			t.Errorf("call %d: its own name is %v", call, own)
		}
		stale, other := handle.FreeBit|handle.New(7, 0, 0), handle.FreeBit|handle.New(8, 0, 0)
		want := []handle.ID{0, own, stale, other, handle.FreeBit | handle.New(99, 0, 0), stale, handle.New(7, 1, 1)}
		if call == 0 {
			want[2] = own
		}
		if !slices.Equal(of, want) {
			t.Errorf("call %d: links %v, want %v", call, of, want)
		}
		if _, ok := r.Pending.Resolve(stale); ok {
			t.Error("a stale name resolves")
		}
	}
}

// What a call of the input before created is none of the next input's, although that is
// the first call of each.
func TestNamesOfTheInputBeforeAreStale(t *testing.T) {
	b, r := batch.New(batch.Limits{}), new(recorder[value])
	r.Init(b, 7, 1, items.For[value]())
	a := b.Claim(errReleased)
	some := handle.New(7, 1, 1)
	encoded := func(f func(q queue)) []byte {
		arrive(t, a, f)
		input, _ := a.Seal(nil, 1<<20)
		return input
	}
	noError(t, b.PutInput(encoded(func(q queue) { r.Emplace(q, value{}) }), nil))
	b.Drop(nil)
	erase := encoded(func(q queue) { r.Erase(q, name{ID: some}) })
	first := handle.FreeBit | handle.New(7, 0, 1) // create of a call
	as := func(id handle.ID) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(id)) }
	if !bytes.Contains(erase, as(some)) {
		t.Fatalf("% x does not erase %v", erase, some)
	}
	noError(t, b.PutInput(bytes.Replace(erase, as(some), as(first), 1), nil))
	b.Gather()
	if got := r.Pending.Erases(0)[0].IDs[0]; got != handle.FreeBit|handle.New(7, 0, 0) {
		t.Errorf("it erases %v", got)
	}
}

// Logs keep these bytes: a form that differs is another version.
func TestTheBytesOfAnInput(t *testing.T) {
	b := batch.New(batch.Limits{})
	var first, second recorder[value]
	var silent recorder[struct{}]
	first.Init(b, 7, 2, items.For[value]())
	first.Links([]uintptr{8}, nil)
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
		2,                                                          // version
		2,                                                          // calls
		1, 1, 1, 4, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 9, 0x80, // a create for the first table, that names the second one of typeId 9
		1, 2, 2, // two creates for the second
		2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 9, 0x80,
		2, 1, 1, 5, 0, 0, 0, 1, 0, 8, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, // a put for the first: handle, item
		3, 2, 1, 2, 0, 0, 0, 0, 0, 9, 0x80, // an erase for the second
		0,
		1, 3, 3, 0, 0, 0, // three creates for the third, of items that are nothing
		4, 1, 1, 0, 0, 0, 1, 0, 99, 0, // an erase that no table has
		5, 1, // all of the first
		0,
	}
	if !slices.Equal(input, want) {
		t.Errorf("the bytes are\n%v, not\n%v", input, want)
	}
}

// noError ends the test if there is an error.
func noError(t rapid.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// errorOf returns the error of a call with two results.
func errorOf(_ any, err error) error { return err }

// wantError fails the test unless the error is the wanted one.
func wantError(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got error %v, want %v", err, want)
	}
}
