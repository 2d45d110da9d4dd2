package cluster

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

var saveCount = flag.Int("saves", 40, "number of saves in tests of snapshots in JetStream")

func savesOf(t *testing.T) int {
	if testing.Short() {
		return min(*saveCount, 10)
	}
	return *saveCount
}

func objectsOf(l PatientLog) *objects { return l.saved.blobs.(*objects) }

// wantTidy wants exactly these snapshots in the bucket, whole, and nothing else.
func wantTidy(t testing.TB, l PatientLog, want ...uint64) {
	t.Helper()
	o := objectsOf(l)
	names, err := o.Names(Wait(t))
	noError(t, err)
	messages := uint64(0)
	for _, name := range names {
		info, err := o.describe(Wait(t), name)
		noError(t, err)
		messages += 1 + uint64(info.Chunks)
	}
	whole, all := findPairs(1, names)
	if newestFirst(whole); !slices.Equal(positions(whole), want) || len(names) != 2*len(whole) || len(all) != len(whole) {
		t.Errorf("objects %q, want snapshots %v", names, want)
	}
	for _, i := range whole {
		noError(t, l.saved.verify(Wait(t), i))
	}
	info, err := o.stream.Info(Wait(t))
	noError(t, err)
	if info.State.Msgs != messages {
		t.Errorf("%d messages, want %d", info.State.Msgs, messages)
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

// readNewest reads the newest snapshot, which is not older than a position, and returns its
// position.
func readNewest(t testing.TB, l PatientLog, last uint64) uint64 {
	t.Helper()
	at, err := l.Snapshots(t.Context())
	if err != nil || len(at) < 2 || at[0] < last {
		t.Errorf("snapshots %v, %v, after %d", at, err, last)
		return last
	}
	if b, err := load(l, at[0]); err != nil && !errors.Is(err, fs.ErrNotExist) || err == nil && !bytes.Equal(b, state(at[0])) {
		t.Errorf("snapshot %d: %q, %v", at[0], b, err)
	}
	return at[0]
}

// Each of three servers has readers while one saves. Only the stream leader surely has the newest.
func TestObjects_EverySaveSucceeds(t *testing.T) {
	t.Parallel()
	c := StartServers(t, 3, nil)
	l := openBucket(t, c)
	saveBytes(t, l, 1, state(1))
	saveBytes(t, l, 2, state(2))
	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	for i := range c.Len() {
		other := openBucketAt(t, c, i)
		readers.Go(func() {
			for last := uint64(0); ctx.Err() == nil && !t.Failed(); {
				last = readNewest(t, other, last)
			}
		})
	}
	last := uint64(savesOf(t) + 2)
	for at := uint64(3); at <= last; at++ {
		saveBytes(t, l, at, state(at))
	}
	stop()
	readers.Wait()
	wantTidy(t, l, last, last-1)
}

func TestObjects_StoreAllSizes(t *testing.T) {
	t.Parallel()
	_, l := oneServerLog(t)
	for at, size := range []int{0, 1, chunkBytes - 1, chunkBytes, chunkBytes + 1, 40 * chunkBytes} {
		b := bytes.Repeat([]byte{byte(at)}, size)
		noError(t, l.Save(t.Context(), uint64(at), func(w io.Writer) error {
			_, err := io.Copy(w, struct{ io.Reader }{bytes.NewReader(b)})
			return err
		}))
		wantLoad(t, l, uint64(at), b)
	}
	wantTidy(t, l, 5, 4)
}

// A damaged snapshot counts neither for the two newest nor for a trim.
func TestObjects_FindDamage(t *testing.T) {
	t.Parallel()
	c, l := oneServerLog(t)
	for at := uint64(10); at <= 30; at += 10 {
		saveBytes(t, l, at, state(at))
	}
	names, err := objectsOf(l).Names(Wait(t))
	noError(t, err)
	for _, name := range names {
		if strings.Contains(name, "-000000000000001e-") && strings.HasSuffix(name, snapshotExt) {
			chunks := objectsOf(l).chunks(name)
			noError(t, objectsOf(l).stream.Purge(Wait(t), jetstream.WithPurgeSubject(chunks)))
			_, err := l.conn.js.Publish(Wait(t), chunks, []byte("damage"))
			noError(t, err)
		}
	}
	if _, err := load(l, 30); !errors.Is(err, ErrCorrupt) {
		t.Errorf("load of a damaged snapshot: %v", err)
	}
	l = openBucket(t, c) // has verified nothing
	saveBytes(t, l, 40, state(40))
	wantLoad(t, l, 20, state(20))
	saveBytes(t, l, 50, state(50))
	wantTidy(t, l, 50, 40)
}

// Several nodes save at once. The newest snapshot never becomes older, and the two newest stay.
func TestObjects_KeepNewestOfManyWriters(t *testing.T) {
	t.Parallel()
	c, l := oneServerLog(t)
	saveBytes(t, l, 1, state(1))
	saveBytes(t, l, 2, state(2))
	var writers sync.WaitGroup
	saves := savesOf(t)
	perm := rand.New(rand.NewPCG(1, 2)).Perm(3 * saves)
	for w := range 3 {
		other := openBucket(t, c)
		writers.Go(func() {
			for _, at := range perm[w*saves:][:saves] {
				// Another node may remove a snapshot that is older than two others before it is read back.
				if err := trySave(t.Context(), other, uint64(at+3), state(uint64(at+3))); err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { writers.Wait(); close(done) }()
	for last := uint64(0); !t.Failed(); {
		last = readNewest(t, l, last)
		select {
		case <-done:
			end := uint64(len(perm) + 2)
			saveBytes(t, l, end+1, state(end+1))
			wantTidy(t, l, end+1, end)
			return
		default:
		}
	}
}

// A cut lets some requests pass, as a process that is killed.
type cut struct {
	cutMode
	mutex sync.Mutex
	left  int
	kill  func()
}

type cutMode struct {
	lost  bool // the failed request arrives
	alive bool // later requests pass, as after a cancel
}

var errCut = errors.New("killed")

func (c *cut) do(f func() error) error {
	c.mutex.Lock()
	c.left--
	left := c.left
	c.mutex.Unlock()
	switch {
	case left > 0, left < 0 && c.alive:
		return f()
	case left == 0 && c.lost:
		_ = f()
	}
	c.kill()
	return errCut
}

type cutJetStream struct {
	jetstream.JetStream
	*cut
}

func (c cutJetStream) PublishMsg(ctx context.Context, m *nats.Msg, o ...jetstream.PublishOpt) (ack *jetstream.PubAck, err error) {
	err = c.do(func() (err error) { ack, err = c.JetStream.PublishMsg(ctx, m, o...); return err })
	return ack, err
}

type cutStream struct {
	jetstream.Stream
	*cut
}

func (c cutStream) Info(ctx context.Context, o ...jetstream.StreamInfoOpt) (i *jetstream.StreamInfo, err error) {
	err = c.do(func() (err error) { i, err = c.Stream.Info(ctx, o...); return err })
	return i, err
}

func (c cutStream) GetMsg(ctx context.Context, seq uint64, o ...jetstream.GetMsgOpt) (m *jetstream.RawStreamMsg, err error) {
	err = c.do(func() (err error) { m, err = c.Stream.GetMsg(ctx, seq, o...); return err })
	return m, err
}

func (c cutStream) GetLastMsgForSubject(ctx context.Context, subject string) (m *jetstream.RawStreamMsg, err error) {
	err = c.do(func() (err error) { m, err = c.Stream.GetLastMsgForSubject(ctx, subject); return err })
	return m, err
}

func (c cutStream) Purge(ctx context.Context, o ...jetstream.StreamPurgeOpt) error {
	return c.do(func() error { return c.Stream.Purge(ctx, o...) })
}

// cutSave saves until the nth request, and reports whether it was cut.
func cutSave(t testing.TB, l PatientLog, at uint64, b []byte, n int, mode cutMode) bool {
	t.Helper()
	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	whole := l.saved
	defer func() { l.saved = whole }()
	c, o := &cut{left: n, cutMode: mode, kill: kill}, *objectsOf(l)
	o.js, o.stream = cutJetStream{o.js, c}, cutStream{o.stream, c}
	l.saved = &pairs{&o, 1}
	_ = trySave(ctx, l, at, b)
	return c.left <= 0
}

// A node is killed, or its save canceled, at each request of a save. Two older snapshots stay
// until the new one is whole, and later saves remove the rest.
func TestObjects_KillLeavesNothing(t *testing.T) {
	t.Parallel()
	_, l := oneServerLog(t)
	big := make([]byte, 2*chunkBytes+1)
	at, cuts, step := uint64(2), 0, 1
	if testing.Short() {
		step = 5 // other requests for each mode
	}
	saveBytes(t, l, 1, state(1))
	saveBytes(t, l, 2, state(2))
	for i, mode := range []cutMode{{}, {lost: true}, {alive: true}, {lost: true, alive: true}} {
		for n := 1 + i%step; cutSave(t, l, at+1, big, n, mode); n += step {
			cuts++
			whole, err := l.Snapshots(t.Context())
			if err != nil || len(whole) < 2 || whole[0]-whole[1] != 1 || whole[0] < at {
				t.Fatalf("%+v at request %d: snapshots %v, %v, want %d", mode, n, whole, err, at)
			}
			for _, at := range whole[:2] {
				if _, err := load(l, at); err != nil {
					t.Fatalf("%+v at request %d: snapshot %d: %v", mode, n, at, err)
				}
			}
			saveBytes(t, l, at+2, state(at+2))
			saveBytes(t, l, at+3, state(at+3))
			at += 3
			if wantTidy(t, l, at, at-1); t.Failed() {
				t.Fatalf("%+v at request %d", mode, n)
			}
		}
		at++ // of the save that was not cut
	}
	if cuts < 60/step {
		t.Errorf("%d cuts, want %d", cuts, 60/step)
	}
}

// Other settings are refused by Open, and noticed while the Log is open.
func TestObjects_RefuseSettings(t *testing.T) {
	t.Parallel()
	c, l := oneServerLog(t)
	saveBytes(t, l, 1, state(1))
	config := objectsOf(l).settings
	config.MaxMsgs = 1000
	setStream(t, l, config)
	_, list := l.Snapshots(t.Context())
	_, open := TryOpen(t, URLs(c.URLs(0)), 1, Options{Replicas: 1})
	for _, err := range []error{list, trySave(t.Context(), l, 2, nil), open} {
		if !isWrongSettings(err) || !strings.Contains(err.Error(), "max_msgs: got") {
			t.Errorf("got %v, want ErrSettings with max_msgs", err)
		}
	}
}
