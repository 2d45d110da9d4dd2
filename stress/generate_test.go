package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"handloom/internal/trace"
)

// A few tables and keys are hot, keys return, and some ticks are empty.
type random struct {
	*rand.Rand
	w    *bytes.Buffer
	live map[name]bool
	keys []uint64 // by popularity
}

func generate(t testing.TB, seed uint64, ticks int) []byte {
	t.Helper()
	g := &random{Rand: rand.New(rand.NewPCG(seed, 0)), w: bytes.NewBufferString("handloom-trace 1\n"), live: make(map[name]bool)}
	for range 400 {
		g.keys = append(g.keys, g.Uint64()>>g.IntN(64))
	}
	for range ticks {
		if g.IntN(20) > 0 {
			for range g.IntN(1 << g.IntN(10)) {
				g.lifetime(g.pick())
			}
		}
		g.w.WriteString("T\n")
	}
	if g.IntN(2) == 0 {
		g.lifetime(g.pick())
	}
	return g.w.Bytes()
}

func (g *random) event(kind trace.Kind, n name) {
	fmt.Fprintf(g.w, "%c %d %d\n", kind, n.table, n.key)
}

// pick returns a name; low numbers are likelier.
func (g *random) pick() name {
	skewed := func(n int) int { return int(float64(n) * g.Float64() * g.Float64() * g.Float64()) }
	return name{uint16(skewed(24) * 41), g.keys[skewed(len(g.keys))]}
}

func (g *random) lifetime(n name) {
	if !g.live[n] {
		g.event(trace.Create, n)
		g.live[n] = true
	}
	for range g.IntN(3) {
		g.event(trace.Update, n)
	}
	if g.IntN(3) == 0 {
		g.event(trace.Erase, n)
		delete(g.live, n)
		if g.IntN(3) == 0 {
			g.lifetime(n)
		}
	}
}

func replayed(t testing.TB, text []byte, shards int, each func(*replay), workers ...int) *replay {
	t.Helper()
	r := begun(t, "random", workers, shards)
	if each != nil {
		r.onTick = each
	}
	if err := r.run(t.Context(), bytes.NewReader(text)); err != nil || len(r.mismatches) > 0 {
		t.Fatalf("workers %v, shards %d: %v, mismatches %v", workers, shards, err, r.mismatches)
	}
	return r
}

func (p *player) items() map[name]item {
	all := make(map[name]item)
	for _, t := range p.tables {
		for _, it := range t.items.All() {
			all[name{t.number, it.Key}] = *it
		}
	}
	return all
}

func lines(events string) []byte {
	events = strings.NewReplacer(" T", "\nT", " C", "\nC", " U", "\nU", " E", "\nE").Replace(events)
	return []byte("handloom-trace 1\n" + events + "\n")
}
