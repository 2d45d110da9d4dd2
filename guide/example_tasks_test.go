package main_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"handloom/store"
)

// region types

type Boat struct {
	X, Speed int
	Hull     int
	Leader   store.Handle[Boat]
}

type Leak struct{ Left int }

type Shot struct {
	Target store.Handle[Boat]
	Damage int
}

// endregion

// Everyday tasks in few lines.
func Example_everydayTasks() {
	ctx := context.Background()
	// region setup
	s := store.New(store.Options{})
	boats := store.Register(s, store.TableOptions[Boat]{Name: "boat", Changes: true})
	// endregion

	// region spawn
	var leader store.Handle[Boat]
	_ = s.Do(ctx, func(q store.Queue) {
		leader = boats.Emplace(q, Boat{Hull: 9, Speed: 2})
		boats.Emplace(q, Boat{Hull: 5, Speed: 1, Leader: leader})
	})
	_, err := s.Flush(ctx)
	leader, _ = boats.Resolve(leader)
	// endregion
	fmt.Println("spawned:", boats.Len(), boats.At(leader).Hull, err)

	// region pass
	_ = boats.ForEach(ctx, func(c store.Chunk[Boat]) {
		for _, b := range c.All() {
			b.X += b.Speed
		}
	})
	// endregion

	// region sum
	hull, err := store.Reduce(ctx, boats, func(r store.Rows[Boat]) (sum int) {
		for i := range r.Items {
			sum += r.Items[i].Hull
		}
		return sum
	}, func(a, b int) int { return a + b })
	// endregion
	fmt.Println("hull:", hull, err)

	// region part
	leaks := store.AddSparse(boats, store.ColumnOptions[Leak]{Name: "leak"})
	_ = s.Do(ctx, func(q store.Queue) { leaks.Set(q, leader, Leak{Left: 1}) })
	_, _ = s.Flush(ctx)
	_ = leaks.ForEach(ctx, func(c store.SparseChunk[Boat, Leak]) {
		for i := range c.Items {
			if c.Items[i].Left--; c.Items[i].Left == 0 {
				leaks.Unset(c.Queue, c.Owners[i])
			}
		}
	})
	_, err = s.Flush(ctx)
	// endregion
	fmt.Println("leaks:", leaks.Len(), err)

	// region event
	shots := store.Register(s, store.TableOptions[Shot]{Name: "shot", Events: true})
	_ = s.Do(ctx, func(q store.Queue) { shots.Emplace(q, Shot{Target: leader, Damage: 4}) })
	_, _ = s.Flush(ctx)
	_ = store.Fold(ctx, shots, boats, func(e *Shot) store.Handle[Boat] { return e.Target },
		func(b *Boat, e *Shot) { b.Hull -= e.Damage })
	_, err = s.Flush(ctx) // ends the event
	// endregion
	fmt.Println("after the shot:", boats.At(leader).Hull, err)

	// region schedule
	type on = []store.Resource
	frame := store.NewSchedule(
		s,
		store.System{Name: "aim", Reads: on{boats}, Emits: on{shots}, Run: func(ctx context.Context) error {
			return s.Do(ctx, func(q store.Queue) { shots.Emplace(q, Shot{Target: leader, Damage: 1}) })
		}},
		store.System{Name: "hit", Reads: on{shots}, Writes: on{boats}, Run: func(ctx context.Context) error {
			return store.Fold(ctx, shots, boats, func(e *Shot) store.Handle[Boat] { return e.Target },
				func(b *Boat, e *Shot) { b.Hull -= e.Damage })
		}},
		store.System{Name: "sink", Reads: on{boats}, Emits: on{boats}, Run: func(ctx context.Context) error {
			return store.EraseFunc(ctx, boats, func(b *Boat) bool { return b.Hull <= 0 })
		}},
	)
	_, err = frame.Run(ctx)
	// endregion
	fmt.Println("after the frame:", boats.At(leader).Hull, err)

	// region changes
	for h := range store.Created(boats) {
		fmt.Println("new:", h)
	}
	for h, b := range store.Written(boats) {
		fmt.Println("changed:", h, b.Hull)
	}
	for h := range store.Erased(boats) {
		fmt.Println("gone:", h)
	}
	// endregion

	// region save
	var image bytes.Buffer
	_ = s.Snapshot(ctx, &image)
	other := store.New(store.Options{})
	again := store.Register(other, store.TableOptions[Boat]{Name: "boat", Changes: true})
	store.AddSparse(again, store.ColumnOptions[Leak]{Name: "leak"})
	store.Register(other, store.TableOptions[Shot]{Name: "shot", Events: true})
	err = other.Load(ctx, &image)
	// endregion
	fmt.Println("loaded:", again.At(leader).Hull, err)

	// region kill
	_ = store.EraseFunc(ctx, boats, func(b *Boat) bool { return b.Speed == 2 })
	_, err = s.Flush(ctx)
	// endregion
	fmt.Println("after the kill:", boats.Len(), err)

	// region cascade
	_ = store.EraseOrphans(ctx, boats, boats, func(b *Boat) store.Handle[Boat] { return b.Leader })
	_, err = s.Flush(ctx)
	// endregion
	fmt.Println("without the leader:", boats.Len(), err)
	// Output:
	// spawned: 2 9 <nil>
	// hull: 14 <nil>
	// leaks: 0 <nil>
	// after the shot: 5 <nil>
	// after the frame: 4 <nil>
	// changed: 1:0.1 4
	// loaded: 4 <nil>
	// after the kill: 1 <nil>
	// without the leader: 0 <nil>
}

func TestEverydayTasks_TakeFewLines(t *testing.T) {
	text, err := os.ReadFile("example_tasks_test.go")
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for _, region := range regexp.MustCompile(`(?s)// region [^\n]*\n(.*?)// endregion`).FindAllSubmatch(text, -1) {
		for line := range strings.Lines(string(region[1])) {
			if strings.TrimSpace(line) != "" {
				lines++
			}
		}
	}
	if lines == 0 || lines > 110 {
		t.Errorf("code lines of the tasks, got %d, want at most 110", lines)
	}
	t.Logf("%d code lines", lines)
}
