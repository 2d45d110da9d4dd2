package cluster

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"handloom/cluster/internal/localnet"
)

var saveCount = flag.Int("saves", 40, "number of saves in tests of snapshots in JetStream")

func savesOf(t *testing.T) int {
	if testing.Short() {
		return min(*saveCount, 10)
	}
	return *saveCount
}

// wantTidy wants exactly these snapshots in the bucket, without claims and other chunks.
func wantTidy(t testing.TB, l PatientLog, want ...uint64) {
	t.Helper()
	s := l.saved.(*slots)
	v, err := Try(t.Context(), func() (view, error) { return s.look(t.Context()) })
	noError(t, err)
	messages := uint64(0)
	var at []uint64
	for k := range v.slots {
		if v.slots[k].seq > 0 {
			messages += 1 + uint64(v.slots[k].info.Chunks)
		}
		if i, ok := v.slots[k].snapshot(); ok {
			at = append(at, i.at)
			noError(t, s.verify(t.Context(), i))
		}
		if v.slots[k].claim() != "" {
			t.Errorf("slot %d is claimed", k)
		}
	}
	slices.Sort(at)
	info, err := s.stream.Info(Wait(t), jetstream.WithSubjectFilter(">"))
	noError(t, err)
	if slices.Reverse(at); !slices.Equal(at, want) || info.State.Msgs != messages {
		t.Errorf("snapshots %v in %d messages, want %v in %d: %v", at, info.State.Msgs, want, messages, info.State.Subjects)
	}
}

func wantLoad(t testing.TB, l PatientLog, at uint64, want []byte) {
	t.Helper()
	if b, err := load(l, at); err != nil || !bytes.Equal(b, want) {
		t.Errorf("snapshot %d: %d bytes, %v, want %d", at, len(b), err, len(want))
	}
}

func load(l PatientLog, at uint64) ([]byte, error) {
	r, err := l.Load(context.Background(), at)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(r)
	return b, errors.Join(err, r.Close())
}

func wantPositions(t testing.TB, l PatientLog, want ...uint64) {
	t.Helper()
	if at, err := l.Snapshots(t.Context()); err != nil || !slices.Equal(at, want) {
		t.Errorf("snapshots %v, %v, want %v", at, err, want)
	}
}

// Any of three servers could receive the read of a new snapshot; only the leader surely has it.
func TestSlots_EverySaveSucceeds(t *testing.T) {
	t.Parallel()
	c, err := localnet.Start(t.Context(), t.TempDir(), 3, nil)
	noError(t, err)
	defer func() { noError(t, c.Close()) }()
	l := openSlots(t, c)
	var slowest time.Duration
	saves := savesOf(t)
	for at := range uint64(saves) {
		saveBytes(t, l, at, state(at))
		begin := time.Now()
		wantPositions(t, l, []uint64{at, at - 1}[:min(2, at+1)]...)
		slowest = max(slowest, time.Since(begin))
	}
	last := uint64(saves - 1)
	wantTidy(t, l, last, last-1)
	t.Logf("%d saves; slowest list %v", saves, slowest)
}

func TestSlots_StoreAllSizes(t *testing.T) {
	t.Parallel()
	_, l := oneServerLog(t)
	other := byte(1)
	for at, size := range []int{0, 1, chunkBytes - 1, chunkBytes, chunkBytes + 1, 40 * chunkBytes} {
		b := bytes.Repeat([]byte{other}, size)
		noError(t, l.Save(t.Context(), uint64(at), func(w io.Writer) error {
			_, err := io.Copy(w, struct{ io.Reader }{bytes.NewReader(b)})
			return err
		}))
		wantLoad(t, l, uint64(at), b)
		other++
	}
	wantTidy(t, l, 5, 4)
}

// A position decides which slot a save replaces.
func TestSlots_ReplaceOlderOrDamaged(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		do   string // numbers: saves; r20: Reject; d20: damage
		want []uint64
	}{
		{"rising", "10 20 30", []uint64{30, 20}},
		{"falling", "30 20 10", []uint64{30, 20}},
		{"between", "10 30 20", []uint64{30, 20}},
		{"equal, alone", "10 10", []uint64{10}},
		{"equal to the newer", "10 20 20", []uint64{20, 10}},
		{"equal to the older", "10 20 10", []uint64{20, 10}},
		{"rejected newer", "10 20 r20 30", []uint64{30, 10}},
		{"rejected older", "10 20 r10 30", []uint64{30, 20}},
		{"rejected, saved again", "10 20 r20 20", []uint64{20, 10}},
		{"damaged newer", "10 20 d20 30", []uint64{30, 10}},
		{"damaged newer, older save", "10 20 d20 5", []uint64{10, 5}},
		{"damaged older, older save", "10 20 d10 5", []uint64{20, 5}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, l := oneServerLog(t)
			for do := range strings.FieldsSeq(test.do) {
				var at uint64
				_, err := fmt.Sscan(strings.TrimLeft(do, "rd"), &at)
				noError(t, err)
				switch do[0] {
				case 'r':
					noError(t, l.Reject(t.Context(), at))
				case 'd':
					damageSlot(t, l, at)
					l = openSlots(t, c) // has verified nothing
				default:
					saveBytes(t, l, at, state(at))
				}
			}
			wantTidy(t, l, test.want...)
		})
	}
}

