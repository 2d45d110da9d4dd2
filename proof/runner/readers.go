package runner

import (
	"context"
	"errors"
	"sync"

	"handloom/store"
)

// startReaders starts goroutines that open read phases while the program runs and
// look at every item there is. What they find is nobody's to say; that it can be
// read is for the race detector, and that neither waits for ever. It returns what
// ends them.
func (p *executor) startReaders(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	p.reading = make(chan struct{}, p.config.Readers)
	var reading sync.WaitGroup
	for range p.config.Readers {
		reading.Go(func() { p.readOn(ctx) })
	}
	return func() {
		cancel()
		reading.Wait()
	}
}

// readOn reads whenever it is woken. Readers that went on and on would take the
// processors from what they are to disturb.
func (p *executor) readOn(ctx context.Context) {
	for {
		select {
		case <-p.reading:
		case <-ctx.Done():
			return
		}
		p.readers.RLock()
		err := p.store.Read(ctx, p.readAll)
		p.readers.RUnlock()
		p.want(err == nil || errors.Is(err, context.Canceled) || errors.Is(err, store.ErrClosed), "a reader: %v", err)
	}
}

// wakeReaders has every reader open a phase beside the step that comes.
func (p *executor) wakeReaders() {
	for range p.config.Readers {
		select {
		case p.reading <- struct{}{}:
		default:
			return // they have not come to the last step's yet
		}
	}
}

// readAll walks the first tables and looks up what it comes by.
func (p *executor) readAll(ctx context.Context) error {
	for _, t := range p.tables[:min(len(p.tables), 4)] {
		n := 0
		for id, item := range t.all() {
			if got, ok := t.get(id); !ok || got != item {
				return errLookup
			}
			if n++; n == 200 {
				break
			}
		}
		if _, err := t.reduce(ctx, nil); err != nil {
			return err
		}
	}
	return nil
}

var errLookup = errors.New("an item that All yields is not found")
