package cluster

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"handloom/journal"
)

// deliver returns the records of the messages; nil is a foreign one.
func deliver(messages ...[]byte) (recs [][]byte) {
	r := reader{log: new(Log), seq: 1, known: true, each: func(_ uint64, rec []byte) error {
		recs = append(recs, bytes.Clone(rec))
		return nil
	}}
	for _, b := range messages {
		if b == nil {
			r.skip()
			continue
		}
		var m message
		if m.decode(b) != nil || r.take(&m) != nil {
			break
		}
	}
	return recs
}

func fragments(number uint64, before chain, bytes ...string) (all [][]byte) {
	rec := []byte{}
	for _, b := range bytes {
		rec = append(rec, b...)
	}
	for i, b := range bytes {
		m := message{number: number, before: before, sum: before.next(rec), fragment: i + 1, fragments: len(bytes), bytes: []byte(b)}
		all = append(all, m.encode())
	}
	return all
}

func TestReader_DropsDamagedMessages(t *testing.T) {
	for _, whole := range [][][]byte{fragments(1, chain{}, "record"), fragments(1, chain{}, ""), fragments(1, chain{}, "one", "two", "three")} {
		if recs := deliver(whole...); len(recs) != 1 {
			t.Fatalf("%d records of %d whole messages", len(recs), len(whole))
		}
		for i := range whole {
			good := whole[i]
			for n := range good {
				whole[i] = good[:n]
				if recs := deliver(whole...); len(recs) > 0 {
					t.Errorf("message %d, cut behind %d bytes: %q", i, n, recs)
				}
			}
			for bit := range 8 * len(good) {
				whole[i] = bytes.Clone(good)
				whole[i][bit/8] ^= 1 << (bit % 8)
				if recs := deliver(whole...); len(recs) > 0 {
					t.Errorf("message %d with bit %d flipped: %q", i, bit, recs)
				}
			}
			whole[i] = good
		}
	}
}

// Other messages between two fragments void the record.
func TestReader_SkipsIncompleteRecords(t *testing.T) {
	a, b := fragments(1, chain{}, "a1", "a2", "a3"), fragments(1, chain{}, "b1", "b2")
	next := fragments(2, chain{}.next([]byte("b1b2")), "next")
	for name, messages := range map[string][][]byte{
		"one part before":           {a[0], b[0], b[1], next[0]},
		"two parts before":          {a[0], a[1], b[0], b[1], next[0]},
		"one part twice":            {b[0], b[0], b[1], next[0]},
		"a foreign message before":  {nil, b[0], b[1], nil, next[0]},
		"a foreign message between": {b[0], nil, b[1], b[0], b[1], next[0]},
		"a part in between":         {b[0], a[0], b[1], b[0], b[1], next[0]},
		"another's middle between":  {b[0], a[1], b[1], b[0], b[1], next[0]},
		"parts of another's middle": {b[0], a[1], a[2], b[0], b[1], next[0]},
	} {
		if recs := deliver(messages...); len(recs) != 2 || string(recs[0]) != "b1b2" || string(recs[1]) != "next" {
			t.Errorf("%s: %q", name, recs)
		}
	}
}

// A good record resets the retries.
func TestReader_RereadsWrongRecord(t *testing.T) {
	var recs []string
	r := reader{log: new(Log), seq: 1, known: true, retries: 1, each: func(_ uint64, rec []byte) error {
		recs = append(recs, string(rec))
		return nil
	}}
	take := func(all [][]byte) (err error) {
		for _, b := range all {
			var m message
			if err = m.decode(b); err == nil {
				err = r.take(&m)
			}
		}
		return err
	}
	good, bad := fragments(1, chain{}, "one", "two", "three"), fragments(1, chain{}, "one", "two", "three")
	bad[2][headerBytes] ^= 1
	if err := take(bad); !errors.Is(err, ErrCorrupt) || r.seq != 1 || r.retries != 1 || recs != nil {
		t.Errorf("a wrong part: %v; message %d is next, %d strikes, records %q", err, r.seq, r.retries, recs)
	}
	if err := take(good); err != nil || r.seq != 4 || r.retries != 0 || len(recs) != 1 || recs[0] != "onetwothree" {
		t.Errorf("the right ones: %v; message %d is next, %d strikes, records %q", err, r.seq, r.retries, recs)
	}
}

func TestReader_WaitsForGracePeriod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := reader{log: &Log{grace: maxGrace}}
		for range 2 {
			if err := r.judge(errTooShort); err != nil {
				t.Errorf("a stream that is found too short: %v, want no error yet", err)
			}
			time.Sleep(maxGrace / 2)
		}
		if err := r.judge(errTooShort); !errors.Is(err, ErrBehind) {
			t.Errorf("a stream that stays too short: %v, want ErrBehind", err)
		}
	})
}

// All records after the trimmed one stay.
func TestLocalReplica_TrimsWithMissingRecords(t *testing.T) {
	ctx := t.Context()
	j, err := journal.Open(t.TempDir(), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	for n := range uint64(10) {
		if _, err := j.Append(ctx, n, []byte{byte(n)}); err != nil {
			t.Fatal(err)
		}
	}
	o := localReplica{journal: j, at: 10, last: location{at: 20}}
	for _, through := range []uint64{14, 15} {
		if err := o.trim(ctx, through); err != nil {
			t.Fatal(err)
		}
	}
	if saved, err := j.Snapshots(ctx); err != nil || !slices.Equal(saved, []uint64{5, 4}) {
		t.Errorf("the journal keeps what follows its records %v, %v; want 5 and 4, which are 15 and 14 of the log", saved, err)
	}
}
