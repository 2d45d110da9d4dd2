package storetest_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"handloom/store"
	"handloom/store/storetest"
)

// unlike runs a frame that differs between the runs with one worker: number is 0, then 1.
func unlike(t *testing.T, play func(ctx context.Context, s *store.Store, f fleet, number int) error) string {
	t.Helper()
	stores := 0
	return run(t, storetest.Options{Workers: []int{1}}, func(s *store.Store) (frame, error) {
		number := stores % 2
		stores++
		f, err := newFleet(s, 30)
		return func(ctx context.Context, tick int) error {
			if tick < 3 {
				return nil
			}
			return play(ctx, s, f, number)
		}, err
	})
}

func (f fleet) erase(ctx context.Context, hulls ...int) error {
	return f.record(ctx, func(q store.Queue) {
		for _, hull := range hulls {
			for h, v := range f.ships.All() {
				if v.Hull == hull {
					f.ships.Erase(q, h)
				}
			}
		}
	})
}

func (f fleet) first() store.Handle[ship] {
	for h := range f.ships.All() {
		return h
	}
	return store.Handle[ship]{}
}

func TestRun_DescribesDifference(t *testing.T) {
	for name, c := range map[string]struct {
		play func(ctx context.Context, s *store.Store, f fleet, number int) error
		want string // parts, with any text at …
	}{
		"an item written in place": {
			func(ctx context.Context, _ *store.Store, f fleet, number int) error {
				return f.ships.ForEach(ctx, func(c store.Chunk[ship]) {
					if c.Index == 2 {
						c.Items[1].Leader.ID += store.ID(number)
					}
				})
			},
			"tick 3, at its end: not the same with 1 worker once more as with 1 worker\n … table \"ship\", shard 1 (typeId 2)\n … row 1 (2:1.1): Leader.ID is 0:0.0 with 1 worker, 0:1.0 with 1 worker once more\n",
		},
		"items that one has": {
			func(ctx context.Context, _ *store.Store, f fleet, number int) error {
				return f.create(ctx, 1+number, func(i int) ship { return ship{Hull: i} })
			},
			"tick 3, flush 1:  … table \"ship\", shard 1 (typeId 2)\n … the number of items is 10 with 1 worker, 11 with 1 worker once more; the first rows are the same\n … the report is epoch 2: 1 created with 1 worker, epoch 2: 2 created with 1 worker once more\n",
		},
		"rows": {
			func(ctx context.Context, _ *store.Store, f fleet, number int) error { return f.erase(ctx, 3+number) },
			"tick 3, flush 1:  … table \"ship\", shard 0 (typeId 1)\n … row 3 holds 1:9.1 with 1 worker, 1:3.1 with 1 worker once more\n",
		},
		"the order of vacant slots": {
			func(ctx context.Context, s *store.Store, f fleet, number int) error {
				return s.Write(ctx, func(w *store.Writer) {
					var rows []store.Handle[ship]
					for h := range f.ships.All() {
						rows = append(rows, h)
					}
					f.ships.Remove(w, rows[9-number])
					f.ships.Remove(w, rows[8+number])
				})
			},
			"tick 3, at its end:  … table \"ship\", shard 0 (typeId 1)\n … items and rows are the same; the order or the generations of vacant slots differ, what Defragment knows, or the order of optional data\n",
		},
		"a report": {
			func(ctx context.Context, s *store.Store, f fleet, number int) error {
				if err := f.erase(ctx, 3); err != nil {
					return err
				}
				if number == 0 {
					return f.erase(ctx, 4, 5)
				}
				return f.erase(ctx, 4, 5, 4)
			},
			"tick 3, flush 2:  … the state is the same\n … the report is epoch 3: 2 erased with 1 worker, epoch 3: 2 erased 1 redundant with 1 worker once more\n",
		},
		"a stale command": {
			func(ctx context.Context, s *store.Store, f fleet, number int) error {
				qs, err := s.Queues(2)
				if err != nil {
					return err
				}
				qs[number].Erase(1)
				_, err = s.Flush(ctx)
				return err
			},
			"tick 3, flush 1:  … the state is the same\n … the first stale commands are [erase of 0:1.0 by task 0 in pass 0 (typeId 0, sequence 0)] with 1 worker, [erase of 0:1.0 by task 1 ",
		},
		"a flush": {
			func(ctx context.Context, _ *store.Store, f fleet, number int) error {
				if err := f.erase(ctx, 3); err != nil || number == 0 {
					return err
				}
				return f.erase(ctx, 4)
			},
			"tick 3, at its end: flushes with commands are 1 with 1 worker, 2 with 1 worker once more\n",
		},
		"what a later flush changes": {
			func(ctx context.Context, _ *store.Store, f fleet, number int) error {
				err := f.create(ctx, 6, func(i int) ship { return ship{Hull: 100 + i*number} })
				if err != nil {
					return err
				}
				return f.create(ctx, 6, func(i int) ship { return ship{Hull: 7} })
			},
			"tick 3, flush 1:  … table \"ship\", shard 0 (typeId 1), and 2 more shards; at the end of the frame\n … row 11 (1:11.1): Hull is 100 with 1 worker, 101 with 1 worker once more\n",
		},
		"what one run changes later": {
			func(ctx context.Context, _ *store.Store, f fleet, number int) error {
				if err := f.create(ctx, 1, func(int) ship { return ship{Hull: number} }); err != nil || number == 0 {
					return err
				}
				return f.ships.ForEach(ctx, func(c store.Chunk[ship]) {
					c.Items[0].Hull = -1
				})
			},
			"tick 3, flush 1:  … table \"ship\", shard 0 (typeId 1); at the end of the frame\n … row 0 (1:0.1): Hull is 0 with 1 worker, -1 with 1 worker once more\n",
		},
		"the report of a table": {
			func(ctx context.Context, s *store.Store, f fleet, number int) error {
				crew := store.Register(s, store.TableOptions[int]{Name: "crew", TypeID: 9})
				var sailor store.Handle[int]
				if err := f.record(ctx, func(q store.Queue) { sailor = crew.Emplace(q, 1) }); err != nil {
					return err
				}
				sailor, _ = crew.Resolve(sailor)
				return f.record(ctx, func(q store.Queue) {
					for range 3 - number {
						f.ships.Erase(q, f.first())
					}
					for range 1 + number {
						crew.Erase(q, sailor)
					}
				})
			},
			"tick 3, flush 2:  … the state is the same\n … the report says ship: 1 erased 2 redundant with 1 worker, ship: 1 erased 1 redundant with 1 worker once more\n",
		},
		"the report of optional data": {
			func(ctx context.Context, s *store.Store, f fleet, number int) error {
				shield := store.AddSparse(f.ships, store.ColumnOptions[int]{Name: "shield"})
				cargo := store.AddSparse(f.ships, store.ColumnOptions[int]{Name: "cargo"})
				return f.record(ctx, func(q store.Queue) {
					for range 2 - number {
						shield.Unset(q, f.first())
					}
					for range 1 + number {
						cargo.Unset(q, f.first())
					}
				})
			},
			"tick 3, flush 1:  … the state is the same\n … the report says ship.shield: 1 superseded 1 redundant with 1 worker, ship.shield: 1 redundant with 1 worker once more\n",
		},
		"optional data that one has": {
			func(ctx context.Context, _ *store.Store, f fleet, number int) error {
				shield := store.AddSparse(f.ships, store.ColumnOptions[int]{Name: "shield"})
				cargo := store.AddSparse(f.ships, store.ColumnOptions[int]{Name: "cargo"})
				return f.record(ctx, func(q store.Queue) {
					cargo.Set(q, f.first(), 1)
					if number == 1 {
						shield.Set(q, f.first(), 1)
					}
				})
			},
			"tick 3, flush 1:  … table \"ship\", shard 0 (typeId 1)\n … row 0 (1:0.1) has [cargo] with 1 worker, [shield cargo] with 1 worker once more\n",
		},
		"what a later flush mends": {
			func(ctx context.Context, s *store.Store, f fleet, number int) error {
				put := func(hull int) error {
					return f.record(ctx, func(q store.Queue) {
						for h := range f.ships.All() {
							f.ships.Put(q, h, ship{Hull: hull})
						}
					})
				}
				return errors.Join(put(number), put(0))
			},
			"tick 3, flush 1:  … table \"ship\", shard 0 (typeId 1), and 2 more shards\n … at the end of the frame it is the same again\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, unlike(t, c.play), append([]string{"storetest: "}, append(strings.Split(c.want, " … "),
				"the same: 1 worker and shuffled tasks\n", "different: 1 worker once more\n", "equal runs differ: ")...)...)
		})
	}
}
