package check

import "unsafe"

// Label names the work that a goroutine does. It is the pointer to the goroutine's labels
// for profiles, so that goroutines inherit it from the goroutine that starts them, and a
// look at it costs some nanoseconds and orders nothing between goroutines. The zero Label
// is the label of goroutines without any.
//
// Labels that other code gives to a goroutine replace it.
type Label struct{ labels unsafe.Pointer }

// Enter gives the label to the calling goroutine and returns a function that gives back
// the label that it had before. It does nothing unless [Cheap] is set.
func (l Label) Enter() (leave func()) {
	before := CurrentLabel()
	l.set()
	return before.set
}
