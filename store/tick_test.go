package store_test

import (
	"context"
	"errors"
	"testing"

	"handloom/store"
)

// tick is everything a program may do in one frame.
func tick(ctx context.Context, s *store.Store, table *store.Table[item]) error {
	return s.Write(ctx, func(ctx context.Context, w *store.Writer) error {
		h, err := table.Insert(w, item{Value: 1})
		if err != nil {
			return err
		}
		err = errors.Join(err, table.ForEach(ctx, func(_ context.Context, c store.Chunk[item]) error {
			for i := range c.Items {
				c.Items[i].Value++
			}
			return nil
		}), s.Each(ctx, 3, func(_ context.Context, task int, q store.Queue) error {
			table.Emplace(q, item{Value: uint64(task), Parent: h})
			return nil
		}))
		before, err1 := sum(ctx, table)
		_, err2 := s.Flush(ctx)
		after, err3 := sum(ctx, table)
		if after != before+3 {
			err = errors.Join(err, errors.New("the flush inside a Write is not seen by what follows"))
		}
		if maps := store.Maps(table, w); len(maps) != 2 || maps[0].Len()+maps[1].Len() != table.Len() {
			err = errors.Join(err, errors.New("the maps hold something else than the table"))
		}
		_, err4 := s.Digest(ctx)
		return errors.Join(err, err1, err2, err3, err4, s.Verify(ctx))
	})
}

func TestAWholeTickInsideOneWrite(t *testing.T) {
	for _, c := range configs() {
		if c.shuffle && c.procs > 1 {
			continue
		}
		c.run(t, store.Options{}, func(r *trial) {
			table := register(r, r.Store, store.TableOptions[item]{Shards: 2, ChunkItems: 3})
			for n := range 10 {
				if err := tick(r.ctx, r.Store, table); err != nil {
					r.Fatalf("%v: %v", c, err)
				}
				if live := r.Stats().Tables[0].Live; table.Len() != 4*(n+1) || live != table.Len() {
					r.Fatalf("%v: %d items, %d in Stats", c, table.Len(), live)
				}
			}
		})
	}
}

func TestReadersSeeWholeTicks(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s, table := newTable(t, store.Options{Workers: 2}, store.TableOptions[item]{Shards: 2, ChunkItems: 3})
		look := func() error {
			return s.Read(context.Background(), func(context.Context) error {
				if table.Len()%4 != 0 {
					return errors.New("half a tick")
				}
				return nil
			})
		}
		for range 20 {
			readers := []*call{begin(look), begin(look)}
			if err := tick(context.Background(), s, table); err != nil {
				t.Error(err)
			}
			for _, r := range readers {
				if err := r.result(); err != nil {
					t.Error(err)
				}
			}
		}
	})
}

func TestChangesOfAWriteStayWhenItFails(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Shards: 2})
	var h store.Handle[item]
	err := s.Write(t.Context(), func(_ context.Context, w *store.Writer) (err error) {
		h, err = table.Insert(w, item{Value: 4})
		return errors.Join(err, errTask)
	})
	if v, ok := table.Get(h); !errors.Is(err, errTask) || !ok || v.Value != 4 || s.Stats().Tables[0].Live != 1 {
		t.Errorf("%v, %v, %+v", err, v, s.Stats())
	}
	if s.Epoch() != 0 {
		t.Errorf("a Write advanced the epoch to %d", s.Epoch())
	}
}

func TestInsertFillsTheShardWithTheFewestItems(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Shards: 3, TypeID: 4})
	var types []uint16
	err := s.Write(t.Context(), func(_ context.Context, w *store.Writer) error {
		for range 7 {
			h, err := table.Insert(w, item{})
			if err != nil {
				return err
			}
			types = append(types, h.ID.TypeID())
		}
		table.Clear(w)
		return nil
	})
	for i, typeID := range types {
		if err != nil || int(typeID) != 4+i%3 {
			t.Fatalf("typeIds %v, %v", types, err)
		}
	}
	if len(types) != 7 || table.Len() != 0 || s.Stats().Tables[0].Vacant != 7 {
		t.Errorf("%v, %d items, %+v", types, table.Len(), s.Stats())
	}
}
