package history_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"handloom/history"
	"handloom/journal"
	"handloom/store"
	"handloom/world"
)

var plantedTicks = flag.Uint64("planted", 0, "ticks of each game with a planted fault, under kills; 36000 are ten minutes at 60 Hz; 0: few")

// A plant is a fault of a game in one tick. The game notes the truth about it.
type plant struct {
	name string
	tick uint64
	now  uint64 // the current tick

	item     store.ID
	from, to string // of the field
	sequence int    // number of the command, if the table of faults has none
}

func (p *plant) is(name string) bool { return p.name == name && p.now == p.tick }

func (p *plant) note(id store.ID, from, to any) {
	p.item, p.from, p.to = id, fmt.Sprint(from), fmt.Sprint(to)
}

// set sets a field and notes it.
func set[T any](p *plant, id store.ID, field *T, to T) {
	p.note(id, *field, to)
	*field = to
}

func (p *plant) truth() *plant { return p }

// The test binary plays a game under kills if its name is GAME+FAULT+TICK.
func TestMain(m *testing.M) {
	parts := strings.Split(filepath.Base(os.Args[0]), "+")
	if len(parts) < 3 {
		goleak.VerifyTestMain(m)
		return
	}
	at, _ := strconv.ParseUint(parts[2], 10, 64)
	playAs(plant{name: parts[1], tick: at}, games[parts[0]], os.Args[1:])
}

// built returns a program, as a name for the test binary.
func built(t *testing.T, name string) string {
	t.Helper()
	self, err := os.Executable()
	noError(t, err)
	path := filepath.Join(t.TempDir(), name)
	noError(t, os.Symlink(self, path))
	return path
}

// A planted is a game with a plant.
type planted interface {
	game() (*store.Store, world.Options, history.Checks, error)
	truth() *plant
}

// A fault is a plant and its cause.
type fault struct {
	name  string
	field string // "": the item
	want  history.Cause
	later uint64 // ticks from the fault to the question
	calls int    // number of calls that make the fault
}

// command is a command of the first task, unless task is another.
func command(kind, system string, task int) history.Cause {
	return history.Cause{Kind: kind, System: system, Task: task}
}

// place is a write by a task, or outside of tasks.
func place(kind, system string, task int) history.Cause {
	return history.Cause{Kind: kind, System: system, Task: task, Sequence: -1}
}

// call is a command of the last of the calls that a tick takes.
func call(number int, lost ...history.Cause) history.Cause {
	return history.Cause{Kind: "put", Task: -1, Call: number, Lost: lost}
}

var arenaFaults = []fault{
	{name: "put", field: "Team", want: command("put", "mend", 0)},
	{name: "superseded put", field: "Team", want: history.Cause{Kind: "put", System: "mend", Sequence: 1, Lost: []history.Cause{command("put", "mend", 0)}}},
	{name: "create", want: command("create", "steer", 1)},
	{name: "erase by handle", want: command("erase", "mend", 0)},
	{name: "erase by row", want: command("erase", "fly", 0)},
	{name: "erase all", want: command("erase all", "hit", 0)},
	{name: "set", field: "hull.Hit", want: command("set", "mend", 0)},
	{name: "for each", field: "Team", want: place("in place", "steer", 2)},
	{name: "column", field: "hull.Hit", want: place("in place", "rest", 0)},
	{name: "late", field: "hull.Hit", want: place("in place", "rest", 0)},
	{name: "groups", field: "Team", want: place("in place", "count", 1)},
	{name: "between phases", field: "Team", want: place("in place", "", -1)},
	{name: "in a system", field: "hull.Hit", want: place("in place", "suffer", -1)},
	{name: "insert", field: "Team", want: place("at once", "", -1)},
	{name: "dangling link", want: command("erase", "hit", 0)},
	{name: "one call", field: "Team", want: call(1), calls: 1},
	{name: "two calls", field: "Team", want: call(2, call(1)), calls: 2},
	{name: "long before", field: "Team", want: call(1), calls: 1, later: 500},
}

var colonyFaults = []fault{
	{name: "unset", field: "food", want: command("unset", "grow", 0)},
	{name: "wrong set", field: "food", want: command("set", "grow", 0)},
	{name: "remove", field: "food", want: place("at once", "", -1)},
	{name: "stable", field: "Color", want: place("in place", "decay", 0)},
	{name: "twin", field: "Mood", want: command("create", "release", 0)},
	{name: "lost node", want: command("erase", "walk", 1)},
	{name: "mistaken ant", field: "Mood", want: place("in place", "walk", 0)},
}

var games = map[string]func(workers int, p plant) planted{"arena": newArenaGame, "colony": func(workers int, p plant) planted { return newColony(workers, p) }}

