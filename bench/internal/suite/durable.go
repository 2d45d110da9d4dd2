package suite

import (
	"context"
	"os"
	"path/filepath"

	"handloom/bench/internal/measure"
	"handloom/journal"
	"handloom/store"
)

func (s full[T]) newMemory() measure.Case {
	return s.newCase("load", "makecopy", func() *measure.Work {
		h := newHandCopy[T](s.n)
		return &measure.Work{Items: s.n, Body: func() {
			to := handCopy[T]{items: h.items, slots: h.slots, rows: h.rows}
			to.items2, to.slots2, to.rows2 = make([]T, s.n), make([]uint64, s.n), make([]uint32, s.n)
			to.copy()
			keep(to.slots2[s.n-1])
		}}
	})
}

// files returns the cases of a synced snapshot file, and of a file of the same
// size without encoding, in the temporary folder.
func (s full[T]) files() []measure.Case {
	saved := func() *store.Checkpoint {
		st, c := newStore(1), new(store.Checkpoint)
		emplace(st, s.register(st, false), values[T](s.n))
		check(st.Checkpoint(context.Background(), c))
		return c
	}
	return []measure.Case{
		s.newCase("savefile", "table", func() *measure.Work {
			c := saved()
			return s.toFile(func(f *os.File) { must(c.WriteTo(f)) })
		}),
		s.newCase("savefile", "disk", func() *measure.Work {
			var all pieces
			must(saved().WriteTo(&all))
			return s.toFile(func(f *os.File) {
				for _, b := range all {
					must(f.Write(b))
				}
			})
		}),
	}
}

type pieces [][]byte

func (p *pieces) Write(b []byte) (int, error) {
	*p = append(*p, append([]byte(nil), b...))
	return len(b), nil
}

// syncFile syncs a file; tests count the calls.
var syncFile = (*os.File).Sync

func (s full[T]) toFile(write func(f *os.File)) *measure.Work {
	dir := must(os.MkdirTemp("", "handloom-bench-"))
	return &measure.Work{
		Items: s.n,
		Body: func() {
			f := must(os.Create(filepath.Join(dir, "file")))
			write(f)
			check(syncFile(f))
			check(f.Close())
		},
		Close: func() { check(os.RemoveAll(dir)) },
	}
}

// recordBytes is the size of a record of a tick with a few calls.
const recordBytes = 1 << 10

// appends returns the cases of a record in a journal, and of a synced write of
// as many bytes into a file of zeros.
func appends(family) []measure.Case {
	rec := make([]byte, recordBytes)
	for i := range rec {
		rec[i] = byte(i)
	}
	return []measure.Case{
		{Op: "append", Impl: "journal", Size: recordBytes, Unit: measure.PerOp, Open: func() *measure.Work {
			dir, at := must(os.MkdirTemp("", "handloom-bench-")), uint64(0)
			j := must(journal.Open(dir, journal.Options{}))
			return &measure.Work{
				Body:  func() { at = must(j.Append(context.Background(), at, rec)) },
				Close: func() { check(j.Close()); check(os.RemoveAll(dir)) },
			}
		}},
		{Op: "append", Impl: "disk", Size: recordBytes, Unit: measure.PerOp, Open: func() *measure.Work {
			dir, at := must(os.MkdirTemp("", "handloom-bench-")), int64(0)
			f := must(os.Create(filepath.Join(dir, "file")))
			const room = 16 << 20
			must(f.Write(make([]byte, room)))
			check(syncFile(f))
			return &measure.Work{
				Body: func() {
					must(f.WriteAt(rec, at))
					check(syncFile(f))
					at = (at + recordBytes) % room
				},
				Close: func() { check(f.Close()); check(os.RemoveAll(dir)) },
			}
		}},
	}
}
