package store_test

import (
	"context"
	"testing"

	"handloom/store"
)

type node struct {
	Value  int
	Parent store.Handle[node]
}

func TestSmoke(t *testing.T) {
	ctx := context.Background()
	var first uint64
	for _, workers := range []int{1, 2, 7} {
		s, err := store.New(store.Options{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		nodes, err := store.Register(s, store.TableOptions[node]{Shards: 3, ChunkItems: 8})
		if err != nil {
			t.Fatal(err)
		}
		for frame := range 50 {
			if err := nodes.ForEach(ctx, func(ctx context.Context, c store.Chunk[node]) error {
				for i := range c.Items {
					c.Items[i].Value++
					if c.Items[i].Value%7 == 0 {
						c.Erase(i)
					} else if c.Items[i].Value%5 == 0 {
						nodes.Put(c.Queue, c.Handle(i), node{Value: 1})
					}
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			var p store.Handle[node]
			if err := s.Each(ctx, 5, func(ctx context.Context, task int, q store.Queue) error {
				var last store.Handle[node]
				for i := range 20 + frame {
					h := nodes.Emplace(q, node{Value: i, Parent: last})
					if i%3 == 0 {
						nodes.Erase(q, h)
					}
					last = h
				}
				if task == 0 {
					p = last
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			r, err := s.Flush(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if frame%10 == 0 {
				h, ok := nodes.Resolve(p)
				t.Log(r, nodes.Len(), p, h, ok)
			}
			if err := s.Verify(ctx); err != nil {
				t.Fatal(err)
			}
		}
		d, _ := s.Digest(ctx)
		if first == 0 {
			first = d
		}
		if d != first {
			t.Fatalf("digest %x, want %x", d, first)
		}
		t.Log(s.Stats(), d)
	}
}
