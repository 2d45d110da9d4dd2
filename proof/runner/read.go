package runner

import (
	"context"
	"sync"

	"handloom/proof/model"
	"handloom/proof/script"
)

// reduce compares the Reduce of a table. The sum depends on the order of items and chunks.
func (p *executor) reduce(ctx context.Context, table int) {
	got, err := p.tables[table].reduce(ctx, nil)
	if want := p.exact.Fold(table); err != nil || got != want {
		p.fail(Model, "Reduce: %+v, %v; want %+v", got, err, want)
	}
}

const readers = 3

// read looks handles up from several goroutines in one read phase, and checks
// that the digest stays (P1).
func (p *executor) read(ctx context.Context, s *script.Step) {
	targets := p.targets(s.Refs, place{step: p.step})
	unchanged := p.unchanged(ctx, "a read")
	err := p.store.Read(ctx, func(ctx context.Context) error {
		var looking sync.WaitGroup
		for range readers {
			looking.Go(func() {
				for _, t := range targets {
					p.probe(t.id)
				}
			})
		}
		looking.Wait()
		for table := range p.tables {
			// Programs may have a thousand tables.
			if table < 4 {
				p.reduce(ctx, table)
			}
		}
		return p.store.Verify(ctx)
	})
	if err != nil {
		p.fail(Invariant, "Read: %v", err)
	}
	unchanged()
}

// finish looks up all handles of the history and closes the store.
func (p *executor) finish(ctx context.Context) {
	p.inspect(ctx)
	p.inspectAll(ctx)
	p.mark(ctx, "end")
	p.checkStats()
	p.probeAll()
	if p.failed() {
		return
	}
	want := p.exact.Pending()
	unapplied, err := p.store.Close(ctx)
	if err != nil || unapplied != want {
		p.fail(Model, "Close: %d commands, %v; want %d", unapplied, err, want)
	}
	for _, id := range p.abstract.Issued() {
		if p.has(id) {
			p.fail(Model, "the closed store finds %s", model.Text(id))
			break
		}
	}
}
