package kills

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"

	"handloom/journal"
	"handloom/store"
	"handloom/world"
)

// ChildCommand is the first word of the command line of a child.
const ChildCommand = "kills-child"

// Child plays the program on the journal in a folder until in ends or it is killed,
// and says on out what it has done. The words are the folder, the number of the
// child, and that of its workers.
func Child(words []string, in io.Reader, out io.Writer) (exit int) {
	// What ends a run is the parent's to answer.
	signal.Ignore(os.Interrupt, syscall.SIGTERM)
	c := child{out: out}
	err := errors.New("want DIR NUMBER WORKERS")
	if len(words) == 3 {
		number, err1 := strconv.ParseUint(words[1], 10, 32)
		workers, err2 := strconv.Atoi(words[2])
		if err = errors.Join(err1, err2); err == nil {
			err = c.run(words[0], number, workers, in)
		}
	}
	if err != nil {
		c.say("fail %q", err.Error())
		return 1
	}
	return 0
}

type child struct {
	lock sync.Mutex
	out  io.Writer
	err  error // of a tick's digest
}

// say writes one line at once, which a pipe takes whole.
func (c *child) say(format string, args ...any) {
	c.lock.Lock()
	defer c.lock.Unlock()
	fmt.Fprintf(c.out, format+"\n", args...)
}

func (c *child) run(dir string, number uint64, workers int, in io.Reader) error {
	ctx, end := context.WithCancel(context.Background())
	defer end()
	g, err := newGame(workers)
	if err != nil {
		return err
	}
	j, err := journal.Open(dir, journalOptions)
	if err != nil {
		return err
	}
	w, err := world.Open(ctx, g.Store, j, g.options(func(ctx context.Context, o world.Outcome) {
		if o.Replay {
			c.tell(ctx, g, "replay", o.Number)
		} else {
			c.tell(ctx, g, "tick", o.Number)
		}
	}))
	if err != nil {
		return errors.Join(err, j.Close())
	}
	err = w.Read(ctx, func(ctx context.Context, t world.Tick) error {
		c.tell(ctx, g, "open", t.Number)
		return nil
	})
	go func() {
		_, _ = io.Copy(io.Discard, in)
		end()
	}()
	var all sync.WaitGroup
	for from := range uint64(submitters) {
		all.Go(func() { c.submit(ctx, w, g, number<<32|from<<28) })
	}
	for err == nil && ctx.Err() == nil {
		_, err = w.Step(ctx)
	}
	if ctx.Err() != nil {
		err = nil
	}
	err = errors.Join(err, w.Close(context.Background()))
	end()
	all.Wait()
	return errors.Join(err, c.err, j.Close())
}

// tell says the digest of the state behind a tick.
func (c *child) tell(ctx context.Context, g *game, what string, tick uint64) {
	digest, err := g.Digest(ctx)
	if err != nil {
		c.err = err
	}
	c.say("%s %d %d", what, tick, digest)
}

// submitters are how many goroutines submit.
const submitters = 3

// submit leaves notes with keys from one on, and says which are acknowledged.
func (c *child) submit(ctx context.Context, w *world.World, g *game, key uint64) {
	for ctx.Err() == nil {
		key++
		_, err := w.Submit(ctx, func(q store.Queue) error {
			g.notes.Emplace(q, note{Key: key})
			return nil
		})
		if err != nil {
			return
		}
		c.say("ack %d", key)
	}
}
