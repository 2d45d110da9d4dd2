package runner

import (
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

// calls are what documents refuse in some phase or other.
var calls = map[string]func(p *executor, ctx context.Context) error{
	"flush":      func(p *executor, ctx context.Context) error { return second(p.store.Flush(ctx)) },
	"write":      func(p *executor, ctx context.Context) error { return p.store.Write(ctx, noWrite) },
	"each":       func(p *executor, ctx context.Context) error { return p.store.Each(ctx, 1, noTask) },
	"read":       func(p *executor, ctx context.Context) error { return p.store.Read(ctx, noRead) },
	"foreach":    func(p *executor, ctx context.Context) error { return p.tables[0].forEach(ctx, noChunk) },
	"digest":     func(p *executor, ctx context.Context) error { return second(p.store.Digest(ctx)) },
	"close":      func(p *executor, ctx context.Context) error { return second(p.store.Close(ctx)) },
	"queues":     func(p *executor, _ context.Context) error { return second(p.store.Queues(1)) },
	"discard":    func(p *executor, _ context.Context) error { return p.store.Discard() },
	"checkpoint": func(p *executor, ctx context.Context) error { return p.store.Checkpoint(ctx, new(store.Checkpoint)) },
	"rollback":   func(p *executor, ctx context.Context) error { return p.store.Rollback(ctx, new(store.Checkpoint)) },
	"register": func(p *executor, _ context.Context) error {
		return second(store.Register(p.store, store.TableOptions[word]{Name: "another"}))
	},
}

// inWrite calls f inside a Write of its own.
func (p *executor) inWrite(ctx context.Context, f func(ctx context.Context, w *store.Writer) error) error {
	return p.store.Write(ctx, func(ctx context.Context, w *store.Writer) error {
		p.beginWrite()
		return f(ctx, w)
	})
}

// phases are where they are refused, with ErrPhase.
var phases = map[string]struct {
	enter   func(p *executor, ctx context.Context, f func(ctx context.Context) error) error
	refuses []string
}{
	"task": {
		func(p *executor, ctx context.Context, f func(context.Context) error) error {
			return p.lonePass(ctx, func(ctx context.Context, _ store.Queue) error { return f(ctx) })
		},
		[]string{"flush", "write", "each", "read", "digest", "register", "close", "checkpoint"},
	},
	"read": {
		func(p *executor, ctx context.Context, f func(context.Context) error) error {
			return p.store.Read(ctx, f)
		},
		[]string{"flush", "write", "each", "foreach", "register", "rollback"},
	},
	"write": {
		func(p *executor, ctx context.Context, f func(context.Context) error) error {
			return p.inWrite(ctx, func(ctx context.Context, _ *store.Writer) error { return f(ctx) })
		},
		[]string{"write", "read", "queues", "discard", "register", "close"},
	},
}

func init() {
	for phase, of := range phases {
		for _, word := range of.refuses {
			misuses[word+"-in-"+phase] = func(p *executor, ctx context.Context) error {
				return of.enter(p, ctx, func(ctx context.Context) error { return refused(calls[word](p, ctx)) })
			}
		}
	}
}

// misuses are calls that documents refuse, those above included. Each returns what is
// wrong with the answer, or nil, and leaves the store as it was.
var misuses = map[string]func(p *executor, ctx context.Context) error{
	"two-passes-in-write": func(p *executor, ctx context.Context) error {
		return p.inWrite(ctx, func(ctx context.Context, _ *store.Writer) error {
			return p.lonePass(ctx, func(context.Context, store.Queue) error {
				return refused(p.store.Each(ctx, 1, noTask))
			})
		})
	},

	"ended-read": func(p *executor, ctx context.Context) error {
		var kept context.Context
		err := p.store.Read(ctx, func(ctx context.Context) error { kept = ctx; return nil })
		return errors.Join(err, refused(second(p.store.Digest(kept))), refused(second(p.tables[0].reduce(kept, nil))))
	},
	"ended-write": func(p *executor, ctx context.Context) error {
		var kept context.Context
		var writer *store.Writer
		err := p.inWrite(ctx, func(ctx context.Context, w *store.Writer) error {
			kept, writer = ctx, w
			return nil
		})
		return errors.Join(err, refused(second(p.store.Flush(kept))), refused(p.store.Each(kept, 1, noTask)),
			panics("Write has ended", func() { p.tables[0].Clear(writer) }))
	},
	"writer-of-another-store": func(p *executor, ctx context.Context) error {
		return p.other().Write(ctx, func(_ context.Context, w *store.Writer) error {
			return panics("another store", func() { p.tables[0].Clear(w) })
		})
	},
	"reduce-in-reduce-in-foreach": func(p *executor, ctx context.Context) error {
		if p.exact.BatchFull() || len(p.tables) < 2 || p.tables[0].Len() == 0 || p.tables[1].Len() == 0 {
			return errUntried
		}
		if of := &p.program.Tables[0]; of.Kind == script.Packed && of.Fixed == 0 {
			return errUntried // the pass alone makes it forget what is in order
		}
		within := func(ctx context.Context) error { return refused(second(p.tables[0].reduce(ctx, nil))) }
		err := p.tables[0].forEach(ctx, func(ctx context.Context, _ chunk) error {
			return errors.Join(within(ctx), second(p.tables[1].reduce(ctx, within)))
		})
		_, wrong := p.exact.EndPass(p.exact.BeginPass(), nil, false, false)
		p.see(model.NestedRefused)
		return errors.Join(err, wrong)
	},
	"writer-in-pass": func(p *executor, ctx context.Context) error {
		return p.inWrite(ctx, func(ctx context.Context, w *store.Writer) error {
			return p.lonePass(ctx, func(context.Context, store.Queue) error {
				return panics("while a pass or flush runs", func() { p.tables[0].Clear(w) })
			})
		})
	},

	"queue-kept": func(p *executor, ctx context.Context) error {
		if p.exact.BatchFull() {
			return errUntried
		}
		var kept store.Queue
		err := p.lonePass(ctx, func(_ context.Context, q store.Queue) error { kept = q; return nil })
		return errors.Join(err,
			panics("kept past its", func() { p.tables[0].erase(kept, 0) }),
			panics("kept past its", func() { p.tables[0].emplace(kept, model.Item{}) }),
			panics("kept past its", func() { kept.Erase(0) }))
	},
	"queue-of-another-store": func(p *executor, ctx context.Context) error {
		return p.other().Each(ctx, 1, func(_ context.Context, _ int, q store.Queue) error {
			return panics("another store", func() { p.tables[0].emplace(q, model.Item{}) })
		})
	},
	"zero-queue": func(p *executor, _ context.Context) error {
		return errors.Join(
			panics("zero Queue", func() { p.tables[0].erase(store.Queue{}, 0) }),
			panics("zero Queue", func() { store.Queue{}.Erase(0) }))
	},
	"inbox-queue-kept": func(p *executor, _ context.Context) error {
		if p.exact.InboxFull() {
			return errUntried
		}
		var kept store.Queue
		err := p.store.Inbox(func(q store.Queue) error { kept = q; return nil })
		_, wrong := p.exact.Arrive(nil, false)
		return errors.Join(err, wrong, panics("", func() { p.tables[0].erase(kept, 0) }))
	},

	"rollback-of-another-store": func(p *executor, ctx context.Context) error {
		var c store.Checkpoint
		if err := p.other().Checkpoint(ctx, &c); err != nil {
			return err
		}
		return errors.Join(
			wraps(p.store.Rollback(ctx, &c), store.ErrCheckpoint),
			wraps(p.store.Checkpoint(ctx, &c), store.ErrCheckpoint),
			wraps(p.store.Rollback(ctx, nil), store.ErrCheckpoint))
	},
	"bad-schedule": func(p *executor, _ context.Context) error {
		run := func(context.Context) error { return nil }
		for _, systems := range [][]store.System{
			nil,
			{{Name: "", Run: run}},
			{{Name: "a"}},
			{{Name: "a", Run: run}, {Name: "a", Run: run}},
			{{Name: "a", Run: run, Writes: []store.Resource{p.other().table}}},
			{{Name: "a", Run: run, Emits: []store.Resource{store.Other("sun")}}},
			{{Name: "a", Run: run, After: []string{"b"}}},
			{{Name: "a", Run: run, After: []string{"b"}}, {Name: "b", Run: run, After: []string{"a"}}},
		} {
			if _, err := store.NewSchedule(p.store, systems...); err == nil {
				return fmt.Errorf("a schedule of %+v is accepted", systems)
			}
		}
		return nil
	},
	"bad-options": func(p *executor, _ context.Context) error {
		if _, err := store.New(store.Options{Workers: -1}); err == nil {
			return errors.New("a store of -1 workers is accepted")
		}
		for _, o := range []store.TableOptions[word]{
			{Name: p.program.Tables[0].Name},
			{Name: "x", TypeID: int(p.modelled[0].TypeID)},
			{Name: "x", Shards: 65},
			{Name: "x", TypeID: 32768},
			{Name: "x", Shards: -1},
			{Name: "x", MinFree: -1},
			{Name: "x", Reserve: 2, MaxItems: 1},
			{Name: "x", ChunkItems: -1},
		} {
			if _, err := store.Register(p.store, o); err == nil {
				return fmt.Errorf("a table with %+v is accepted", o)
			}
		}
		return nil
	},
	"callback-changes-map": func(p *executor, ctx context.Context) error {
		return p.inWrite(ctx, func(_ context.Context, w *store.Writer) error {
			for _, t := range p.tables {
				if m := t.maps(w)[0]; m.Len() > 0 {
					return panics("callback of the same map", func() {
						m.eraseFunc(func(model.Item) bool { m.Clear(); return false })
					})
				}
			}
			return errUntried
		})
	},
	"negative-sizes": func(p *executor, ctx context.Context) error {
		return errors.Join(
			panics("-1", func() { _ = p.store.Each(ctx, -1, noTask) }),
			panics("-1", func() { _, _ = p.store.Queues(-1) }))
	},
}

// errUntried says that the store was in no state to be misused so: the batch was
// full, or no item there.
var errUntried = errors.New("not tried")

// Misuses returns the kinds of misuse that a program may be drawn with.
func Misuses() []string { return slices.Sorted(maps.Keys(misuses)) }

func (p *executor) misuse(ctx context.Context, word string) {
	if f := mishaps[word]; f != nil {
		f(p)
		return
	}
	unchanged := p.unchanged(ctx, "misuse")
	switch err := misuses[word](p, ctx); err {
	case nil:
		p.see(model.MisuseRefused)
	case errUntried: // and nothing else: an error beside it would count
	default:
		p.fail(Model, "%v", err)
		return
	}
	p.checkPending()
	unchanged()
}

func noWrite(context.Context, *store.Writer) error   { return nil }
func noTask(context.Context, int, store.Queue) error { return nil }
func noRead(context.Context) error                   { return nil }
func noChunk(context.Context, chunk) error           { return nil }
func second[T any](_ T, err error) error             { return err }

// refused returns nil for an error that wraps ErrPhase.
func refused(err error) error { return wraps(err, store.ErrPhase) }

// wraps returns nil for an error that wraps another.
func wraps(err, want error) error {
	if errors.Is(err, want) {
		return nil
	}
	return fmt.Errorf("the error is %v; want one that wraps %q", err, want)
}

// panics returns nil if f panics with a text that contains want.
func panics(want string, f func()) (err error) {
	defer func() {
		if v := recover(); v == nil || !strings.Contains(fmt.Sprint(v), want) {
			err = fmt.Errorf("it panics with %v; want %q", v, want)
		}
	}()
	f()
	return nil
}

// lonePass runs a pass of one task, which the models count.
func (p *executor) lonePass(ctx context.Context, f func(ctx context.Context, q store.Queue) error) error {
	var inner error
	full := p.exact.BatchFull()
	err := p.store.Each(ctx, 1, func(ctx context.Context, _ int, q store.Queue) error {
		inner = f(ctx, q)
		return nil
	})
	if full && errors.Is(err, store.ErrQueueFull) {
		return errUntried
	}
	_, wrong := p.exact.EndPass(p.exact.BeginPass(), nil, false, false)
	return errors.Join(err, inner, wrong)
}

// Check returns an error that names the line of a program that cannot be played.
func Check(prog *script.Script, name string) error {
	var fault error
	script.Walk(prog.Steps, func(s *script.Step) {
		known := misuses[s.Word] != nil || mishaps[s.Word] != nil
		if s.Op == script.Misuse && !known && fault == nil {
			fault = &script.Error{File: name, Line: s.Line, Reason: fmt.Sprintf(
				"no misuse is called %q; want one of %s", s.Word, strings.Join(Misuses(), ", "))}
		}
	})
	if _, err := typeIDs(prog.Tables); err != nil && fault == nil {
		fault = &script.Error{File: name, Line: 1, Reason: err.Error()}
	}
	if len(prog.Tables) == 0 && fault == nil {
		fault = &script.Error{File: name, Line: 1, Reason: "the program has no table"}
	}
	return fault
}
