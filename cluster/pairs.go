package cluster

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// pairs keep snapshots in [Blobs]. A snapshot is two blobs: its bytes and, once they were read
// back, their SHA-256. One without the other is ignored. Several nodes may save the same
// record, so names include a random number:
//
//	<cell>-<record>-<random>.snap
//	<cell>-<record>-<random>.sum
type pairs struct {
	blobs Blobs
	cell  CellID
}

const (
	snapshotExt = ".snap"
	sumExt      = ".sum"
)

// list returns the snapshots that were stored and read back, and all, in any order.
func (p *pairs) list(ctx context.Context) (whole, all []snapshot, err error) {
	names, err := p.blobs.Names(ctx)
	if err != nil {
		return nil, nil, err
	}
	whole, all = findPairs(p.cell, names)
	return whole, all, nil
}

// findPairs returns the snapshots with both blobs, and the ones with any.
func findPairs(cell CellID, names []string) (whole, all []snapshot) {
	known := make(map[string]bool, len(names))
	for _, name := range names {
		known[name] = true
	}
	for _, name := range names {
		name, ok := strings.CutSuffix(name, snapshotExt)
		if !ok { // a node may remove a snapshot before its writer stores the sum
			name, ok = strings.CutSuffix(name, sumExt)
			ok = ok && !known[name+snapshotExt]
		}
		fields := strings.Split(name, "-")
		if !ok || len(fields) != 3 || fields[0] != cell.String() {
			continue
		}
		at, err := strconv.ParseUint(fields[1], 16, 64)
		if err != nil {
			continue
		}
		all = append(all, snapshot{at, name})
		if known[name+snapshotExt] && known[name+sumExt] {
			whole = append(whole, snapshot{at, name})
		}
	}
	return whole, all
}

// newestFirst sorts snapshots, equal positions by name.
func newestFirst(all []snapshot) {
	slices.SortFunc(all, func(a, b snapshot) int {
		return cmp.Or(cmp.Compare(b.at, a.at), strings.Compare(a.name, b.name))
	})
}

// save stores the output of write, and reads it back.
func (p *pairs) save(ctx context.Context, at uint64, write func(w io.Writer) error) (snapshot, error) {
	i := snapshot{at, fmt.Sprintf("%v-%016x-%08x", p.cell, at, rand.Uint32())}
	sum, err := p.put(ctx, i, write)
	if err == nil {
		err = p.readBack(ctx, i, sum)
	}
	if err == nil {
		err = p.blobs.Put(ctx, i.name+sumExt, bytes.NewReader(sum))
	}
	return i, err
}

func (p *pairs) put(ctx context.Context, i snapshot, write func(w io.Writer) error) (sum []byte, err error) {
	pr, pw := io.Pipe()
	h := sha256.New()
	written := make(chan struct{})
	go func() {
		defer close(written)
		pw.CloseWithError(write(io.MultiWriter(pw, h)))
	}()
	err = p.blobs.Put(ctx, i.name+snapshotExt, pr)
	pr.CloseWithError(cmp.Or(err, io.ErrClosedPipe))
	<-written
	return h.Sum(nil), err
}

func (p *pairs) readBack(ctx context.Context, i snapshot, sum []byte) error {
	r, err := p.open(ctx, i)
	if err != nil {
		return err
	}
	h := sha256.New()
	_, err = io.Copy(h, r)
	err = errors.Join(err, r.Close())
	if err == nil && !bytes.Equal(h.Sum(nil), sum) {
		err = fmt.Errorf("%w: read back with another sum", ErrCorrupt)
	}
	return err
}

func (p *pairs) open(ctx context.Context, i snapshot) (io.ReadCloser, error) {
	return p.blobs.Get(ctx, i.name+snapshotExt)
}

// verify reads a snapshot. It fails with [ErrCorrupt] if it is damaged.
func (p *pairs) verify(ctx context.Context, i snapshot) error {
	r, err := p.blobs.Get(ctx, i.name+sumExt)
	if err != nil {
		return err
	}
	sum, err := io.ReadAll(io.LimitReader(r, 2*sha256.Size))
	if err = errors.Join(err, r.Close()); err == nil {
		err = p.readBack(ctx, i, sum)
	}
	return err
}

func (p *pairs) remove(ctx context.Context, i snapshot) error {
	// Sum first: without it a snapshot is ignored.
	return errors.Join(p.blobs.Delete(ctx, i.name+sumExt), p.blobs.Delete(ctx, i.name+snapshotExt))
}
