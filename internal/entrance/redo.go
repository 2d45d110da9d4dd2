package entrance

import "context"

// A Redo lets a tick with input run again, from the state before it and with the same input, if
// it fails. Package world puts one into the context of such a tick.
//
//	if redo := entrance.RedoOf(ctx); redo != nil && redo.HasInput(isMine) && redo.Save(ctx) {
//		redo.OnError(func(err error) (again bool) { ... })
//	}
//
// A tick that depends on Attempt, or on earlier errors, must depend on nothing else outside of
// state and input.
type Redo struct {
	// Attempt is the number of earlier runs of the tick.
	Attempt int

	// HasInput reports whether the input has items of a table for whose name is returns true. A
	// tick calls it before its first flush, to save no state that it does not need.
	HasInput func(is func(table string) bool) bool

	// Save copies the state, once per tick, and reports whether the tick may run again. A tick
	// calls it before its first change and flush.
	Save func(ctx context.Context) bool

	judges []func(err error) (again bool)
}

// OnError makes a failed run call judge, which reports whether the tick runs again. Judges are
// called last to first, until one reports true. They serve one run.
func (r *Redo) OnError(judge func(err error) (again bool)) { r.judges = append(r.judges, judge) }

// Again reports whether a run that failed with err is repeated, and begins the next attempt.
func (r *Redo) Again(err error) bool {
	judges := r.judges
	r.judges = nil
	for i := len(judges) - 1; i >= 0; i-- {
		if judges[i](err) {
			r.Attempt++
			return true
		}
	}
	return false
}

type redoKey struct{}

// WithRedo returns ctx for one tick.
func WithRedo(ctx context.Context, r *Redo) context.Context {
	return context.WithValue(ctx, redoKey{}, r)
}

// RedoOf returns the Redo of a tick, or nil.
func RedoOf(ctx context.Context) *Redo {
	r, _ := ctx.Value(redoKey{}).(*Redo)
	return r
}
