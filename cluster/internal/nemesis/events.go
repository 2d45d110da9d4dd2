package nemesis

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"
)

// A Kind is a kind of event.
type Kind struct {
	Name   string
	About  string
	Weight int              // number in a deck
	hold   [2]time.Duration // min and max time from the fault to the healing
	zombie bool             // the old owner survives without knowing the new one
	do     func(e *event)
}

const ms = time.Millisecond

// Holds are longer than a failover where one is intended.
var kinds = []Kind{
	{"kill-owner", "SIGKILL of the node that owns the log", 12, [2]time.Duration{500 * ms, 900 * ms}, false, func(e *event) { e.kill(e.owner) }},
	{"kill-owner-twice", "and of the next one, as soon as it owns it", 1, [2]time.Duration{500 * ms, 1500 * ms}, false, (*event).killTwice},
	{"kill-follower", "SIGKILL of another node", 2, [2]time.Duration{0, 500 * ms}, false, func(e *event) { e.kill(e.follower()) }},
	{"kill-nodes", "SIGKILL of all nodes", 1, [2]time.Duration{0, 500 * ms}, false, func(e *event) { e.kill(e.fleet.nodes...) }},
	{"kill-server", "SIGKILL of a server that does not lead the stream", 3, [2]time.Duration{0, 2000 * ms}, false, func(e *event) { e.kill(e.other()) }},
	{"kill-leader", "SIGKILL of the server that leads the stream", 2, [2]time.Duration{0, 3000 * ms}, false, func(e *event) { e.kill(e.leader) }},
	{"kill-owner-leader", "SIGKILL of both at once", 2, [2]time.Duration{0, 3000 * ms}, false, func(e *event) { e.kill(e.owner, e.leader) }},
	{"kill-servers", "SIGKILL of all servers", 1, [2]time.Duration{0, 500 * ms}, false, (*event).killServers},
	{"kill-all", "SIGKILL of all servers and nodes", 1, [2]time.Duration{0, 500 * ms}, false, (*event).killAll},
	{"end-owner", "orderly end of the owner", 1, [2]time.Duration{0, 500 * ms}, false, func(e *event) { e.end(e.owner) }},
	{"end-leader", "orderly end, as by SIGTERM, of the server that leads the stream", 1, [2]time.Duration{0, 2000 * ms}, false, func(e *event) { e.end(e.leader) }},
	{"lame-duck-leader", "lame duck mode of the server that leads the stream", 1, [2]time.Duration{0, 2000 * ms}, false, func(e *event) { e.end(e.leader, lameDuck) }},
	{killMachine, "SIGKILL of a node and of the server with its number", 1, [2]time.Duration{1000 * ms, 1000 * ms}, false, (*event).killSomeMachine},
	{"stop-owner", "SIGSTOP of the owner, which goes on as a zombie", 6, [2]time.Duration{100 * ms, 2500 * ms}, true, func(e *event) { e.pause(e.owner) }},
	{"stop-follower", "SIGSTOP of another node", 1, [2]time.Duration{500 * ms, 2500 * ms}, false, func(e *event) { e.pause(e.follower()) }},
	{"stop-server", "SIGSTOP of a server that does not lead the stream", 2, [2]time.Duration{500 * ms, 4000 * ms}, false, func(e *event) { e.pause(e.other()) }},
	{"stop-leader", "SIGSTOP of the server that leads the stream", 1, [2]time.Duration{500 * ms, 12000 * ms}, false, func(e *event) { e.pause(e.leader) }},
	{"cut-owner", "the owner is cut off from all servers", 3, [2]time.Duration{300 * ms, 3000 * ms}, true, func(e *event) { e.cutOff(e.owner, true, true) }},
	{"cut-owner-answers", "what servers say does not reach the owner", 2, [2]time.Duration{300 * ms, 3000 * ms}, true, func(e *event) { e.cutOff(e.owner, false, true) }},
	{"cut-server", "a server that does not lead the stream is cut off from the others", 2, [2]time.Duration{500 * ms, 5000 * ms}, false, func(e *event) { e.cutOff(e.other(), true, true) }},
	{"cut-leader", "the server that leads the stream is cut off from the others", 1, [2]time.Duration{500 * ms, 12000 * ms}, false, func(e *event) { e.cutOff(e.leader, true, true) }},
	{"cut-leader-answers", "what the others say does not reach it", 1, [2]time.Duration{500 * ms, 12000 * ms}, false, func(e *event) { e.cutOff(e.leader, false, true) }},
	{"cut-leader-one-way", "what it says does not reach the others", 1, [2]time.Duration{500 * ms, 16000 * ms}, false, func(e *event) { e.cutOff(e.leader, true, false) }},
	{"split", "a server and the owner are cut off from all others", 1, [2]time.Duration{500 * ms, 8000 * ms}, true, (*event).split},
	{"slow", "everything between the servers is late by some milliseconds", 2, [2]time.Duration{500 * ms, 2000 * ms}, false, (*event).slow},
}

