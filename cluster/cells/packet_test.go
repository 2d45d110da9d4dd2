package cells_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"handloom/cluster/cells"
)

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
				t.Fatalf("wrong message %d of %d", got+1, len(sizes))
			}
			got++
		}
		const head = 36
		if n := got - before; n == 0 || n > 4096 || n > 1 && len(packet) > 256<<10 || len(packet) <= head {
			t.Fatalf("packet of %d bytes with %d messages", len(packet), n)
		}
	}
	if got != len(sizes) {
		t.Fatalf("%d messages, want %d", got, len(sizes))
	}
	return packets
}

func TestPacket_CarriesEveryMessage(t *testing.T) {
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
		{"one full packet", same(4096, 2), 1},
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
				t.Errorf("%d packets, want %d", n, c.packets)
			}
		})
	}
}

func TestPacket_WithFlippedBit(t *testing.T) {
	b, good := newPacket(t)
	const addresses, counts, types = 4, 28, 36
	messages := types + int(binary.LittleEndian.Uint32(good[types-4:]))
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
				t.Errorf("byte %d, bit %d: accepted with another version, schema or count", n, bit)
			case !bytes.Equal(again, bad):
				t.Errorf("byte %d, bit %d: got\n%x, want\n%x", n, bit, again, bad)
			}
			taken++
		}
	}
	if taken < 3*64 {
		t.Errorf("%d packets accepted, want all with another number", taken)
	}
}

func TestCallOf_LimitsCalls(t *testing.T) {
	for _, c := range []struct{ messages, bytes, packets, want int }{
		{1, 100, 1000, 1000}, {4096, 100, 5, 4}, {1, 256 << 10, 5, 4}, {1, 2 << 20, 3, 1},
	} {
		if n := cells.CallOf(c.messages, c.bytes, c.packets); n != c.want {
			t.Errorf("packets of %d messages and %d bytes: a call takes %d of %d, want %d", c.messages, c.bytes, n, c.packets, c.want)
		}
	}
}

type (
	oldMessage struct{ N uint32 }
	newMessage struct {
		Extra string
		N     uint64
	}
)

// Otherwise messages of an older version would stay in the mailbox.
func TestPacket_ConvertsOlderMessages(t *testing.T) {
	older, newer := newPost(t, cells.Options[oldMessage]{}), newPost(t, cells.Options[newMessage]{})
	older.mustSend(t, newer.self, oldMessage{7}, oldMessage{8})
	newer.submit(t, older.out.Pack(newer.self, 0))
	newer.submit(t, older.out.Pack(newer.self, 0)) // the same again
	got := newer.mustSend(t, older.self, newMessage{"east", 9})
	if want := []newMessage{{"", 7}, {"", 8}}; !slices.Equal(got, want) || newer.out.Cursor(older.self) != 2 || newer.out.Pairs()[1].Err != nil {
		t.Errorf("got %v, want %v; pair %+v", got, want, newer.out.Pairs()[1])
	}
	if _, err := older.out.Open(newer.out.Pack(older.self, 0)); err == nil || !strings.Contains(err.Error(), "Extra cannot be converted") {
		t.Errorf("a message with a new field: %v", err)
	}
}
