package world_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"testing/synctest"

	"handloom/store"
	"handloom/world"
)

// A snapshot without later ticks is only a state, for any version.
func TestErrVersion_TicksOfOtherTables(t *testing.T) {
	for name, end := range map[string]func(t testing.TB, worlds ...*world.World){"ticks": crash, "no ticks": mustClose} {
		inBubble(t, name, func(t *testing.T) {
			l := world.Memory()
			w := mustOpen(t, newGame(t, store.Options{}), l)
			stepsSaving(t, w, 9)
			end(t, w)
			g := newGame(t, store.Options{QueueLimit: 1000})
			w, err := world.Open(t.Context(), g.Store, l, g.options())
			if name == "ticks" {
				wantError(t, err, world.ErrVersion)
				return
			}
			noError(t, err)
			equal(t, "tick", mustStep(t, w).Number, 10)
			mustClose(t, w)
		})
	}
}

type closing struct {
	io.Reader
	close func() error
}

func (c closing) Close() error { return c.close() }

// Every snapshot that was opened is closed.
func TestSnapshot_WrongOneIsSkipped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := world.Memory()
		w := mustOpen(t, newGame(t, store.Options{}), l)
		steps(t, w, 20)
		mustClose(t, w)
		saved := snapshotsOf(t, l)
		for _, c := range []struct {
			instead uint64 // replaces the newest
			err     error  // returned by its Close
		}{{saved[0], errLost}, {saved[1], nil}} {
			opened := 0
			w := mustOpen(t, newGame(t, store.Options{}), &faulty{Log: l, load: func(ctx context.Context, at uint64) (io.ReadCloser, error) {
				err := c.err
				if at == saved[0] {
					at = c.instead
				} else {
					err = nil
				}
				r, failed := l.Load(ctx, at)
				opened++
				return closing{r, func() error { opened--; return err }}, failed
			}})
			s := w.Status()
			failIf(t, s.BadSnapshots != 1 || s.Tick != 20 || opened != 0, "record %d instead of %d, closed with %v: %d are open; %+v", c.instead, saved[0], c.err, opened, s)
			crash(t, w)
		}
	})
}

func TestErrCorrupt_RecordsThatDoNotFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		good := keeping{world.Memory()}
		g, w := newWorld(t, store.Options{}, good, func(o *world.Options) { o.SnapshotTicks = 1000 })
		for n := range 6 {
			submit(t.Context(), w, g.order(n))
			steps(t, w, 1)
		}
		crash(t, w)
		recs := records(t, good)
		for name, bad := range map[string][][]byte{
			"the leader of the last tick has another byte": slices.Concat(recs[:6], [][]byte{flipped(recs[6], 13)}),
			"the cell of the last tick has another byte":   slices.Concat(recs[:6], [][]byte{flipped(recs[6], 5)}),
			"the chain in the last tick has another byte":  slices.Concat(recs[:6], [][]byte{flipped(recs[6], 41)}),
			"tick 3 is missing":                            slices.Concat(recs[:3], recs[4:]),
			"tick 3 is there twice":                        slices.Concat(recs[:4], recs[3:]),
			"ticks 3 and 4 are in the wrong order":         slices.Concat(recs[:3], [][]byte{recs[4], recs[3]}, recs[5:]),
			"the epoch is missing":                         recs[1:],
			"another record is in its place":               slices.Concat(recs[:3], [][]byte{[]byte("no record")}, recs[4:]),
			"the end is missing, then another tick":        slices.Concat(recs[:3], recs[5:]),
		} {
			l := logOf(t, good, bad)
			h := newGame(t, store.Options{})
			_, err := world.Open(t.Context(), h.Store, l, h.options())
			failIf(t, !errors.Is(err, world.ErrCorrupt), "%s: %v", name, err)
		}
		for n, rec := range recs[:len(recs)-1] { // the chain of the next record covers every byte
			for at := range rec {
				h, bad := newGame(t, alone), slices.Concat(recs[:n], [][]byte{flipped(rec, at)}, recs[n+1:])
				_, err := world.Open(t.Context(), h.Store, logOf(t, good, bad), h.options())
				known := errors.Is(err, world.ErrCorrupt) || errors.Is(err, world.ErrVersion) || errors.Is(err, world.ErrDiverged)
				failIf(t, !known, "record %d, byte %d: %v", n+1, at, err)
			}
		}
	})
}

func TestErrCorrupt_LogLostItsEnd(t *testing.T) {
	good := keeping{world.Memory()}
	w := mustOpen(t, newGame(t, store.Options{}), good)
	steps(t, w, 5)
	mustClose(t, w) // saves a snapshot
	short := world.Memory()
	for n, rec := range records(t, good)[:4] {
		noError(t, errorOf(short.Append(t.Context(), uint64(n), rec)))
	}
	copySnapshot(t, good, short, 6)
	g := newGame(t, store.Options{})
	wantError(t, errorOf(world.Open(t.Context(), g.Store, short, g.options())), world.ErrCorrupt)
}

func flipped(rec []byte, at int) []byte {
	b := bytes.Clone(rec)
	b[at] ^= 1
	return b
}

// records returns all records of an untrimmed log.
func records(t *testing.T, l world.Log) (recs [][]byte) {
	t.Helper()
	tail, err := l.Tail(t.Context())
	noError(t, err)
	_ = l.Read(t.Context(), 0, func(at uint64, rec []byte) error {
		recs = append(recs, bytes.Clone(rec))
		if at == tail {
			return errLost
		}
		return nil
	})
	return recs
}

func logOf(t *testing.T, source world.Log, recs [][]byte) world.Log {
	t.Helper()
	l := world.Memory()
	for n, rec := range recs {
		noError(t, errorOf(l.Append(t.Context(), uint64(n), rec)))
	}
	copySnapshot(t, source, l, 0)
	return l
}

func copySnapshot(t *testing.T, from, to world.Log, at uint64) {
	t.Helper()
	r, err := from.Load(t.Context(), at)
	noError(t, err)
	err = to.Save(t.Context(), at, func(w io.Writer) error {
		_, err := io.Copy(w, r)
		return err
	})
	noError(t, err)
}

func TestReplay_RestoresAnyTick(t *testing.T) { synctest.Test(t, exportAndReplay) }

func exportAndReplay(t *testing.T) {
	l := keeping{world.Memory()}
	g := newGame(t, store.Options{})
	g.seeded = true
	w := mustOpen(t, g, l)
	stepsSaving(t, w, 20)
	var b bytes.Buffer
	noError(t, w.Export(t.Context(), &b))
	loaded := newGame(t, store.Options{})
	noError(t, loaded.Load(t.Context(), &b))
	equal(t, "loaded digest", digest(t, loaded), digest(t, g))
	stepsSaving(t, w, 3)
	crash(t, w)
	for _, upTo := range []uint64{19, 1000} {
		h := newGame(t, store.Options{})
		h.seeded = true
		noError(t, world.Replay(t.Context(), h.Store, l, h.options(), upTo))
		equal(t, fmt.Sprint("digest of Replay to tick ", upTo), digest(t, h), g.digests[min(upTo, 23)])
		wantSame(t, g, h)
		noError(t, errorOf(h.Flush(t.Context())))
	}
	h := newGame(t, store.Options{})
	wantError(t, world.Replay(t.Context(), h.Store, l, h.options(), 2), world.ErrCorrupt)
}
