package world

import (
	"context"
	"errors"
	"io"
)

// A readAhead gives single records of a log, which it reads in batches.
type readAhead struct {
	log   Log
	tail  uint64 // the last position to read
	first uint64 // position of the first record of the batch
	bytes []byte
	ends  []int // offset in bytes of each record's end
	batch int   // max records of the next batch
}

const (
	minBatch   = 16
	maxBatch   = 1 << 10
	batchBytes = 1 << 20
)

// record returns the record at a position and, unless it is unreadable, its successor, or nil.
// Both are valid until the next call. It returns io.EOF after the tail, and the error of ctx.
func (a *readAhead) record(ctx context.Context, at uint64) (rec, next []byte, err error) {
	if at > a.tail {
		return nil, nil, io.EOF
	}
	if !a.has(at) || at < a.tail && !a.has(at+1) {
		err = a.read(ctx, at)
	}
	if !a.has(at) || err != nil && ctx.Err() != nil {
		return nil, nil, err
	}
	if a.has(at + 1) {
		next = a.at(at + 1)
	}
	return a.at(at), next, nil
}

func (a *readAhead) has(at uint64) bool {
	return at >= a.first && at-a.first < uint64(len(a.ends))
}

func (a *readAhead) at(at uint64) []byte {
	i, start := at-a.first, 0
	if i > 0 {
		start = a.ends[i-1]
	}
	return a.bytes[start:a.ends[i]:a.ends[i]]
}

// read reads a batch from position at on. Batches grow while they follow each other.
func (a *readAhead) read(ctx context.Context, at uint64) error {
	follows := a.has(at) || a.has(at-1)
	a.batch = min(2*a.batch, maxBatch)
	if !follows {
		a.batch = minBatch
	}
	a.first, a.bytes, a.ends = at, a.bytes[:0], a.ends[:0]
	err := a.log.Read(ctx, at-1, func(there uint64, rec []byte) error {
		a.bytes = append(a.bytes, rec...)
		a.ends = append(a.ends, len(a.bytes))
		if n := len(a.ends); there >= a.tail || n >= a.batch || n > 1 && len(a.bytes) >= batchBytes {
			return errEnds
		}
		return nil
	})
	if errors.Is(err, errEnds) {
		return nil
	}
	return err
}