// A game is played by processes that are killed. -v prints the time of each answer:
//
//	go test ./history -run NamesPlantedFaults -parallel 1 -timeout 1h -v -args -planted 36000
func TestWhy_NamesPlantedFaults(t *testing.T) {
	for game, faults := range map[string][]fault{"arena": arenaFaults, "colony": colonyFaults} {
		lines := markers(t, game+"_test.go")
		for i, f := range faults {
			if testing.Short() && i%6 > 0 {
				continue
			}
			t.Run(f.name, func(t *testing.T) {
				t.Parallel()
				r := record(t, f, game)
				begin := time.Now()
				h, err := history.Open(t.Context(), r.dir, r.game(), history.Options{})
				noError(t, err)
				opened := time.Since(begin)
				got, err := h.Why(t.Context(), r.item, f.field, r.tick+f.later)
				noError(t, err)
				t.Log("opened after", opened, "explained after", time.Since(begin), got)
				r.compare(t, got, f, lines[f.name])
				r.compareScript(t, h, f, games[game])
				noError(t, h.Close())
				t.Log("all after", time.Since(begin))
			})
		}
	}
}

// A killed process may also refuse its own log.
func TestWhy_RefusesPlantedImpurity(t *testing.T) {
	for _, name := range []string{"variable", "map order"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := fault{name: name}
			r := newRecording(t, plant{name: name, tick: 1}, newArenaGame)
			if failed := r.playUnderKills(t, "arena", max(fewTicks, *plantedTicks), f); failed != "" && !strings.Contains(failed, "differ") {
				t.Error(failed)
			}
			h, err := history.Open(t.Context(), r.dir, r.game(), history.Options{})
			if err == nil {
				err = errors.Join(h.Verify(t.Context()), h.Close())
			}
			if !errors.Is(err, history.ErrImpure) {
				t.Errorf("got %v, want %v", err, history.ErrImpure)
			}
		})
	}
}

// markers returns the lines with "// fault NAME" by name, as FILE:LINE.
func markers(t *testing.T, file string) map[string]string {
	text, err := os.ReadFile(file)
	noError(t, err)
	lines := map[string]string{}
	for i, line := range strings.Split(string(text), "\n") {
		if _, name, ok := strings.Cut(line, "// fault "); ok {
			lines[name] = fmt.Sprintf("%s:%d", file, i+1)
		}
	}
	return lines
}

// A recording is a journal with a planted fault.
type recording struct {
	plant // the truth
	dir   string
	start func(workers int) planted

	journal   journal.Options
	snapshots int // ticks between two
	kill      func()
}

func newRecording(t *testing.T, p plant, start func(workers int, p plant) planted) *recording {
	return recordingIn(filepath.Join(t.TempDir(), "log"), p, start)
}

func recordingIn(dir string, p plant, start func(workers int, p plant) planted) *recording {
	return &recording{
		plant: p, dir: dir, start: func(workers int) planted { return start(workers, p) },
		journal: journal.Options{Sync: journal.Never, Keep: 1 << 30}, snapshots: 1000,
	}
}

func (r *recording) game() history.Game {
	return history.Game{New: func(workers int) (*store.Store, world.Options, history.Checks, error) {
		return r.start(workers).game()
	}}
}

const (
	faultTick = 60
	fewTicks  = 100
	runTicks  = 40 // between two kills
)

// record plays a game with a fault on a journal, in processes that are killed at random moments.
func record(t *testing.T, f fault, game string) *recording {
	t.Helper()
	p, ticks := plant{name: f.name, tick: faultTick}, fewTicks+f.later
	if *plantedTicks > 0 {
		ticks, p.tick = *plantedTicks, *plantedTicks/2+7 // no snapshot has it before a kill
	}
	r := newRecording(t, p, games[game])
	if failed := r.playUnderKills(t, game, ticks, f); failed != "" {
		t.Fatal(failed)
	}
	return r
}

// playUnderKills returns the error of a process that failed, or "" after the last tick.
func (r *recording) playUnderKills(t *testing.T, game string, ticks uint64, f fault) string {
	t.Helper()
	program := built(t, fmt.Sprint(game, "+", r.name, "+", r.tick))
	random := rand.New(rand.NewPCG(1, ticks))
	for kills := 0; ; kills++ {
		child := exec.Command(program, r.dir, fmt.Sprint(ticks), fmt.Sprint(f.later), fmt.Sprint(f.calls))
		var stderr strings.Builder
		child.Stderr = &stderr
		out, err := child.StdoutPipe()
		noError(t, err)
		noError(t, child.Start())
		lines := bufio.NewScanner(out)
		for range random.Uint64N(2 * max(runTicks, ticks/20)) {
			lines.Scan()
		}
		noError(t, errors.Join(lines.Err(), ignore(child.Process.Kill(), os.ErrProcessDone)))
		err = child.Wait()
		if err == nil || stderr.Len() > 0 {
			t.Log(kills, "kills")
			r.readTruth(t)
			return stderr.String()
		}
	}
}

func ignore(err, kind error) error {
	if errors.Is(err, kind) {
		return nil
	}
	return err
}

// playing is the test of a process that plays: failures go to stderr.
type playing struct{ testing.TB }

