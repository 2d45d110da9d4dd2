package journal_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"handloom/journal"
)

// The records are there again after Close.
func Example() {
	dir, err := os.MkdirTemp("", "journal")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()

	j, err := journal.Open(dir, journal.Options{})
	if err != nil {
		panic(err)
	}
	var at uint64
	for _, said := range []string{"to be", "or not", "to be"} {
		if at, err = j.Append(ctx, at, []byte(said)); err != nil {
			panic(err)
		}
	}
	if err := j.Close(); err != nil {
		panic(err)
	}

	j, err = journal.Open(dir, journal.Options{})
	if err != nil {
		panic(err)
	}
	defer j.Close()
	tail, err := j.Tail(ctx)
	if err != nil {
		panic(err)
	}
	end := errors.New("that is all")
	err = j.Read(ctx, 0, func(at uint64, rec []byte) error {
		fmt.Printf("%d %s\n", at, rec)
		if at == tail {
			return end
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// 1 to be
	// 2 or not
	// 3 to be
	// that is all
}
