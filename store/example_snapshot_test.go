package store_test

import (
	"bytes"
	"context"
	"fmt"

	"handloom/store"
)

// Save and load: handles name the same items after a load, in a store that another process made
// with the same tables.
func ExampleStore_Load() {
	ctx := context.Background()
	open := func() (*store.Store, *store.Table[Ship]) {
		s := store.New(store.Options{})
		ships := store.Register(s, store.TableOptions[Ship]{Name: "ship"})
		return s, ships
	}
	s, ships := open()
	qs, _ := s.Queues(1)
	a := ships.Emplace(qs[0], Ship{Name: "a", Hull: 5})
	b := ships.Emplace(qs[0], Ship{Name: "b", Hull: 9})
	_, _ = s.Flush(ctx)
	a, _ = ships.Resolve(a)
	b, _ = ships.Resolve(b)
	qs, _ = s.Queues(1)
	ships.Erase(qs[0], a)
	_, _ = s.Flush(ctx)

	var file bytes.Buffer
	if err := s.Snapshot(ctx, &file); err != nil {
		fmt.Println(err)
	}
	saved, _ := s.Digest(ctx)

	s, ships = open()
	half := bytes.NewReader(file.Bytes()[:file.Len()/2])
	fmt.Println(s.Load(ctx, half))
	if err := s.Load(ctx, &file); err != nil {
		fmt.Println(err)
	}
	loaded, _ := s.Digest(ctx)
	fmt.Println("equal digests:", loaded == saved)
	fmt.Println("b is", ships.At(b).Name, "and a is there:", ships.Has(a))
	// Output:
	// store: Load: no usable snapshot: table "ship", shard 0, block 0: unexpected EOF; nothing has changed
	// equal digests: true
	// b is b and a is there: false
}
