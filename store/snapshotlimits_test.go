package store_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"handloom/store"
)

type deep []deep

func deepOf(n int) (d deep) {
	for range n - 1 {
		d = deep{d}
	}
	return d
}

// The error names the table, and no file is replaced.
func TestSnapshot_RefusesUnloadableItems(t *testing.T) {
	for name, c := range map[string]struct {
		fill func(t *testing.T, s *store.Store) func(q store.Queue)
		fits bool
		long bool
	}{
		"item 1000 deep":     {putDeep(0, 1000), true, false},
		"item 1001 deep":     {putDeep(0, 1001), false, false},
		"element 1000 deep":  {putDeep(1, 1000), true, false},
		"element 1001 deep":  {putDeep(1, 1001), false, false},
		"optional 1000 deep": {putDeep(2, 1000), true, false},
		"optional 1001 deep": {putDeep(2, 1001), false, false},
		"item of 66 MiB":     {putLong(66 << 20), false, true},
	} {
		t.Run(name, func(t *testing.T) {
			if c.long && testing.Short() {
				t.Skip("it takes 64 MiB a few times")
			}
			ctx := context.Background()
			s, read := newStore(t, store.Options{Workers: 1}), newStore(t, store.Options{Workers: 1})
			put := c.fill(t, s)
			c.fill(t, read)
			put(queues(t, s, 1)[0])
			flush(t, s)
			var b, written bytes.Buffer
			err := s.Snapshot(ctx, &b)
			var saved store.Checkpoint
			checkpoint(t, s, &saved)
			_, writeErr := saved.WriteTo(&written)
			for _, err := range []error{err, writeErr} {
				equal(t, "it succeeds", err == nil, c.fits)
				if err != nil && (!errors.Is(err, store.ErrSnapshot) || !strings.Contains(err.Error(), `table "items"`)) {
					t.Errorf("error %v, want ErrSnapshot that names the table", err)
				}
			}
			if !c.fits {
				return
			}
			wantError(t, "Load", read.Load(ctx, &b), nil)
			equal(t, "digest after Load", digest(t, read), digest(t, s))
		})
	}
}

// putDeep fills a table with a value of depth n: an item, an element, or sparse data.
func putDeep(part, n int) func(t *testing.T, s *store.Store) func(q store.Queue) {
	clone := func(dst, src *deep) { *dst = *src }
	return func(t *testing.T, s *store.Store) func(q store.Queue) {
		table := register(t, s, store.TableOptions[deep]{Name: "items", Clone: clone})
		column := addColumn(t, table, store.ColumnOptions[deep]{Name: "column", Clone: clone})
		some := store.AddSparse(table, store.ColumnOptions[deep]{Name: "some", Clone: clone})
		all := [3]deep{}
		all[part] = deepOf(n)
		return func(q store.Queue) {
			h := table.Emplace(q, all[0])
			column.Set(q, h, all[1])
			some.Set(q, h, all[2])
		}
	}
}

func putLong(n int) func(t *testing.T, s *store.Store) func(q store.Queue) {
	type item struct{ Text, More []byte }
	return func(t *testing.T, s *store.Store) func(q store.Queue) {
		table := register(t, s, store.TableOptions[item]{Name: "items", Clone: func(dst, src *item) { *dst = *src }})
		return func(q store.Queue) { table.Emplace(q, item{Text: make([]byte, n-5), More: []byte("bytes")}) }
	}
}

func TestSnapshot_NamesTheFixForPointers(t *testing.T) {
	type pointing struct{ Next *int }
	s := newStore(t, store.Options{})
	register(t, s, store.TableOptions[pointing]{Name: "pointing"})
	err := s.Snapshot(context.Background(), io.Discard)
	wantError(t, "Snapshot", err, store.ErrSnapshot, `"pointing"`, "pointing.Next of kind ptr", "by its handle")
}

func TestLoad_RefusesOtherFiles(t *testing.T) {
	s := newStore(t, store.Options{})
	for text, want := range map[string]string{
		"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01 and so on": "no snapshot of Handloom",
		"HLSNAP\x00\x02 and so on":                       "got version 2, want 1",
		"":                                               io.ErrUnexpectedEOF.Error(),
		"HLSNAP":                                         io.ErrUnexpectedEOF.Error(),
	} {
		err := s.Load(context.Background(), strings.NewReader(text))
		wantError(t, text, err, store.ErrSnapshot, want)
	}
	broken := errors.New("the disk is broken")
	wantError(t, "Load", s.Load(context.Background(), iotest.ErrReader(broken)), broken)
}
