package store_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"handloom/store"
)

var (
	schedulesFor = flag.Duration("schedules", 0, "run random schedules for this long; see make schedules")
	scheduleSeed = flag.Uint64("schedule-seed", 1, "seed of the first random schedule")
)

// Other goroutines, started from conditions of systems, wait for the Run. To replay a seed: go
// test ./store -run TestSchedule_MatchesModel -schedule-seed N.
func TestSchedule_MatchesModel(t *testing.T) {
	first, programs := *scheduleSeed, uint64(60)
	if testing.Short() {
		programs = 20
	}
	begin := time.Now()
	for seed := first; seed < first+programs || time.Since(begin) < *schedulesFor; seed++ {
		for _, workers := range []int{1, 2, 8} {
			var faults []string
			synctest.Test(t, func(t *testing.T) { faults = runScheduleProgram(t, seed, workers) })
			if len(faults) > 0 {
				t.Fatalf("-schedule-seed %d, %d workers: %s", seed, workers, strings.Join(faults, "\n"))
			}
		}
	}
}

type creature struct {
	Key, Age uint64
	Parent   store.Handle[creature]
}

type herd struct {
	*store.Store
	table *store.Table[creature]
	mail  *store.Table[creature]

	// The fields below belong to the goroutine that holds the store exclusively.
	ages    map[uint64]uint64 // the model: ages by key
	nextKey uint64
	saved   map[uint64]uint64
	before  store.Checkpoint

	others sync.WaitGroup
	mutex  sync.Mutex
	faults []string
	sent   []uint64 // keys of inbox calls that have returned
	undone bool
}

func (h *herd) fault(format string, args ...any) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.faults = append(h.faults, fmt.Sprintf(format, args...))
}

func runScheduleProgram(t *testing.T, seed uint64, workers int) []string {
	random := rand.New(rand.NewPCG(seed, 0))
	s := store.New(store.Options{Workers: workers})
	h := &herd{Store: s, ages: make(map[uint64]uint64)}
	h.table = register(t, s, store.TableOptions[creature]{
		Name: "herd", Shards: 1 + random.IntN(3), ChunkItems: 1 + random.IntN(40), MinFree: random.IntN(3),
	})
	h.mail = register(t, s, store.TableOptions[creature]{Name: "mail"})
	if random.IntN(2) == 0 {
		noError(t, s.Shuffle(seed))
	}
	h.do("fill", func(ctx context.Context) error { return h.insert(ctx, 60) })
	for range 3 + random.IntN(4) {
		run, inWrite := h.drawRun(t, random, 2), random.IntN(4) == 0
		h.do("Run", func(ctx context.Context) error {
			if inWrite {
				return onlyError(h.Frame(ctx, func(ctx context.Context, _ *store.Writer) error { return run(ctx) }))
			}
			return run(ctx)
		})
		if random.IntN(2) == 0 {
			h.others.Wait()
		}
	}
	h.others.Wait()
	h.do("the end", func(ctx context.Context) error {
		if _, err := s.Flush(ctx); err != nil {
			return err
		}
		h.checkMail()
		return errors.Join(h.Read(ctx, h.check("at the end")), s.Verify(ctx))
	})
	return h.faults
}

// do makes a call, and repeats it if the claim of another goroutine prevented it.
func (h *herd) do(what string, call func(ctx context.Context) error) {
	err := call(context.Background())
	for err != nil && strings.Contains(err.Error(), "a driver has claimed") {
		time.Sleep(time.Nanosecond) // virtual: until all others wait
		err = call(context.Background())
	}
	if err != nil {
		h.fault("%s: %v", what, err)
	}
}

func (h *herd) check(when string) func(context.Context) error {
	return func(context.Context) error {
		got := make(map[uint64]uint64)
		for name, v := range h.table.All() {
			got[v.Key] = v.Age
			if at, ok := h.table.Get(name); !ok || at != v {
				h.fault("%s: %v finds %v, %t", when, name, at, ok)
			}
		}
		if !maps.Equal(got, h.ages) || h.table.Len() != len(got) {
			h.fault("%s: the ages by key are\n%v, want\n%v", when, got, h.ages)
		}
		return nil
	}
}

func (h *herd) checkMail() {
	got := make(map[uint64]int)
	for _, v := range h.mail.All() {
		got[v.Key]++
	}
	for _, key := range h.sent {
		if n := got[key]; n > 1 || n == 0 && !h.undone {
			h.fault("a call of the inbox was applied %d times", n)
		}
	}
}

func (h *herd) key() uint64 {
	h.nextKey++
	return h.nextKey
}

func (h *herd) insert(ctx context.Context, n int) error {
	return h.Write(ctx, func(w *store.Writer) {
		for range n {
			key := h.key()
			h.ages[key] = 0
			h.table.Insert(w, creature{Key: key})
		}
	})
}

