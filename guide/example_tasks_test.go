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
	err := s.Write(ctx, func(w *store.Writer) {
		leader = boats.Insert(w, Boat{Hull: 9, Speed: 2})
		boats.Insert(w, Boat{Hull: 5, Speed: 1, Leader: leader})
	})
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
	hull, err := store.Reduce(ctx, boats, func(r store.Chunk[Boat]) (sum int) {
		for i := range r.Items {
			sum += r.Items[i].Hull
		}
		return sum
	}, func(a, b int) int { return a + b })
	// endregion
	fmt.Println("hull:", hull, err)

	// region part
	leaks := store.AddSparse(boats, store.ColumnOptions[Leak]{Name: "leak"})
	_ = s.Write(ctx, func(w *store.Writer) { leaks.Put(w, leader, Leak{Left: 1}) })
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
	_, err = s.Frame(ctx, func(ctx context.Context, w *store.Writer) error {
		shots.Insert(w, Shot{Target: leader, Damage: 4})
		return store.Fold(ctx, shots, boats, func(e *Shot) store.Handle[Boat] { return e.Target },
			func(b *Boat, e *Shot) { b.Hull -= e.Damage })
	})
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

	// region inbox
	_ = s.Inbox(func(q store.Queue) error { // from any goroutine
		boats.Emplace(q, Boat{Hull: 3})
		return nil
	})
	_, err = s.Flush(ctx)
	// endregion
	fmt.Println("with the inbox:", boats.Len(), err)

	// region back
	var before store.Checkpoint
	_ = s.Checkpoint(ctx, &before)
	_ = s.Do(ctx, boats.EraseAll)
	_, _ = s.Flush(ctx)
	err = s.Rollback(ctx, &before)
	// endregion
	fmt.Println("back:", boats.Len(), err)

	// region kill
	err = s.Write(ctx, func(w *store.Writer) { boats.Remove(w, leader) })
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
	// with the inbox: 3 <nil>
	// back: 3 <nil>
	// after the kill: 2 <nil>
	// without the leader: 1 <nil>
}

func TestExamples_TakeFewLines(t *testing.T) {
	for _, c := range []struct {
		file, code string
		max        int
	}{
		{"example_tasks_test.go", `(?s)// region [^\n]*\n(.*?)// endregion`, 110},
		{"example_view_test.go", `(?s)// region (?:view|near|see|acknowledge)\n(.*?)// endregion`, 25},
		{"../store/example_ants_test.go", `(?s)^(.*)$`, 300},
	} {
		text, err := os.ReadFile(c.file)
		if err != nil {
			t.Fatal(err)
		}
		lines := 0
		for _, code := range regexp.MustCompile(c.code).FindAllStringSubmatch(string(text), -1) {
			for line := range strings.Lines(code[1]) {
				if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
					lines++
				}
			}
		}
		if lines == 0 || lines > c.max {
			t.Errorf("%s: code lines, got %d, want at most %d", c.file, lines, c.max)
		}
		t.Logf("%s: %d code lines", c.file, lines)
	}
}
