package store_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"handloom/store"

	"golang.org/x/sync/errgroup"
)

// Readers and the frame loop continue until each has done its share, so neither starves.
func TestRead_SharesWithAFrameLoop(t *testing.T) {
	const readers, frames, looks = 3, 60, 60
	s, table := newTable(t, store.Options{Workers: 2}, store.TableOptions[item]{Shards: 2, ChunkItems: 16})
	fill(t, s, table, 200)
	var looked [readers]atomic.Int64
	var framed atomic.Int64
	behind := func() bool {
		for i := range looked {
			if looked[i].Load() < looks {
				return true
			}
		}
		return framed.Load() < frames
	}
	var g errgroup.Group
	for i := range readers {
		g.Go(func() error {
			for behind() {
				if err := s.Read(t.Context(), func(ctx context.Context) error { return look(ctx, t, s, table) }); err != nil {
					return err
				}
				looked[i].Add(1)
				s.Stats()
			}
			return nil
		})
	}
	for behind() {
		runFrame(t, s, func(ctx context.Context, w *store.Writer) error {
			table.Insert(w, item{})
			pass := table.ForEach(ctx, func(c store.Chunk[item]) {
				for i := range c.Items {
					c.Items[i].Value++
					if i == int(framed.Load())%16 {
						c.Erase(i)
						table.Emplace(c.Queue, c.Items[i])
					}
				}
			})
			emplaceIn(t, s, ctx, table, 1)
			return errors.Join(pass, onlyError(s.Flush(ctx)))
		})
		framed.Add(1)
	}
	noError(t, g.Wait())
}

func look(ctx context.Context, t *testing.T, s *store.Store, table *store.Table[item]) error {
	var total uint64
	for _, v := range table.All() {
		total += v.Value
	}
	if got, err := sum(ctx, table); got != total || table.Len()%2 != 0 {
		t.Errorf("Reduce adds up to %d, the %d items to %d, %v", got, table.Len(), total, err)
	}
	return s.Verify(ctx)
}
