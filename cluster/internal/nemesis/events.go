package nemesis

import (
	"context"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"handloom/cluster/internal/localnet"
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
	{"kill-nodes", "SIGKILL of all nodes", 1, [2]time.Duration{0, 500 * ms}, false, func(e *event) { e.kill(e.run.Nodes...) }},
	{"kill-server", "SIGKILL of a server that does not lead the stream", 3, [2]time.Duration{0, 2000 * ms}, false, func(e *event) { e.kill(e.other()) }},
	{"kill-leader", "SIGKILL of the server that leads the stream", 2, [2]time.Duration{0, 3000 * ms}, false, func(e *event) { e.kill(e.leader) }},
	{"kill-owner-leader", "SIGKILL of both at once", 2, [2]time.Duration{0, 3000 * ms}, false, func(e *event) { e.kill(e.owner, e.leader) }},
	{"kill-servers", "SIGKILL of all servers", 1, [2]time.Duration{0, 500 * ms}, false, func(e *event) { e.kill(e.Servers...) }},
	{"kill-all", "SIGKILL of all servers and nodes", 1, [2]time.Duration{0, 500 * ms}, false, (*event).killAll},
	{"end-owner", "orderly end of the owner", 1, [2]time.Duration{0, 500 * ms}, false, func(e *event) { e.end(e.owner) }},
	{"end-leader", "orderly end, as by SIGTERM, of the server that leads the stream", 1, [2]time.Duration{0, 2000 * ms}, false, func(e *event) { e.end(e.leader) }},
	{"lame-duck-leader", "lame duck mode of the server that leads the stream", 1, [2]time.Duration{0, 2000 * ms}, false, func(e *event) { e.end(e.leader, localnet.LameDuck) }},
	{"kill-machine", "SIGKILL of a node and of the server with its number", 1, [2]time.Duration{1000 * ms, 1000 * ms}, false, (*event).killMachine},
	{"stop-owner", "SIGSTOP of the owner, which goes on as a zombie", 6, [2]time.Duration{100 * ms, 2500 * ms}, true, func(e *event) { e.pause(e.owner) }},
	{"stop-owner-minute", "the same for a minute, so that others take its place", 1, [2]time.Duration{60000 * ms, 60000 * ms}, true, func(e *event) { e.pause(e.owner) }},
	{"stop-follower", "SIGSTOP of another node", 1, [2]time.Duration{500 * ms, 2500 * ms}, false, func(e *event) { e.pause(e.follower()) }},
	{"stop-server", "SIGSTOP of a server that does not lead the stream", 2, [2]time.Duration{500 * ms, 4000 * ms}, false, func(e *event) { e.pause(e.other()) }},
	{"stop-leader", "SIGSTOP of the server that leads the stream", 1, [2]time.Duration{500 * ms, 12000 * ms}, false, func(e *event) { e.pause(e.leader) }},
	{"cut-owner", "the owner is cut off from all servers", 3, [2]time.Duration{300 * ms, 3000 * ms}, true, func(e *event) { e.cut(e.owner, e.Servers, true, true) }},
	{"cut-owner-answers", "what servers say does not reach the owner", 2, [2]time.Duration{300 * ms, 3000 * ms}, true, func(e *event) { e.cut(e.owner, e.Servers, false, true) }},
	{"cut-server", "a server that does not lead the stream is cut off from the others", 2, [2]time.Duration{500 * ms, 5000 * ms}, false, func(e *event) { e.cut(e.other(), e.Servers, true, true) }},
	{"cut-leader", "the server that leads the stream is cut off from the others", 1, [2]time.Duration{500 * ms, 12000 * ms}, false, func(e *event) { e.cut(e.leader, e.Servers, true, true) }},
	{"cut-leader-answers", "what the others say does not reach it", 1, [2]time.Duration{500 * ms, 12000 * ms}, false, func(e *event) { e.cut(e.leader, e.Servers, false, true) }},
	{"cut-leader-one-way", "what it says does not reach the others", 1, [2]time.Duration{500 * ms, 16000 * ms}, false, func(e *event) { e.cut(e.leader, e.Servers, true, false) }},
	{"split", "a server and the owner are cut off from all others", 1, [2]time.Duration{500 * ms, 8000 * ms}, true, (*event).split},
	{"slow", "everything between the servers is late by some milliseconds", 2, [2]time.Duration{500 * ms, 2000 * ms}, false, (*event).slow},
	{"slow-disk-leader", "fsync takes 200 ms more on the server that leads the stream", 1, [2]time.Duration{1000 * ms, 6000 * ms}, false, func(e *event) { e.slowDisk(e.leader) }},
	{"slow-disk", "fsync takes 200 ms more on another server, or on a node", 1, [2]time.Duration{1000 * ms, 6000 * ms}, false, func(e *event) { e.slowDisk(e.another(e.All, e.leader)) }},
}

// Kinds returns all kinds of events. Only Linux can make a disk slow.
func Kinds() []Kind {
	return slices.DeleteFunc(slices.Clone(kinds), func(k Kind) bool {
		return runtime.GOOS != "linux" && strings.HasPrefix(k.Name, "slow-disk")
	})
}