type chosen struct{ modulus, rest uint64 }

func drawChosen(random *rand.Rand) chosen {
	c := chosen{modulus: 2 + random.Uint64N(6)}
	c.rest = random.Uint64N(c.modulus)
	return c
}

func (c chosen) has(key uint64) bool { return key%c.modulus == c.rest }

type randomSystem struct {
	herd  *herd
	kind  string
	which chosen
	base  uint64
	makes uint64
	group store.Groups[creature, creature]
}

func (y *randomSystem) declare(name string) store.System {
	on := []store.Resource{y.herd.table}
	s := store.System{Name: name, Run: y.run}
	switch y.kind {
	case "idle":
	case "create":
		s.Emits = on
	case "put", "erase rows":
		s.Reads, s.Emits = on, on
	case "age":
		s.Writes = on
	default:
		s.Writes, s.Emits = on, on
	}
	return s
}

func (y *randomSystem) run(ctx context.Context) error {
	table := y.herd.table
	erase := func(items []creature, erase func(int)) error {
		for i := range items {
			if y.which.has(items[i].Key) {
				erase(i)
			}
		}
		return nil
	}
	switch y.kind {
	case "create":
		return y.herd.Each(ctx, int(y.makes), func(task int, q store.Queue) {
			table.Emplace(q, creature{Key: y.base + uint64(task)})
		})
	case "put":
		return y.herd.Do(ctx, func(q store.Queue) {
			for name, v := range table.All() {
				if y.which.has(v.Key) {
					table.Put(q, name, creature{Key: v.Key, Age: v.Age + 1})
				}
			}
		})
	case "age":
		return table.ForEach(ctx, func(c store.Chunk[creature]) {
			for i := range c.Items {
				if y.which.has(c.Items[i].Key) {
					c.Items[i].Age++
				}
			}
		})
	case "erase items":
		return table.ForEach(ctx, func(c store.Chunk[creature]) { c.Queue.Fail(erase(c.Items, c.Erase)) })
	case "erase rows":
		return table.ForEachRows(ctx, func(c store.Chunk[creature]) { c.Queue.Fail(erase(c.Items, c.Erase)) })
	case "erase groups":
		err := store.GroupBy(ctx, &y.group, table, table, func(v *creature) store.Handle[creature] { return v.Parent })
		if err != nil {
			return err
		}
		return y.group.ForEach(ctx, func(c store.GroupChunk[creature, creature]) {
			c.Owners.Queue.Fail(erase(c.Owners.Items, c.Owners.Erase))
		})
	}
	return nil
}

// model changes the model as the system will change the store.
func (y *randomSystem) model() {
	ages := y.herd.ages
	switch y.kind {
	case "create":
		y.base = y.herd.nextKey + 1
		y.herd.nextKey += y.makes
		for i := range y.makes {
			ages[y.base+i] = 0
		}
	case "put", "age":
		for key := range ages {
			if y.which.has(key) {
				ages[key]++
			}
		}
	case "erase items", "erase rows", "erase groups":
		maps.DeleteFunc(ages, func(key, _ uint64) bool { return y.which.has(key) })
	}
}

var randomKinds = []string{"idle", "idle", "create", "put", "age", "erase items", "erase items", "erase rows", "erase groups"}

// drawRun draws a schedule whose conditions start other goroutines. Before the first wave the
// model makes all changes of the Run.
func (h *herd) drawRun(t *testing.T, random *rand.Rand, depth int) (run func(ctx context.Context) error) {
	n := 1 + random.IntN(5)
	all, given := make([]*randomSystem, n), make([]store.System, n)
	asked := 0
	for i := range all {
		y := &randomSystem{herd: h, kind: randomKinds[random.IntN(len(randomKinds))], which: drawChosen(random), makes: random.Uint64N(20)}
		all[i], given[i] = y, y.declare(fmt.Sprint(i))
		if i > 0 && random.IntN(2) == 0 {
			given[i].After = []string{fmt.Sprint(random.IntN(i))}
		}
		var others []func()
		for range random.IntN(3) {
			others = append(others, h.drawOther(t, random, depth-1))
		}
		given[i].If = func() bool {
			if asked++; asked == 1 {
				for _, y := range all {
					y.model()
				}
			}
			for _, other := range others {
				h.others.Go(other)
				synctest.Wait() // it has returned, or is next at the gate
			}
			return true
		}
	}
	schedule := newSchedule(t, h.Store, given...)
	return func(ctx context.Context) error {
		asked = 0
		return onlyError(schedule.Run(ctx))
	}
}