const killMachine = "kill-machine"

// Kinds returns all kinds of events.
func Kinds() []Kind { return slices.Clone(kinds) }

// An event is a fault, its healing and its measurement.
type event struct {
	Event
	kind   Kind
	fleet  *fleet
	random *rand.Rand
	owner  *member
	leader *member
	failed error
}

type Event struct {
	At         time.Duration // since the start of the run
	Name       string
	Victims    []string
	Before     uint32
	After      uint32
	Outage     time.Duration
	Recovery   time.Duration // until the fleet was healthy
	LeaderLost bool
	Fenced     bool
}

func (e *event) noteVictim(m *member) { e.Victims = append(e.Victims, m.name) }

func (e *event) kill(all ...*member) {
	for _, m := range all {
		e.noteVictim(m)
		if m.process != nil {
			m.process.Signal(os.Kill)
		}
	}
	for _, m := range all {
		m.kill()
	}
}

// end ends a process in order, by signals or by the end of its input.
func (e *event) end(m *member, signals ...os.Signal) {
	e.noteVictim(m)
	for _, s := range signals {
		m.process.Signal(s)
		select {
		case <-m.process.Gone():
		case <-time.After(startTime):
		}
	}
	if err := m.process.End(); err != nil {
		e.failed = fmt.Errorf("%s: %w", m.name, err)
	}
	m.down()
}

func (e *event) pause(m *member) {
	e.noteVictim(m)
	m.pause(true)
}

func (e *event) follower() *member { return e.another(e.fleet.nodes, e.owner) }

func (e *event) other() *member { return e.another(e.fleet.servers, e.leader) }

func (e *event) another(all []*member, m *member) *member {
	return all[(slices.Index(all, m)+1+e.random.IntN(Members-1))%Members]
}

func (e *event) killTwice() {
	e.kill(e.owner)
	term := e.fleet.gaps.look().term
	deadline := time.Now().Add(5 * time.Second)
	for time.Now().Before(deadline) {
		if e.fleet.gaps.look().term > term {
			break
		}
		time.Sleep(askEvery)
	}
	time.Sleep(time.Duration(e.random.IntN(100)) * ms)
	if next := e.fleet.owner(); next != nil {
		e.kill(next)
	}
}

func (e *event) killServers() {
	e.kill(e.fleet.servers...)
	if e.fleet.Mutant == restoredServers {
		e.failed = e.fleet.restoreServers()
	}
}

func (e *event) killAll() {
	all := slices.Clone(e.fleet.all)
	e.random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	e.kill(all...)
}

func (e *event) killMachine(i int) {
	is := "a follower"
	if e.fleet.nodes[i] == e.owner {
		is = "the owner"
	}
	fmt.Fprintf(e.fleet.Out, "          n%d and s%d are killed: n%d is %s\n", i, i, i, is)
	e.kill(e.fleet.nodes[i], e.fleet.servers[i])
}

// killSomeMachine kills a machine, usually the owner's.
func (e *event) killSomeMachine() {
	i := e.random.IntN(Members)
	if e.random.IntN(2) == 0 {
		i = slices.Index(e.fleet.nodes, e.owner)
	}
	e.killMachine(i)
}