func (playing) Helper()                  {}
func (playing) Context() context.Context { return context.Background() }
func (playing) Fatal(args ...any) {
	fmt.Fprintln(os.Stderr, args...)
	os.Exit(1)
}

// playAs plays a game until a tick, and until some ticks after a fault by calls. It prints the number
// of each tick.
func playAs(p plant, start func(workers int, p plant) planted, args []string) {
	t := playing{}
	var numbers [3]uint64
	for i := range numbers {
		var err error
		numbers[i], err = strconv.ParseUint(args[i+1], 10, 64)
		noError(t, err)
	}
	ticks, later, calls := numbers[0], numbers[1], int(numbers[2])
	r := recordingIn(args[0], p, start)
	r.readTruth(t)
	w, g := r.open(t)
	for now := w.Status().Tick; now < max(ticks, r.tick+later) || calls > 0 && r.item == 0; now = w.Status().Tick {
		fmt.Println(now)
		a, isArena := g.(*arena)
		if calls > 0 && isArena && r.item == 0 && now >= r.tick {
			r.call(t, a, w, calls)
			r.writeTruth(t)
			continue
		}
		step(t, w)
		if p := g.truth(); r.item == 0 && p.item != 0 {
			r.plant = *p
			r.writeTruth(t)
		}
	}
	r.kill()
}

// A truth is a plant in a file next to the log.
type truth struct {
	Tick     uint64
	Item     store.ID
	From, To string
	Sequence int
}

func (r *recording) writeTruth(t testing.TB) {
	b, err := json.Marshal(truth{r.tick, r.item, r.from, r.to, r.sequence})
	noError(t, err)
	noError(t, os.WriteFile(r.dir+".new", b, 0o600))
	noError(t, os.Rename(r.dir+".new", r.dir+".truth"))
}

func (r *recording) readTruth(t testing.TB) {
	b, err := os.ReadFile(r.dir + ".truth")
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	noError(t, err)
	var v truth
	noError(t, json.Unmarshal(b, &v))
	r.tick, r.item, r.from, r.to, r.sequence = v.Tick, v.Item, v.From, v.To, v.Sequence
}

// open opens the world.
func (r *recording) open(t testing.TB) (*world.World, planted) {
	t.Helper()
	log, err := journal.Open(r.dir, r.journal)
	noError(t, err)
	g := r.start(2)
	s, o, _, _ := g.game()
	o.Idle, o.SnapshotTicks = 1, r.snapshots
	w, err := world.Open(t.Context(), s, log, o)
	noError(t, err)
	r.kill = func() {
		noError(t, log.Close()) // as good as a kill
		_ = w.Close(context.Background())
		if p := g.truth(); p.item != 0 {
			r.plant = *p
		}
	}
	return w, g
}

func step(t testing.TB, w *world.World) {
	t.Helper()
	_, err := w.Step(t.Context())
	noError(t, err)
}

// call makes the fault with calls that one tick takes.
func (r *recording) call(t testing.TB, a *arena, w *world.World, calls int) {
	var h store.Handle[fighter]
	for h = range a.fighters.All() {
		break
	}
	for team := max(1000, a.fighters.At(h).Team+1); ; team += calls { // an earlier process may have called
		before := a.fighters.At(h).Team
		receipts := make(chan *store.Receipt)
		for n := range calls {
			go func() {
				receipt, _ := w.Submit(t.Context(), func(q store.Queue) error {
					a.fighters.Put(q, h, fighter{Team: team + n})
					return nil
				})
				receipts <- receipt
			}()
		}
		ticks := map[uint64]bool{}
		for left := calls; left > 0; {
			select {
			case receipt := <-receipts:
				ticks[receipt.Tick()] = true
				r.tick = receipt.Tick()
				left--
			default:
				step(t, w)
				runtime.Gosched() // see submit
			}
		}
		if len(ticks) == 1 {
			r.note(h.ID, before, a.fighters.At(h).Team)
			return
		}
	}
}

func (r *recording) compare(t *testing.T, got history.Change, f fault, line string) {
	t.Helper()
	f.want.Sequence += r.sequence
	if got.Tick != r.tick || got.Item != r.item || short(got.By) != short(f.want) {
		t.Errorf("got tick %d, item %v, %s, want tick %d, item %v, %s", got.Tick, got.Item, short(got.By), r.tick, r.item, short(f.want))
	}
	if f.field != "" && (got.From != r.from || got.To != r.to) {
		t.Errorf("got %s -> %s, want %s -> %s", got.From, got.To, r.from, r.to)
	}
	if line != "" && filepath.Base(got.By.Where) != line {
		t.Errorf("got line %s, want %s", got.By.Where, line)
	}
}

// short returns the parts of a cause that a fault knows.
func short(c history.Cause) string {
	texts := []string{fmt.Sprintf("%s %q task %d command %d call %d", c.Kind, c.System, c.Task, c.Sequence, c.Call)}
	for _, lost := range c.Lost {
		texts = append(texts, short(lost))
	}
	return strings.Join(texts, ", without effect: ")
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
