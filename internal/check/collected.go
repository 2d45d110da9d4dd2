package check

import "runtime"

// Collected reports whether gone becomes true within ten collections. A test asks more than
// once, because the collector scans interrupted functions conservatively and pools keep memory
// over a collection.
func Collected(gone func() bool) bool {
	for range 10 {
		if runtime.GC(); gone() {
			return true
		}
	}
	return false
}
