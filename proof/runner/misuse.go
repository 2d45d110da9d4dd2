package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"handloom/proof/model"
	"handloom/proof/script"
	"handloom/store"
)

// calls are calls that some phase refuses.
var calls = map[string]func(p *executor, ctx context.Context) error{
	"flush":      func(p *executor, ctx context.Context) error { return second(p.store.Flush(ctx)) },
	"write":      func(p *executor, ctx context.Context) error { return p.store.Write(ctx, func(*store.Writer) {}) },
	"each":       func(p *executor, ctx context.Context) error { return p.store.Each(ctx, 1, noTask) },
	"read":       func(p *executor, ctx context.Context) error { return p.store.Read(ctx, noRead) },
	"foreach":    func(p *executor, ctx context.Context) error { return p.tables[0].forEach(ctx, noChunk) },
	"digest":     func(p *executor, ctx context.Context) error { return second(p.store.Digest(ctx)) },
	"close":      func(p *executor, ctx context.Context) error { return second(p.store.Close(ctx)) },
	"queues":     func(p *executor, _ context.Context) error { return second(p.store.Queues(1)) },
	"discard":    func(p *executor, _ context.Context) error { return p.store.Discard() },
	"checkpoint": func(p *executor, ctx context.Context) error { return p.store.Checkpoint(ctx, new(store.Checkpoint)) },
	"rollback":   func(p *executor, ctx context.Context) error { return p.store.Rollback(ctx, new(store.Checkpoint)) },
	// Register has no error: it panics with one.
	"register": func(p *executor, _ context.Context) error {
		return PanicOf(func() { store.Register(p.store, store.TableOptions[word]{Name: "another"}) })
	},
}

// phase is a phase and the calls that it refuses.
type phase struct {
	enter   func(p *executor, ctx context.Context, f func(ctx context.Context) error) error
	refuses string
}

var phases = map[string]phase{
	"task":  {(*executor).lonePass, "flush write each read digest register close checkpoint"},
	"read":  {(*executor).inRead, "flush write each foreach register rollback"},
	"write": {(*executor).inWrite, "write read queues discard register close"},
}

// inRead calls f inside a Read.
func (p *executor) inRead(ctx context.Context, f func(ctx context.Context) error) error {
	return p.store.Read(ctx, f)
}

// inWrite calls f inside a Frame that ends with an error, so that it does not flush.
func (p *executor) inWrite(ctx context.Context, f func(ctx context.Context) error) error {
	mark := p.exact.Mark(p.abstract)
	err := second(p.store.Frame(ctx, func(ctx context.Context, _ *store.Writer) error {
		// The exact model must count the frame, although nothing follows.
		p.beginWrite()
		return cmp.Or(f(ctx), errWrite) // no flush
	}))
	p.exact.DropSince(mark, p.abstract)
	if err == errWrite {
		return nil
	}
	return err
}

// Each pair of a phase and a call that it refuses is a misuse with a name.
func init() {
	for name, phase := range phases {
		for word := range strings.FieldsSeq(phase.refuses) {
			misuses[word+"-in-"+name] = func(p *executor, ctx context.Context) error {
				return phase.enter(p, ctx, func(ctx context.Context) error { return refused(calls[word](p, ctx)) })
			}
		}
	}
}

// misuses are calls that the store must refuse. Each returns an error if the
// answer is wrong.
var misuses = make(map[string]func(p *executor, ctx context.Context) error)

// errUntried means that the batch was full, so the misuse was not tried.
var errUntried = errors.New("not tried")

// Misuses returns the misuses that a random program may have, sorted.
func Misuses() []string { return slices.Sorted(maps.Keys(misuses)) }

// misuse runs a misuse, which must change nothing.
func (p *executor) misuse(ctx context.Context, word string) {
	if f := faults[word]; f != nil {
		f(p)
		return
	}
	unchanged := p.unchanged(ctx, "misuse")
	switch err := misuses[word](p, ctx); err {
	case nil:
		p.see(model.MisuseRefused)
	case errUntried: // alone; joined with another error it counts
	default:
		p.fail(Model, "%v", err)
		return
	}
	p.checkPending()
	unchanged()
}

func noTask(int, store.Queue)            {}
func noRead(context.Context) error       { return nil }
func noChunk(chunk)                      {}
func second[T any](_ T, err error) error { return err }

// refused returns an error unless err is the documented ErrPhase.
func refused(err error) error { return wraps(err, store.ErrPhase) }

// wraps returns an error unless err wraps want.
func wraps(err, want error) error {
	if errors.Is(err, want) {
		return nil
	}
	return fmt.Errorf("the error is %v; want one that wraps %q", err, want)
}

// lonePass calls f inside the only task of a pass, without commands.
func (p *executor) lonePass(ctx context.Context, f func(ctx context.Context) error) error {
	var inner error
	full := p.exact.BatchFull()
	err := p.store.Do(ctx, func(q store.Queue) {
		inner = f(q.Context())
	})
	// The batch refused the pass before its task could run.
	if full && errors.Is(err, store.ErrQueueFull) {
		return errUntried
	}
	// A pass without commands has a number as well, and later samples depend on it.
	wrong := p.exact.EndPass(p.exact.BeginPass(), nil, false, false)
	return errors.Join(err, inner, wrong)
}

// Check returns an error with the line of a step that the runner cannot run.
func Check(prog *script.Script, name string) error {
	var fault error
	script.Walk(prog.Steps, func(s *script.Step) {
		known := misuses[s.Word] != nil || faults[s.Word] != nil
		if s.Op == script.Misuse && !known && fault == nil {
			fault = &script.Error{File: name, Line: s.Line, Reason: fmt.Sprintf(
				"no misuse is called %q; want one of %s", s.Word, strings.Join(Misuses(), ", "))}
		}
	})
	if len(prog.Tables) == 0 && fault == nil {
		fault = &script.Error{File: name, Line: 1, Reason: "the program has no table"}
	}
	return fault
}
