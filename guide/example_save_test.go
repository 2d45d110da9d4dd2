package main_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"handloom/store"
)

// region save

// save writes the state to a file, whole or not at all.
func save(ctx context.Context, s *store.Store, path string) error {
	return replace(path, func(w io.Writer) error { return s.Snapshot(ctx, w) })
}

// replace writes a file, whole or not at all. One goroutine at a time may replace it.
func replace(path string, write func(w io.Writer) error) error {
	f, err := os.Create(path + ".tmp") // overwrites the rest of a save that was killed
	if err != nil {
		return err
	}
	if err = errors.Join(write(f), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// endregion

// region load

// load reads the file. Without a file the store is unchanged.
func load(ctx context.Context, s *store.Store, path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return s.Load(ctx, f)
}

// endregion

// Save a store to a file and load it in the next run.
func Example_save() {
	folder, err := os.MkdirTemp("", "handloom")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "state")

	ctx := context.Background()
	s, asteroids := newField(3)
	var third store.Handle[Asteroid]
	for h := range asteroids.All() {
		third = h
	}
	fmt.Println(save(ctx, s, path))

	s, asteroids = newField(0) // the next run: the same tables, empty
	fmt.Println(load(ctx, s, path))
	fmt.Println(asteroids.Len(), "asteroids, the third at", asteroids.At(third).X)

	// region meanwhile
	var at store.Checkpoint
	if err := s.Checkpoint(ctx, &at); err != nil { // a copy in memory; ticks wait for it
		fmt.Println(err)
	}
	written := make(chan error)
	go func() {
		written <- replace(path, func(w io.Writer) error {
			_, err := at.WriteTo(w)
			return err
		})
	}()
	// ... ticks run ...
	fmt.Println(<-written)
	// endregion

	if err := os.Truncate(path, 100); err != nil {
		fmt.Println(err)
	}
	err = load(ctx, s, path)
	fmt.Println(errors.Is(err, store.ErrSnapshot), asteroids.Len())

	// Output:
	// <nil>
	// <nil>
	// 3 asteroids, the third at 2
	// <nil>
	// true 3
}
