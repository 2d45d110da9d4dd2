package main_test

import (
	"context"
	"errors"
	"fmt"

	"handloom/store"
)

// Account is found by its name.
type Account struct {
	Name  string
	Coins int
}

func Example_key() {
	ctx := context.Background()
	s := store.New(store.Options{})
	accounts := store.Register(s, store.TableOptions[Account]{Name: "account"})
	byName := store.AddIndex(accounts, "name", func(a *Account) (string, bool) { return a.Name, a.Name != "" })

	err := s.Do(ctx, func(q store.Queue) {
		accounts.Emplace(q, Account{Name: "ada", Coins: 5})
		accounts.Emplace(q, Account{Name: "bob", Coins: 7})
	})
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(s.Flush(ctx))

	bob, ok := byName.Find("bob")
	fmt.Println(ok, accounts.At(bob).Coins)

	// A key changes by Put. The next flush moves it.
	err = s.Do(ctx, func(q store.Queue) {
		accounts.Put(q, bob, Account{Name: "robert", Coins: 7})
	})
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(s.Flush(ctx))
	_, ok = byName.Find("bob")
	robert, _ := byName.Find("robert")
	fmt.Println(ok, robert == bob)

	// Two items of one key are an error, and the flush changes nothing.
	err = s.Do(ctx, func(q store.Queue) {
		accounts.Emplace(q, Account{Name: "ada"})
	})
	if err != nil {
		fmt.Println(err)
	}
	_, err = s.Flush(ctx)
	fmt.Println(errors.Is(err, store.ErrDuplicate), accounts.Len(), s.Discard())
	// Output:
	// epoch 1: 2 created <nil>
	// true 7
	// epoch 2: 1 put <nil>
	// false true
	// true 2 <nil>
}
