package logtest

import (
	"errors"
	"testing"

	"handloom/store"
)

// Outcomes are the keys of calls by what Submit said of them.
type Outcomes struct{ Applied, Not, Uncertain []int }

// Note notes what Submit said, and reports whether it refused the call.
func (o *Outcomes) Note(key int, err error) (refused bool) {
	switch {
	case err == nil:
		o.Applied = append(o.Applied, key)
	case errors.Is(err, store.ErrUncertain):
		o.Uncertain = append(o.Uncertain, key)
	default:
		o.Not = append(o.Not, key)
		return true
	}
	return false
}

// Add adds those of another client.
func (o *Outcomes) Add(p Outcomes) {
	o.Applied, o.Not, o.Uncertain = append(o.Applied, p.Applied...), append(o.Not, p.Not...), append(o.Uncertain, p.Uncertain...)
}

// Want fails the test unless each call was applied as often as Submit said: times is how often
// the log leads to each key.
func (o *Outcomes) Want(t *testing.T, times map[int]int) {
	t.Helper()
	for what, keys := range map[string][]int{"applied": o.Applied, "not applied": o.Not, "uncertain": o.Uncertain} {
		for _, key := range keys {
			n := times[key]
			if n > 1 || what == "applied" && n != 1 || what == "not applied" && n != 0 {
				t.Errorf("call %d was applied %d times, and Submit said that it is %s", key, n, what)
			}
		}
	}
}
