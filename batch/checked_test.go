//go:build race || handloom_check

package batch_test

import "testing"

func TestQueue_UseByTwoGoroutinesPanics(t *testing.T) {
	b := newBench(100, 1)
	q := b.Begin(1).Queue(0)
	b.EmplaceStaged(q, func(name, *value) { b.Emplace(q, value{}) })
	q.Occupy()
	for what, record := range map[string]func(){
		"Emplace":      func() { b.Emplace(q, value{}) },
		"EmplaceItems": func() { b.EmplaceItems(q, make([]value, 2), nil) },
		"Erase":        func() { b.Erase(q, name{}) },
		"Put":          func() { b.Put(q, name{}, value{}) },
		"untyped":      func() { q.Erase(99 << 48) },
	} {
		t.Run(what, func(t *testing.T) { expectPanic(t, "two goroutines at once", record) })
	}
}
