package digest

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"testing"

	"handloom/internal/check"

	"pgregory.net/rapid"
)

func sumOf(b []byte) uint64 {
	var h Hash
	h.Bytes(b)
	return h.Sum()
}

// modelSum is the hash of the package comment in one piece.
func modelSum(b []byte) uint64 {
	lanes := [4]uint64{seed0, seed1, seed2, seed3}
	length := uint64(len(b))
	for len(b)%blockSize != 0 {
		b = append(b[:len(b):len(b)], 0)
	}
	for i := 0; i < len(b); i += wordSize {
		lane := &lanes[i/wordSize%4]
		*lane = bits.RotateLeft64(*lane^binary.LittleEndian.Uint64(b[i:])*mulWord, 29) * mulLane
	}
	sum := length
	for _, lane := range lanes {
		sum = bits.RotateLeft64(sum^lane*mulWord, 29) * mulLane
	}
	sum = (sum ^ sum>>32) * mulEnd1
	sum = (sum ^ sum>>29) * mulEnd2
	return sum ^ sum>>32
}

func counting(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}

// Stored digests depend on these sums.
func TestSum_IsPinned(t *testing.T) {
	for length, want := range map[int]uint64{
		0: 0x6646841769918d3f, 1: 0x9b7760af5e433126, 8: 0x10be6db163571d27, 31: 0xa49324a148b33826,
		32: 0x6516e92ed89465c6, 33: 0xf0a50a40d30a9678, 256: 0x92257cae031ae649, 1000: 0x294941a3f2960255,
	} {
		if got := sumOf(counting(length)); got != want {
			t.Errorf("sum of the %d bytes 0, 1, 2, ... = %#016x, want %#016x", length, got, want)
		}
	}
}

func TestSum_EqualsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h Hash
		var stream []byte
		for range rapid.IntRange(0, 60).Draw(t, "calls") {
			v := rapid.Uint64().Draw(t, "value")
			switch rapid.IntRange(0, 5).Draw(t, "call") {
			case 0:
				h.Uint8(uint8(v))
				stream = append(stream, uint8(v))
			case 1:
				h.Uint16(uint16(v))
				stream = binary.LittleEndian.AppendUint16(stream, uint16(v))
			case 2:
				h.Uint32(uint32(v))
				stream = binary.LittleEndian.AppendUint32(stream, uint32(v))
			case 3:
				h.Uint64(v)
				stream = binary.LittleEndian.AppendUint64(stream, v)
			case 4:
				b := rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(t, "bytes")
				h.Bytes(b)
				stream = append(stream, b...)
			case 5:
				s := rapid.StringN(0, 50, 100).Draw(t, "string")
				h.String(s)
				stream = append(stream, s...)
			}
			if got, want := h.Sum(), modelSum(stream); got != want {
				t.Fatalf("after %d bytes: sum %#x, model %#x", len(stream), got, want)
			}
		}
	})
}

func TestHash_AllocatesNothing(t *testing.T) {
	if check.Cheap || testing.CoverMode() != "" {
		t.Skip("checks, the race detector and coverage allocate")
	}
	var h Hash
	b := counting(1000)
	if n := testing.AllocsPerRun(100, func() { h.Bytes(b); h.String("abc"); h.Uint32(1); _ = h.Sum() }); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

func TestSchemaHash_HasSixteenDigits(t *testing.T) {
	for n := range 100 { // some hashes begin with zeros
		if got := SchemaHash(fmt.Sprint(n)); len(got) != 16 {
			t.Errorf("the hash of %d is %q", n, got)
		}
	}
}
