package check

// Enter gives the label to the calling goroutine and returns a function that gives back
// the label that it had before. It does nothing unless [Cheap] is set.
func (l Label) Enter() (leave func()) {
	before := CurrentLabel()
	l.set()
	return before.set
}