// damageSlot replaces the chunk of a snapshot.
func damageSlot(t testing.TB, l PatientLog, at uint64) {
	t.Helper()
	s := l.saved.(*slots)
	v, err := Try(t.Context(), func() (view, error) { return s.look(t.Context()) })
	noError(t, err)
	for k := range v.slots {
		if i, ok := v.slots[k].snapshot(); ok && i.at == at {
			noError(t, s.purgeChunks(t.Context(), i.name))
			_, err = s.js.Publish(Wait(t), s.chunks(i.name), []byte("damage"))
			noError(t, err)
			if _, err := load(l, at); !errors.Is(err, ErrCorrupt) {
				t.Errorf("load of a damaged snapshot: %v", err)
			}
		}
	}
}

// Several nodes save at once. The newest snapshot never becomes older, and the two newest stay.
func TestSlots_KeepNewestOfManyWriters(t *testing.T) {
	t.Parallel()
	c, l := oneServerLog(t)
	saveBytes(t, l, 1, state(1))
	saveBytes(t, l, 2, state(2))
	var writers sync.WaitGroup
	saves := savesOf(t)
	perm := rand.New(rand.NewPCG(1, 2)).Perm(3 * saves)
	for w := range 3 {
		other := openSlots(t, c)
		writers.Go(func() {
			for _, at := range perm[w*saves:][:saves] {
				if err := trySave(t.Context(), other, uint64(at+3), state(uint64(at+3))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { writers.Wait(); close(done) }()
	for last, looks := uint64(0), 0; ; looks++ {
		at, err := l.Snapshots(t.Context())
		if err != nil || len(at) != 2 || at[0] < last {
			t.Fatalf("snapshots %v, %v, after %d", at, err, last)
		}
		last = at[0]
		if b, err := load(l, last); err != nil && !errors.Is(err, fs.ErrNotExist) || err == nil && !bytes.Equal(b, state(last)) {
			t.Fatalf("snapshot %d: %q, %v", last, b, err)
		}
		select {
		case <-done:
			end := uint64(len(perm) + 2)
			wantTidy(t, l, end, end-1)
			return
		default:
		}
	}
}

// A node is paused during its save. Another node takes over, and the first node replaces nothing.
func TestSlots_PausedSaveReplacesNothing(t *testing.T) {
	t.Parallel()
	c, paused := oneServerLog(t)
	l := openSlots(t, c)
	l.saved.(*slots).staleLimit = time.Millisecond
	saveBytes(t, l, 1, state(1))
	saveBytes(t, l, 2, state(2))
	err := paused.Save(t.Context(), 3, func(w io.Writer) error {
		if _, err := w.Write(make([]byte, 3*chunkBytes)); err != nil {
			return err
		}
		saveBytes(t, l, 4, state(4))
		_, err := w.Write(make([]byte, 3*chunkBytes))
		return err
	})
	if !errors.Is(err, errSuperseded) {
		t.Errorf("the paused save: %v", err)
	}
	wantTidy(t, l, 4, 2)
}

// A lagging server answers for one slot with a former description.
func TestSlots_LookRefusesMixedTimes(t *testing.T) {
	t.Parallel()
	_, l := oneServerLog(t)
	s := l.saved.(*slots)
	for at := uint64(1); at <= 4; at++ {
		saveBytes(t, l, at, state(at))
		lagging := laggingStream{Stream: s.stream, subject: s.meta(slotNames[(at+1)%2])}
		var err error
		lagging.old, err = s.stream.GetLastMsgForSubject(Wait(t), lagging.subject)
		noError(t, err)
		saveBytes(t, l, at+1, state(at+1))
		saveBytes(t, l, at+2, state(at+2)) // replaces the described snapshot
		saveBytes(t, l, at+3, state(at+3))
		b := *s.bucket
		b.stream = lagging
		if _, err := (&slots{bucket: &b}).look(t.Context()); !errors.Is(err, errChanged) {
			t.Errorf("a look with an old description: %v", err)
		}
	}
}

type laggingStream struct {
	jetstream.Stream
	subject string
	old     *jetstream.RawStreamMsg
}

func (l laggingStream) GetLastMsgForSubject(ctx context.Context, subject string) (*jetstream.RawStreamMsg, error) {
	if subject == l.subject {
		return l.old, nil
	}
	return l.Stream.GetLastMsgForSubject(ctx, subject)
}

// A save reads its chunks back before it replaces a snapshot.
func TestSlots_SaveReadsBack(t *testing.T) {
	t.Parallel()
	_, l := oneServerLog(t)
	saveBytes(t, l, 1, state(1))
	s := l.saved.(*slots)
	js := s.js
	s.js = alteringJetStream{js}
	if err := trySave(t.Context(), l, 2, state(2)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("save of altered bytes: %v", err)
	}
	s.js = js
	wantTidy(t, l, 1)
}

type alteringJetStream struct{ jetstream.JetStream }

func (a alteringJetStream) PublishMsgAsync(m *nats.Msg, o ...jetstream.PublishOpt) (jetstream.PubAckFuture, error) {
	m.Data[0] ^= 1
	return a.JetStream.PublishMsgAsync(m, o...)
}

// A failed save gives up its claim at once.
func TestSlots_FailedSaveReleases(t *testing.T) {
	t.Parallel()
	_, l := oneServerLog(t)
	l.saved.(*slots).staleLimit = time.Hour
	saveBytes(t, l, 1, state(1))
	err := l.Save(t.Context(), 2, func(w io.Writer) error {
		_, err := w.Write(make([]byte, 3*chunkBytes))
		return errors.Join(err, errCut)
	})
	if !errors.Is(err, errCut) {
		t.Errorf("the failed save: %v", err)
	}
	wantTidy(t, l, 1)
	saveBytes(t, l, 3, state(3))
	wantTidy(t, l, 3, 1)
}
