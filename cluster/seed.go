package cluster

import (
	"fmt"
	"io"

	"handloom/internal/entry"
	"handloom/internal/image"
)

// A seed is the state given to [Reseed].
type seed struct {
	r  io.ReadSeeker // nil: none
	at uint64        // its record
}

// readSeed reads all of r, which may be nil, and checks its sums.
func readSeed(r io.ReadSeeker) (s seed, err error) {
	if r == nil {
		return seed{}, nil
	}
	s.r = r
	if err := s.rewind(); err != nil {
		return s, err
	}
	info, err := image.Inspect(r)
	if err != nil {
		return s, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	trailer, err := io.ReadAll(io.LimitReader(r, entry.MaxTrailer))
	if err != nil {
		return s, err
	}
	if err := new(entry.Trailer).Decode(trailer); err != nil {
		return s, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	s.at = info.Tag.At
	return s, nil
}

func (s seed) rewind() error {
	_, err := s.r.Seek(0, io.SeekStart)
	return err
}

func (s seed) copyTo(w io.Writer) error {
	if err := s.rewind(); err != nil {
		return err
	}
	_, err := io.Copy(w, s.r)
	return err
}