// drawOther draws a call of another goroutine, made while a wave runs.
func (h *herd) drawOther(t *testing.T, random *rand.Rand, depth int) func() {
	kinds := []string{"Read", "Read", "Write", "Write", "Write", "Write", "pass in a Write", "Flush", "Digest", "Claim", "Inbox", "Checkpoint", "Rollback", "Queues", "Stats"}
	if depth > 0 {
		kinds = append(kinds, "Run", "Run")
	}
	kind, which, n := kinds[random.IntN(len(kinds))], drawChosen(random), random.IntN(12)
	change := []string{"Remove", "Clear", "Insert", "Sort", "Remove and Insert"}[random.IntN(5)]
	if change == "Clear" && random.IntN(3) > 0 {
		change = "Remove"
	}
	if kind == "Run" {
		run := h.drawRun(t, random, depth)
		return func() { h.do("a Run of another goroutine", run) }
	}
	call := map[string]func(ctx context.Context) error{
		"Read": func(ctx context.Context) error { return h.Read(ctx, h.check("a Read")) },
		"Write": func(ctx context.Context) error {
			return onlyError(h.Frame(ctx, func(ctx context.Context, w *store.Writer) error {
				_ = h.check("a Write")(ctx)
				return h.change(ctx, w, change, which, n)
			}))
		},
		"pass in a Write": func(ctx context.Context) error {
			return onlyError(h.Frame(ctx, func(ctx context.Context, w *store.Writer) error {
				y := &randomSystem{herd: h, kind: "erase items", which: which}
				if err := y.run(ctx); err != nil {
					return err
				}
				erased := maps.Clone(h.ages)
				maps.DeleteFunc(erased, func(key, _ uint64) bool { return !which.has(key) })
				err := h.change(ctx, w, change, drawnOther(which), n)
				if err == nil {
					_, err = h.Flush(ctx)
				}
				maps.DeleteFunc(h.ages, func(key, _ uint64) bool { _, is := erased[key]; return is })
				return errors.Join(err, h.check("after a pass in a Write")(ctx))
			}))
		},
		"Flush": func(ctx context.Context) error {
			if _, err := h.Flush(ctx); !errors.Is(err, store.ErrPhase) || strings.Contains(err.Error(), "claimed") {
				return err
			}
			return nil // another claim waits
		},
		"Digest": func(ctx context.Context) error { return onlyError(h.Digest(ctx)) },
		"Claim": func(ctx context.Context) error {
			c, err := openClaim(ctx, h.Store)
			if err == nil {
				c.Release()
			}
			if errors.Is(err, store.ErrPhase) {
				err = nil // calls of the inbox wait
			}
			return err
		},
		"Inbox": func(context.Context) error {
			h.mutex.Lock()
			defer h.mutex.Unlock()
			key := uint64(len(h.sent) + 1)
			err := h.Inbox(func(q store.Queue) error { h.mail.Emplace(q, creature{Key: key}); return nil })
			if err == nil {
				h.sent = append(h.sent, key)
			}
			return err
		},
		"Checkpoint": func(ctx context.Context) error {
			return onlyError(h.Frame(ctx, func(ctx context.Context, _ *store.Writer) error {
				h.saved = maps.Clone(h.ages)
				return h.Checkpoint(ctx, &h.before)
			}))
		},
		"Rollback": func(ctx context.Context) error {
			return onlyError(h.Frame(ctx, func(ctx context.Context, _ *store.Writer) error {
				if h.saved == nil {
					return nil
				}
				h.mutex.Lock()
				h.undone = true
				h.mutex.Unlock()
				h.ages = maps.Clone(h.saved)
				return h.Rollback(ctx, &h.before)
			}))
		},
		"Queues": func(context.Context) error {
			if _, err := h.Queues(1); !errors.Is(err, store.ErrPhase) {
				return fmt.Errorf("between waves it returns %v, want ErrPhase", err)
			}
			return nil
		},
		"Stats": func(context.Context) error { h.Stats(); return nil },
	}[kind]
	return func() { h.do(kind+" of another goroutine", call) }
}

func drawnOther(c chosen) chosen { return chosen{c.modulus + 1, c.rest} }

func (h *herd) change(ctx context.Context, w *store.Writer, kind string, which chosen, n int) error {
	switch kind {
	case "Clear":
		clear(h.ages)
		h.table.Clear(w)
	case "Sort":
		return store.SortFunc(ctx, h.table, w, func(a, b *creature) int {
			return int(a.Key*7%which.modulus) - int(b.Key*7%which.modulus)
		})
	}
	if strings.HasPrefix(kind, "Remove") {
		var names []store.Handle[creature]
		for name, v := range h.table.All() {
			if which.has(v.Key) {
				names = append(names, name)
				delete(h.ages, v.Key)
			}
		}
		for _, name := range slices.Backward(names) {
			h.table.Remove(w, name)
		}
	}
	if strings.HasSuffix(kind, "Insert") {
		for range n {
			key := h.key()
			h.ages[key] = 0
			h.table.Insert(w, creature{Key: key})
		}
	}
	return nil
}
