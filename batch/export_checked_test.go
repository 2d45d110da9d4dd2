//go:build race || handloom_check

package batch

// Occupy acts as a goroutine inside a method of the queue.
func (q Queue) Occupy() { q.enter() }
