package main_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"handloom/store"
)

// region save

// save writes the state to a file, whole or not at all.
func save(ctx context.Context, s *store.Store, path string) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path))
	if err != nil {
		return err
	}
	err = errors.Join(s.Snapshot(ctx, f), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
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
		f, err := os.Create(path)
		if err == nil {
			_, err = at.WriteTo(f)
			err = errors.Join(err, f.Sync(), f.Close())
		}
		written <- err
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
