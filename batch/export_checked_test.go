//go:build race || handloom_check

package batch

func (q Queue) Occupy() { q.enter() }
