package world_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"handloom/store"
	"handloom/world"
)

type directory struct {
	*store.Store
	world *world.World
	units *store.Table[unit]
	names *store.Index[string, unit]
}

func openDirectory(t *testing.T, workers int, log world.Log) *directory {
	t.Helper()
	s := store.New(store.Options{Workers: workers})
	units := store.Register(s, store.TableOptions[unit]{Name: "unit", Shards: 3})
	d := &directory{Store: s, units: units, names: store.AddIndex(units, "name", func(u *unit) (string, bool) { return u.Name, true })}
	var err error
	d.world, err = world.Open(t.Context(), s, log, world.Options{
		Version: "directory", SnapshotTicks: 3, DigestTicks: 1, Shadow: 1,
		Tick: func(ctx context.Context, _ *store.Writer, _ world.Tick) error {
			_, err := s.Flush(ctx)
			return err
		},
	})
	noError(t, err)
	return d
}

// join submits a new unit.
func (d *directory) join(t *testing.T, name string) *submission {
	return submit(t.Context(), d.world, func(q store.Queue) error {
		d.units.Emplace(q, unit{Name: name})
		return nil
	})
}

// rename submits a put with another name.
func (d *directory) rename(t *testing.T, from, to string) *submission {
	h, _ := d.names.Find(from)
	return submit(t.Context(), d.world, func(q store.Queue) error {
		d.units.Put(q, h, unit{Name: to})
		return nil
	})
}

func TestIndex_OneClientGetsKey(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		inBubble(t, fmt.Sprintf("workers=%d", workers), func(t *testing.T) {
			log := world.Memory()
			leader := openDirectory(t, 1, log)
			all := []*directory{leader, openDirectory(t, workers, log)}
			tick := func(calls ...*submission) {
				t.Helper()
				for _, d := range all {
					mustStep(t, d.world)
				}
				synctest.Wait()
				for i, s := range calls {
					if !s.done {
						t.Fatalf("call %d still waits", i)
					}
				}
			}
			first, second, other := leader.join(t, "Ada"), leader.join(t, "Ada"), leader.join(t, "Bob")
			tick(first, second, other)
			wantError(t, second.err, store.ErrDuplicate)
			exchanged := []*submission{leader.rename(t, "Ada", "Bob"), leader.rename(t, "Bob", "Ada")}
			tick(exchanged...)
			freed, again, late := leader.rename(t, "Ada", "Eve"), leader.join(t, "Ada"), leader.join(t, "Bob")
			tick(freed, again, late)
			wantError(t, late.err, store.ErrDuplicate)
			for _, s := range append(exchanged, first, other, freed, again) {
				wantError(t, s.err, nil)
			}
			tick() // the snapshot has tick 3
			mustClose(t, all[1].world, leader.world)

			reopened := openDirectory(t, workers, log)
			replayed := openDirectory(t, workers, log)
			all = append(all, reopened, replayed)
			want, err := leader.Digest(t.Context())
			noError(t, err)
			for i, d := range all {
				got, err := d.Digest(t.Context())
				noError(t, err)
				equal(t, fmt.Sprint("digest of store ", i), got, want)
				for _, name := range []string{"Ada", "Bob", "Eve", "Joe"} {
					h, ok := leader.names.Find(name)
					at, found := d.names.Find(name)
					failIf(t, at != h || found != ok || found != (name != "Joe"), "store %d: %s is %v, %t, want %v", i, name, at, found, h)
				}
			}
			all = []*directory{reopened, replayed}
			tick() // starts a term
			late = reopened.join(t, "Bob")
			tick(late)
			wantError(t, late.err, store.ErrDuplicate)
			mustClose(t, replayed.world, reopened.world)
		})
	}
}
