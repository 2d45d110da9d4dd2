// Package inline inserts and erases as a program does that imports nothing else of the
// module, so that the compiler can be asked what it did with the calls.
package inline

import "handloom/shard/handlemap"

// Churn inserts an item and erases it.
func Churn(m *handlemap.Map[[3]uint32]) bool {
	h, _ := m.Insert([3]uint32{1, 2})
	return m.Erase(h)
}
