package runner

import "sync/atomic"

// fuse panics at the n-th of the calls that burn it. It may be burnt by any
// goroutine.
type fuse struct{ left atomic.Int64 }

// errFuse is what a fuse panics with.
const errFuse = "the fuse of the test has burnt down"

func (f *fuse) light(n int) { f.left.Store(int64(n)) }

func (f *fuse) burn() {
	if f.left.Load() > 0 && f.left.Add(-1) == 0 {
		panic(errFuse)
	}
}
