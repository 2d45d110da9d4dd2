package cells_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"handloom/cluster/cells"
	kit "handloom/proof/game"
	"handloom/world"
)

var messages = flag.Int("messages", 10_000, "messages in each direction of TestOutbox_DeliversOnceUnderKills")

// poison names a thousandth of the words.
func poison(number uint64) bool { return number%997 == 13 }

func poisoned(words int) (n int) {
	for number := range uint64(words) {
		if poison(number + 1) {
			n++
		}
	}
	return n
}

type war struct {
	random *rand.Rand
	ids    [2]cells.ID
	logs   [2]*whole
	nodes  [4]*node // two per town
	faulty [4]*kit.FaultyLog
	way    *rough
	words  int // in each direction

	kills, pauses, lost, handoffs int
}

func newWar(seed uint64, words int) *war {
	w := &war{random: rand.New(rand.NewPCG(seed, 1)), words: words}
	w.way = &rough{Transport: cells.Local(), random: rand.New(rand.NewPCG(seed, 2))}
	for i := range w.ids {
		w.ids[i], w.logs[i] = cells.ID(i+1), &whole{Log: world.Memory()}
	}
	for i := range w.faulty {
		w.faulty[i] = &kit.FaultyLog{Log: w.logs[i/2]}
	}
	return w
}

func (w *war) open(t testing.TB, i int) {
	g := newTown(t, 1, cells.Options[word]{Limit: 4096})
	perTick := max(20, w.words/4000) // at most 4,000 ticks
	g.poison = poison
	g.from(w.ids[i/2], road{To: w.ids[1-i/2], Left: w.words, PerTick: perTick})
	w.nodes[i] = start(t, g, w.faulty[i], w.way)
}

var errNeverArrive = errors.New("words missing")

func (w *war) fight(t testing.TB) error {
	for i := range w.nodes {
		w.open(t, i)
	}
	defer func() {
		for _, n := range w.nodes {
			if n.world != nil {
				_ = n.kill(t)
			}
		}
		w.way.late.Wait()
	}()
	for range 20_000 {
		time.Sleep(time.Duration(w.random.IntN(500)) * time.Millisecond)
		if done, err := w.look(t); done || err != nil {
			return err
		}
		i := w.random.IntN(len(w.nodes))
		switch w.random.IntN(6) {
		case 0:
			if err := w.nodes[i].kill(t); err != nil {
				return err
			}
			w.faulty[i].SetFaults(0, 0, false)
			w.open(t, i)
			w.kills++
		case 1:
			w.faulty[i].SetFaults(time.Duration(w.random.IntN(2000))*time.Millisecond, 0, false)
			w.pauses++
		case 2:
			w.handOff(i / 2)
		default:
			w.faulty[i].SetFaults(0, 1+w.random.IntN(4), w.random.IntN(2) == 0)
			w.lost++
		}
	}
	return errNeverArrive
}

func (w *war) handOff(town int) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	for _, n := range w.nodes[2*town:][:2] {
		if n.world.Status().Leader && n.world.Handoff(ctx, "town") == nil {
			w.handoffs++
			return
		}
	}
}

func (w *war) look(t testing.TB) (done bool, err error) {
	done = true
	for i, n := range w.nodes {
		if why := n.world.Status().Halted; why != "" {
			return false, errors.New(why)
		}
		n.look(t, func() {
			for _, p := range n.out.Pairs() {
				done = done && p.Sent == p.Acked
				err = errors.Join(err, p.Err)
			}
			switch h := n.heardFrom(w.ids[1-i/2]); {
			case h == nil:
				done = false
			case h.Wrong > 0:
				err = errors.Join(err, fmt.Errorf("%d words repeated or out of order", h.Wrong))
			default:
				done = done && h.Next == uint64(w.words)+1
			}
		})
	}
	return done && err == nil, err
}

// Replays of the logs result in one state, with a dead letter for each message that fails its
// ticks.
func TestOutbox_DeliversOnceUnderKills(t *testing.T) {
	words := *messages
	if testing.Short() {
		words = min(words, 2000)
	}
	for seed := range uint64(2) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			w := newWar(seed, words)
			synctest.Test(t, func(t *testing.T) {
				noError(t, w.fight(t))
			})
			r := w.way
			t.Logf("%d words each way: %d kills, %d pauses, %d handoffs, %d lost answers of a log; packets: %d lost, %d acknowledgements lost, %d doubled, %d late",
				w.words, w.kills, w.pauses, w.handoffs, w.lost, r.lostPackets, r.lostAcks, r.doubled, r.delayed)
			if w.kills == 0 || r.lostPackets*r.lostAcks*r.doubled*r.delayed == 0 {
				t.Error("too few faults")
			}
			for i, l := range w.logs {
				wantWords(t, l, w.ids[1-i], w.words)
			}
		})
	}
}

func wantWords(t *testing.T, l *whole, from cells.ID, words int) {
	t.Helper()
	var first uint64
	for _, workers := range []int{1, 2, 8} {
		g := newTown(t, workers, cells.Options[word]{Limit: 4096})
		g.poison = poison
		noError(t, world.Replay(context.Background(), g.Store, beginning{l}, g.options(), 1<<40))
		if h := g.heardFrom(from); h == nil || h.Wrong != 0 || h.Next != uint64(words)+1 {
			t.Errorf("%d workers: want %d words, got %+v", workers, words, h)
		}
		if n := g.out.DeadLetters().Len(); n != poisoned(words) {
			t.Errorf("%d workers: %d dead letters, want %d", workers, n, poisoned(words))
		}
		if d := digest(t, g.Store); workers == 1 {
			first = d
		} else if d != first {
			t.Errorf("%d workers: another state", workers)
		}
	}
}