// machineKill returns the kind that kills machine i.
func machineKill(i int) Kind {
	at := slices.IndexFunc(kinds, func(k Kind) bool { return k.Name == killMachine })
	k := kinds[at]
	k.do = func(e *event) { e.killMachine(i) }
	return k
}

func (e *event) cut(m *member, others []*member, says, hears bool) {
	for _, other := range others {
		if says && other != m {
			e.fleet.net.Cut(m.name, other.name)
		}
		if hears && other != m {
			e.fleet.net.Cut(other.name, m.name)
		}
	}
}

// cutOff cuts a node or a server off from the servers.
func (e *event) cutOff(m *member, says, hears bool) {
	e.noteVictim(m)
	e.cut(m, e.fleet.servers, says, hears)
}

func (e *event) split() {
	s := e.fleet.servers[e.random.IntN(Members)]
	e.cutOff(s, true, true)
	e.noteVictim(e.owner)
	for _, n := range e.fleet.nodes {
		if n != e.owner {
			e.cut(n, []*member{s}, true, true)
		}
	}
	others := slices.DeleteFunc(slices.Clone(e.fleet.servers), func(other *member) bool { return other == s })
	e.cut(e.owner, others, true, true)
}

func (e *event) slow() {
	for _, a := range e.fleet.servers {
		for _, b := range e.fleet.servers {
			if a != b {
				e.fleet.net.Delay(a.name, b.name, time.Duration(1+e.random.IntN(20))*ms)
			}
		}
	}
	e.Victims = append(e.Victims, "s0", "s1", "s2")
}

// happen injects the fault, heals it, and waits until all processes are healthy.
func (e *event) happen(ctx context.Context) error {
	f := e.fleet
	if err := until(ctx, func() bool {
		e.leader, _ = f.leader(ctx)
		e.owner = f.owner()
		// An earlier outage does not count.
		flows := time.Since(f.gaps.look().at) < 3*time.Second/time.Duration(f.Hz)
		return e.owner != nil && e.leader != nil && flows || f.bad()
	}); err != nil || f.bad() {
		return f.why(err)
	}
	e.Before = f.gaps.look().term
	then, _ := e.owner.look()
	begun := time.Now()
	f.gaps.begin()
	if e.kind.do(e); e.failed != nil {
		return e.failed
	}
	e.wait(ctx)
	if e.random.IntN(2) == 0 {
		f.net.Reset()
	}
	if err := f.heal(); err != nil {
		return err
	}
	if e.random.IntN(4) == 0 {
		if err := e.killOpening(); err != nil {
			return err
		}
	}
	if err := f.waitHealthy(ctx); err != nil {
		return err
	}
	e.Outage, e.Recovery = f.gaps.end(), time.Since(begun)
	e.After = f.gaps.look().term
	leader, _ := f.leader(ctx)
	e.LeaderLost = leader != e.leader || slices.Contains(e.Victims, e.leader.name)
	if e.kind.zombie && e.After > e.Before {
		err := until(ctx, func() bool {
			s, up := e.owner.look()
			e.Fenced = up && s.lostAppends > then.lostAppends
			return e.Fenced || f.bad()
		})
		if err != nil && ctx.Err() == nil {
			f.auditor.Fault("%s was the owner of term %d, is not any more, and does not know", e.owner.name, e.Before)
		}
	}
	return nil
}

func (e *event) wait(ctx context.Context) {
	d := e.kind.hold[0] + time.Duration(e.random.Int64N(int64(e.kind.hold[1]-e.kind.hold[0])+1))
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// killOpening kills the nodes again while they open the log or the world.
func (e *event) killOpening() error {
	var opening []*member
	for _, n := range e.fleet.nodes {
		if slices.Contains(e.Victims, n.name) && !n.isUp() && strings.HasPrefix(e.Name, "kill-") {
			opening = append(opening, n)
		}
	}
	if len(opening) == 0 {
		return nil
	}
	time.Sleep(time.Duration(e.random.IntN(400)) * ms)
	for _, m := range opening {
		m.kill()
	}
	return e.fleet.heal()
}
