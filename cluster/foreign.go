package cluster

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// isForeign reports whether a message was not appended by a Log. A Log names the sequence before
// its message in a header, and the servers store the message only there.
func isForeign(seq uint64, h nats.Header) bool {
	return h.Get(jetstream.ExpectedLastSeqHeader) != strconv.FormatUint(seq-1, 10)
}

var errForeign = errors.New("cluster: foreign message")

// ForeignMessages returns the number of messages in the stream that no Log appended, as far
// as this Log has read the stream since Open. They are void: the records continue after them.
// Revoke the rights of their publisher.
func (l *Log) ForeignMessages() uint64 {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.foreign.total
}

// foreignRuns are the sequences of known foreign messages.
type foreignRuns struct {
	created time.Time // of the stream
	runs    []run     // ascending, with gaps
	total   uint64    // including trimmed messages
}

type run struct{ first, last uint64 }

// find returns the run that contains seq.
func (f *foreignRuns) find(seq uint64) (i int, found bool) {
	return slices.BinarySearchFunc(f.runs, seq, func(r run, seq uint64) int {
		if r.first <= seq && seq <= r.last {
			return 0
		}
		return cmp.Compare(r.first, seq)
	})
}

func (f *foreignRuns) add(seq uint64) {
	i, found := f.find(seq)
	if found {
		return
	}
	f.total++
	f.runs = slices.Insert(f.runs, i, run{seq, seq})
	if i+1 < len(f.runs) && f.runs[i+1].first == seq+1 {
		f.runs[i].last = f.runs[i+1].last
		f.runs = slices.Delete(f.runs, i+1, i+2)
	}
	if i > 0 && f.runs[i-1].last == seq-1 {
		f.runs[i-1].last = f.runs[i].last
		f.runs = slices.Delete(f.runs, i, i+1)
	}
}

// trim forgets the runs before the first message, and all runs of an older stream.
func (f *foreignRuns) trim(created time.Time, first uint64) {
	f.runs = slices.DeleteFunc(f.runs, func(r run) bool { return r.last < first || !created.Equal(f.created) })
	f.created = created
}

func (l *Log) foreignRun(seq uint64) (run, bool) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	i, found := l.foreign.find(seq)
	if !found {
		return run{}, false
	}
	return l.foreign.runs[i], true
}

// noteSkipped moves the last record that this Log knows past a foreign message.
func (l *Log) noteSkipped(at, seq uint64) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.foreign.add(seq)
	if l.seen.at == at && l.seen.seq == seq-1 {
		l.seen.seq = seq
	}
}

const (
	// scanAfter is the number of foreign messages in a row after which a consumer reads a window
	// of them. Each further window is longer.
	scanAfter  = 16
	scanWindow = 1 << 10
)

// previous returns the last message from first through seq that is not foreign, or 0.
func (l *Log) previous(ctx context.Context, first, seq uint64, m *message) (uint64, error) {
	for tries, window := 0, uint64(scanWindow); seq >= first && seq > 0; tries++ {
		if r, found := l.foreignRun(seq); found {
			seq = r.first - 1
			continue
		}
		if tries >= scanAfter {
			if err := l.scan(ctx, max(first, seq-min(seq, window)), seq); err != nil {
				return 0, err
			}
			window *= 8
		}
		if err := l.get(ctx, seq, m); err != errForeign {
			return seq, err
		}
	}
	return 0, nil
}

// next returns the first message from seq through last that is not foreign, or 0.
func (l *Log) next(ctx context.Context, seq, last uint64, m *message) (uint64, error) {
	for tries, window := 0, uint64(scanWindow); seq <= last; tries++ {
		if r, found := l.foreignRun(seq); found {
			seq = r.last + 1
			continue
		}
		if tries >= scanAfter {
			if err := l.scan(ctx, seq, min(last, seq+window)); err != nil {
				return 0, err
			}
			window *= 8
		}
		if err := l.get(ctx, seq, m); err != errForeign {
			return seq, err
		}
	}
	return 0, nil
}

// scan notes the foreign messages from first through last.
func (l *Log) scan(ctx context.Context, first, last uint64) error {
	f, err := l.consumer(ctx, first)
	if err != nil {
		return err
	}
	defer f.messages.Stop()
	for seq := first; seq < last; {
		msg, err := f.next(ctx)
		if err != nil {
			return err
		}
		if seq = f.seq - 1; isForeign(seq, msg.Headers()) {
			l.locked(func() { l.foreign.add(seq) })
		}
	}
	return nil
}
