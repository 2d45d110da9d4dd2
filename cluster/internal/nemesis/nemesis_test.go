package nemesis

import (
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"handloom/cluster"
	"handloom/cluster/internal/localnet"
	"handloom/world"
)

// TestMain also runs the children.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == localnet.ChildCommand {
		os.Exit(localnet.Child(os.Args[2:], os.Stdin, os.Stdout, Node))
	}
	// ObjectStore.Put of nats.go may end before its goroutine has begun, which then waits for ever.
	put := goleak.IgnoreTopFunction("github.com/nats-io/nats.go/jetstream.(*jetStream).resetPendingAcksOnReconnect")
	os.Exit(localnet.RunTests(m, func() error { return goleak.Find(put) }))
}

// Owners and stream leaders are killed, and owners are paused, while clients call.
func TestRun_LosesNothing(t *testing.T) {
	lasting := 20 * time.Second
	if testing.Short() {
		lasting = time.Second // one event
	}
	var out strings.Builder
	result, v := Run(t.Context(), Options{
		Duration: lasting, Seed: 2, Only: []string{"kill-owner", "kill-leader", "stop-owner"},
	}, &out)
	if v.Exit != localnet.ExitPassed || len(result.Events) == 0 || result.Acked == 0 || result.Terms < 2 {
		t.Errorf("%v\n%s", v, out.String())
	}
}

// Only gaps between new ticks count, and an open gap counts, too.
func TestGaps_FindLongest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g gaps
		steps := func(d time.Duration, ticks ...uint64) {
			for _, tick := range ticks {
				time.Sleep(d)
				g.applied(tick)
			}
		}
		steps(10*ms, 1, 2, 3)
		time.Sleep(5 * ms)
		g.begin()
		steps(70*ms, 3, 2)
		steps(1*ms, 4, 5, 6)
		if d := g.end(); d != 146*ms {
			t.Errorf("the longest gap is %v; want 146ms", d)
		}
		g.begin()
		steps(2*ms, 7, 8)
		time.Sleep(20 * ms)
		if d, open := g.end(), time.Since(g.look().at); d != 20*ms || open != 20*ms {
			t.Errorf("the gap that is open is %v and %v; want 20ms", d, open)
		}
		if n := g.look().last; n != 8 {
			t.Errorf("the newest tick is %d", n)
		}
	})
}

// The seed determines the order.
func TestDeck_HasEveryKind(t *testing.T) {
	draw := func(seed uint64, only ...string) (names []string, times map[string]int) {
		r := newRun(Options{Seed: seed, Only: only})
		times = make(map[string]int)
		for range 2 {
			for done := false; !done; done = len(r.deck) == 0 {
				k := r.draw()
				names = append(names, k.Name)
				times[k.Name]++
			}
		}
		return names, times
	}
	names, times := draw(1)
	for _, k := range Kinds() {
		if times[k.Name] != 2*k.Weight || k.Weight < 1 || k.About == "" || k.hold[0] > k.hold[1] || k.do == nil {
			t.Errorf("%s is drawn %d times in two decks: %+v", k.Name, times[k.Name], k)
		}
	}
	if again, _ := draw(1); strings.Join(again, " ") != strings.Join(names, " ") {
		t.Error("a seed draws one order, and then another")
	}
	if other, _ := draw(2); strings.Join(other, " ") == strings.Join(names, " ") {
		t.Error("two seeds draw one order")
	}
	if _, times := draw(1, "slow", "split"); len(times) != 2 {
		t.Errorf("%v are drawn", times)
	}
}

func TestResult_PrintsOutages(t *testing.T) {
	var r Result
	for i := range 200 {
		r.Events = append(r.Events, &event{kind: Kind{Name: "kill-owner"}, outage: time.Duration(200-i) * ms})
	}
	r.Events = append(r.Events, &event{kind: Kind{Name: "kill-leader"}, outage: 7 * time.Second})
	var b strings.Builder
	r.Print(&b)
	for _, want := range []string{
		"kill-owner                   200  100 ms  198 ms  200 ms\n", "kill-leader                    1  7.00 s  7.00 s  7.00 s\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
}

func TestFault_IgnoresOutages(t *testing.T) {
	if text := fault(cluster.CellStatus{Err: "no server answers"}); text != "" {
		t.Errorf("an outage is a fault: %s", text)
	}
	if fault(cluster.CellStatus{Err: (&world.DivergedError{}).Error()}) == "" {
		t.Error("a state that differs is not a fault")
	}
}
