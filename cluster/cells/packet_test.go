package cells_test

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"handloom/cluster/cells"
	"handloom/world"
)

// wantShipped sends messages of these sizes, a tick each every so often, and fails the test
// unless parcels bring all of them, in order.
func wantShipped(t *testing.T, sizes []int) (packets int) {
	t.Helper()
	o := cells.Options[[]byte]{Clone: func(dst, src *[]byte) { *dst = bytes.Clone(*src) }}
	from, to := newPost(t, o), newPost(t, o)
	var messages [][]byte
	for i, size := range sizes {
		messages = append(messages, bytes.Repeat([]byte{byte(i), byte(i >> 8)}, size/2))
	}
	from.mustSend(t, to.self, messages...)
	got := 0
	for packet := from.out.Pack(to.self, 0); packet != nil; packet = from.out.Pack(to.self, uint64(got)) {
		packets++
		to.submit(t, packet)
		before := got
		for _, m := range to.mustSend(t, from.self) {
			if got >= len(sizes) || !bytes.Equal(m, messages[got]) {
				t.Fatalf("message %d of %d is another one", got+1, len(sizes))
			}
			got++
		}
		const head = 45
		if n := got - before; n == 0 || n > 4096 || n > 1 && len(packet) > 256<<10 || len(packet) <= head {
			t.Fatalf("a parcel of %d bytes has %d messages", len(packet), n)
		}
	}
	if got != len(sizes) {
		t.Fatalf("%d messages came, want %d", got, len(sizes))
	}
	return packets
}

func TestParcels_BringEveryMessage(t *testing.T) {
	same := func(n, size int) (sizes []int) {
		for range n {
			sizes = append(sizes, size)
		}
		return sizes
	}
	const long = 300 << 10
	for _, c := range []struct {
		name    string
		sizes   []int
		packets int
	}{
		{"one full parcel", same(4096, 2), 1},
		{"one message more", same(4097, 2), 2},
		{"thousands", same(10_000, 2), 3},
		{"long first", []int{long, 2, 2}, 2},
		{"long in the middle", []int{2, long, 2}, 3},
		{"long last", []int{2, 2, long}, 2},
		{"long alone", []int{long, long}, 2},
		{"many bytes", same(20, 100<<10), 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			if n := wantShipped(t, c.sizes); n != c.packets {
				t.Errorf("%d parcels, want %d", n, c.packets)
			}
		})
	}
}

// A parcel of which a bit is wrong is refused, or is the other parcel that its bytes say.
func TestParcel_WithAFlippedBit(t *testing.T) {
	b, good := newPacket(t)
	const addresses, counts, messages = 17, 41, 45
	taken := 0
	for n := range good {
		for bit := range 8 {
			bad := bytes.Clone(good)
			bad[n] ^= 1 << bit
			again, err := b.out.Again(bad)
			switch {
			case err != nil:
				continue
			case n < addresses || n >= counts && n < messages:
				t.Errorf("byte %d, bit %d: taken with another version, schema or count", n, bit)
			case !bytes.Equal(again, bad):
				t.Errorf("byte %d, bit %d: taken for\n%x, and it is\n%x", n, bit, again, bad)
			}
			taken++
		}
	}
	if taken < 3*64 {
		t.Errorf("%d parcels were taken, want all with another number", taken)
	}
}

// keeping is a Transport that keeps the last parcel.
type keeping struct {
	cells.Transport
	mutex sync.Mutex
	last  []byte
}

func (k *keeping) Request(ctx context.Context, to cells.ID, packet []byte) (uint64, error) {
	k.mutex.Lock()
	k.last = bytes.Clone(packet)
	k.mutex.Unlock()
	return k.Transport.Request(ctx, to, packet)
}

// stuck is a log that takes nothing more, once it is stuck.
type stuck struct {
	world.Log
	is atomic.Bool
}

func (s *stuck) Append(ctx context.Context, prev uint64, rec []byte) (uint64, error) {
	if s.is.Load() {
		return 0, errFault
	}
	return s.Log.Append(ctx, prev, rec)
}

// The answer to a parcel that is known goes through the log too: a node that cannot append
// may have lost the log, and its cursor may be old.
func TestParcel_ThatIsKnownGoesThroughTheLog(t *testing.T) {
	withTwo(t, func(t *testing.T, b *two) {
		by := &keeping{Transport: b.by}
		b.by = by
		l := &stuck{Log: b.logs[1]}
		b.logs[1] = l
		b.send()
		b.receive(b.by)
		until(t, "all words", b.allHeard)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if cursor, err := by.Transport.Request(ctx, b.ids[1], by.last); cursor != words || err != nil {
			t.Errorf("a parcel that is known: %d, %v, want %d", cursor, err, words)
		}
		l.is.Store(true)
		if cursor, err := by.Transport.Request(ctx, b.ids[1], by.last); err == nil {
			t.Errorf("a node that cannot append answers: %d, %v", cursor, err)
		}
		noError(t, ctx.Err())
		l.is.Store(false)
	})
}
