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

	err := s.Write(ctx, func(w *store.Writer) {
		accounts.Insert(w, Account{Name: "ada", Coins: 5})
		accounts.Insert(w, Account{Name: "bob", Coins: 7})
	})
	bob, _ := byName.Find("bob")
	fmt.Println(accounts.At(bob).Coins, err)

	// A key changes by Put. The next flush moves it.
	err = s.Do(ctx, func(q store.Queue) { accounts.Put(q, bob, Account{Name: "robert", Coins: 7}) })
	fmt.Println(s.Flush(ctx))
	_, ok := byName.Find("bob")
	robert, _ := byName.Find("robert")
	fmt.Println(ok, robert == bob, err)

	// A second item of a key is an error.
	err = s.Write(ctx, func(w *store.Writer) { accounts.Insert(w, Account{Name: "ada"}) })
	fmt.Println(errors.Is(err, store.ErrDuplicate), accounts.Len())
	// Output:
	// 7 <nil>
	// epoch 1: 1 put <nil>
	// false true <nil>
	// true 2
}
