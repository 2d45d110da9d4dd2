package main

import (
	"context"
	"errors"
	"io"
	"strconv"
	"sync"

	"handloom/journal"
	"handloom/proof/game"
	"handloom/proof/process"
	"handloom/world"
)

const childCommand = "kills-child"

// runChild runs the program on a journal until in ends or it is killed, and
// reports to out. words are the folder and the numbers of the child and its
// workers.
func runChild(words []string, in io.Reader, out io.Writer) (exit int) {
	return process.Serve(in, out, func(ctx context.Context, p *process.Child) error {
		if len(words) != 3 {
			return errors.New("want DIR NUMBER WORKERS")
		}
		number, err1 := strconv.ParseUint(words[1], 10, 32)
		workers, err2 := strconv.Atoi(words[2])
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		c := &child{Child: p}
		return c.run(ctx, words[0], number, workers)
	})
}

type child struct {
	*process.Child
	err error // error of a digest
}

func (c *child) run(parent context.Context, dir string, number uint64, workers int) error {
	ctx, end := context.WithCancel(parent)
	defer end()
	g := newGame(workers)
	j, err := journal.Open(dir, journalOptions)
	if err != nil {
		return err
	}
	w, err := world.Open(ctx, g.Store, j, worldOptions(g, func(ctx context.Context, o world.Outcome) {
		if o.Replay {
			c.logDigest(ctx, g, "replay", o.Number)
		} else {
			c.logDigest(ctx, g, "tick", o.Number)
		}
	}))
	if err != nil {
		return errors.Join(err, j.Close())
	}
	err = w.Read(ctx, func(ctx context.Context, t world.Tick) error {
		c.logDigest(ctx, g, "open", t.Number)
		return nil
	})
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

func (c *child) logDigest(ctx context.Context, g *game.Game, what string, tick uint64) {
	digest, err := g.Digest(ctx)
	if err != nil {
		c.err = err
	}
	c.Logf("%s %d %d", what, tick, digest)
}

// submitters is the number of submitting goroutines.
const submitters = 3

// submit leaves notes with consecutive keys and reports the acknowledged keys.
func (c *child) submit(ctx context.Context, w *world.World, g *game.Game, key uint64) {
	for ctx.Err() == nil {
		key++
		if _, err := w.Submit(ctx, g.Leave(key)); err != nil {
			return
		}
		c.Logf("ack %d", key)
	}
}