// An event is a fault, its healing and its measurement.
type event struct {
	*run
	kind          Kind
	owner, leader *localnet.Member
	victims       []string
	failed        error
	before, after uint32 // terms
	outage        time.Duration
	recovery      time.Duration // until the fleet was healthy
	leaderLost    bool
	fenced        bool // the owner was a zombie
}

func (e *event) noteVictim(m *localnet.Member) { e.victims = append(e.victims, m.Name) }

func (e *event) kill(all ...*localnet.Member) {
	for _, m := range all {
		e.noteVictim(m)
	}
	e.Kill(all...)
}

// end ends a process in order, by signals or by the end of its input.
func (e *event) end(m *localnet.Member, signals ...os.Signal) {
	e.noteVictim(m)
	e.failed = m.End(signals...)
}

func (e *event) pause(m *localnet.Member) {
	e.noteVictim(m)
	m.Pause()
}

func (e *event) slowDisk(m *localnet.Member) {
	e.noteVictim(m)
	m.SlowDisk()
}

func (e *event) follower() *localnet.Member { return e.another(e.Nodes, e.owner) }

func (e *event) other() *localnet.Member { return e.another(e.Servers, e.leader) }

func (e *event) another(all []*localnet.Member, m *localnet.Member) *localnet.Member {
	return all[(m.Index+1+e.random.IntN(localnet.Size-1))%localnet.Size]
}

func (e *event) killTwice() {
	e.kill(e.owner)
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline) && e.run.owner() == nil; {
		time.Sleep(20 * ms)
	}
	time.Sleep(time.Duration(e.random.IntN(100)) * ms)
	if next := e.run.owner(); next != nil {
		e.kill(next)
	}
}

func (e *event) killAll() {
	all := slices.Clone(e.All)
	e.random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	e.kill(all...)
}

// killMachine kills a node and a server, usually the owner.
func (e *event) killMachine() {
	i := e.random.IntN(localnet.Size)
	if e.random.IntN(2) == 0 {
		i = e.owner.Index
	}
	e.kill(e.Nodes[i], e.Servers[i])
}

// cut cuts a node or a server off from others.
func (e *event) cut(m *localnet.Member, others []*localnet.Member, says, hears bool) {
	e.noteVictim(m)
	for _, other := range others {
		if says && other != m {
			e.Net.Cut(m.Name, other.Name)
		}
		if hears && other != m {
			e.Net.Cut(other.Name, m.Name)
		}
	}
}

func (e *event) split() {
	s := e.Servers[e.random.IntN(localnet.Size)]
	others := slices.DeleteFunc(slices.Clone(e.All), func(m *localnet.Member) bool { return m == s || m == e.owner })
	e.cut(s, others, true, true)
	e.cut(e.owner, others, true, true)
}

func (e *event) slow() {
	for _, a := range e.Servers {
		e.noteVictim(a)
		for _, b := range e.Servers {
			if a != b {
				e.Net.Delay(a.Name, b.Name, time.Duration(1+e.random.IntN(20))*ms)
			}
		}
	}
}

// happen injects the fault, heals it, and waits until all processes are healthy.
func (e *event) happen(ctx context.Context) error {
	if err := e.Until(ctx, func() bool {
		e.leader, _ = e.Leader(ctx, cell.Stream())
		e.owner = e.run.owner()
		// An earlier outage does not count.
		flows := time.Since(e.gaps.look().at) < 3*time.Second/hz
		return e.owner != nil && e.leader != nil && flows
	}); err != nil || e.Bad() {
		return err
	}
	e.before, _ = e.term()
	begun := time.Now()
	e.gaps.begin()
	if e.kind.do(e); e.failed != nil {
		return e.failed
	}
	pause(ctx, e.kind.hold[0]+time.Duration(e.random.Int64N(int64(e.kind.hold[1]-e.kind.hold[0])+1)))
	if e.random.IntN(2) == 0 {
		e.Net.Reset()
	}
	if err := e.Heal(); err != nil {
		return err
	}
	if e.random.IntN(4) == 0 {
		if err := e.killOpening(); err != nil {
			return err
		}
	}
	if err := e.waitHealthy(ctx); err != nil {
		return err
	}
	e.outage, e.recovery = e.gaps.end(), time.Since(begun)
	e.after, _ = e.term()
	leader, _ := e.Leader(ctx, cell.Stream())
	e.leaderLost = leader != e.leader
	if !e.kind.zombie || e.after == e.before {
		return nil
	}
	err := e.Until(ctx, func() bool {
		e.fenced = e.owner.Up() && e.Status(e.owner, cell).Term > e.before
		return e.fenced
	})
	if err != nil && ctx.Err() == nil {
		e.Fault("%s was the owner of term %d, is not any more, and does not know", e.owner.Name, e.before)
	}
	return nil
}

// killOpening kills the nodes again while they open the log or the world.
func (e *event) killOpening() error {
	if !strings.HasPrefix(e.kind.Name, "kill-") {
		return nil
	}
	time.Sleep(time.Duration(e.random.IntN(400)) * ms)
	for _, n := range e.Nodes {
		if slices.Contains(e.victims, n.Name) && !n.Up() {
			e.Kill(n)
		}
	}
	return e.Heal()
}
