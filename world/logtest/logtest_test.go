package logtest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"handloom/world"
)

// A broken log breaks one rule.
type broken struct {
	world.Log
	breaks string
	mutex  sync.Mutex
	kept   [][]byte
}

var errEnds = errors.New("the end")

var breaks = []string{
	"append anywhere", "append keeps rec", "append at 0", "append for two", "append after end", "append cuts", "read skips",
	"read ends", "read from a gap", "tail lags", "save in part", "saved upwards", "saved one", "load another", "load what is gone",
	"trim always", "reject nothing",
}

func (b *broken) Append(ctx context.Context, prev uint64, rec []byte) (at uint64, err error) {
	switch b.breaks {
	case "append anywhere":
		prev, _ = b.Log.Tail(ctx)
	case "append after end":
		ctx = context.WithoutCancel(ctx)
	case "append cuts":
		rec = rec[:min(len(rec), 1<<20)]
	}
	at, err = b.Log.Append(ctx, prev, rec)
	switch {
	case b.breaks == "append keeps rec" && err == nil:
		b.mutex.Lock()
		defer b.mutex.Unlock()
		b.kept = append(b.kept, rec)
	case b.breaks == "append at 0":
		at = 0
	case b.breaks == "append for two" && len(rec) == 2: // two writers
		return prev + 1, nil
	}
	return at, err
}

func (b *broken) Read(ctx context.Context, after uint64, each func(at uint64, rec []byte) error) error {
	tail, _ := b.Log.Tail(ctx)
	err := b.Log.Read(ctx, after, func(at uint64, rec []byte) error {
		switch {
		case b.breaks == "read skips" && at == 7:
			return nil
		case b.breaks == "append keeps rec":
			b.mutex.Lock()
			rec = b.kept[min(at, uint64(len(b.kept)))-1]
			b.mutex.Unlock()
		}
		err := each(at, rec)
		if b.breaks == "read ends" && at == tail {
			err = errEnds
		}
		return err
	})
	if err == errEnds {
		return nil
	}
	if strings.Contains(err.Error(), "trimmed") && b.breaks == "read from a gap" {
		return b.Log.Read(ctx, 20, each)
	}
	return err
}

func (b *broken) Tail(ctx context.Context) (uint64, error) {
	at, err := b.Log.Tail(ctx)
	if b.breaks == "tail lags" {
		at = max(at, 1) - 1
	}
	return at, err
}

func (b *broken) Save(ctx context.Context, at uint64, write func(w io.Writer) error) error {
	return b.Log.Save(ctx, at, func(w io.Writer) error {
		err := write(w)
		if b.breaks == "save in part" {
			return nil
		}
		return err
	})
}

func (b *broken) Snapshots(ctx context.Context) ([]uint64, error) {
	saved, err := b.Log.Snapshots(ctx)
	switch b.breaks {
	case "saved upwards":
		slices.Sort(saved)
	case "saved one":
		saved = saved[:min(len(saved), 1)]
	}
	return saved, err
}

func (b *broken) Load(ctx context.Context, at uint64) (io.ReadCloser, error) {
	r, err := b.Log.Load(ctx, at)
	if b.breaks == "load another" || b.breaks == "load what is gone" && err != nil {
		return io.NopCloser(new(bytes.Buffer)), nil
	}
	return r, err
}

func (b *broken) Trim(ctx context.Context, through uint64) error {
	err := b.Log.Trim(ctx, through)
	if b.breaks == "trim always" {
		return nil
	}
	return err
}

func (b *broken) Reject(ctx context.Context, at uint64) error {
	if b.breaks == "reject nothing" {
		return nil
	}
	return b.Log.(interface {
		Reject(ctx context.Context, at uint64) error
	}).Reject(ctx, at)
}

func TestRun_FindsEachBrokenRule(t *testing.T) {
	for _, rule := range append(breaks, "") {
		synctest.Test(t, func(t *testing.T) {
			var found []string
			for _, r := range rules {
				if err := r.holds(t.Context(), &broken{Log: world.Memory(), breaks: rule}); err != nil {
					found = append(found, err.Error())
				}
			}
			t.Logf("%q: %q", rule, found)
			if (len(found) > 0) != (rule != "") {
				t.Errorf("a log that breaks %q: found %q", rule, found)
			}
		})
	}
}
