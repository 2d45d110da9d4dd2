//go:build race || handloom_check

package batch

// Occupy stands for a goroutine that is inside a method of the queue.
func (q Queue) Occupy() { q.enter() }
