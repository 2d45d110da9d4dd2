package digest

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func sumOf(b []byte) uint64 {
	var h Hash
	h.Bytes(b)
	return h.Sum()
}

// modelSum is the hash written down once more, slow and in one piece, from
// the package comment.
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

func randomBytes(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// A digest may be stored or sent to another machine, so these never change.
func TestSumsArePinned(t *testing.T) {
	for _, c := range []struct {
		length int
		sum    uint64
	}{
		{0, 0x6646841769918d3f},
		{1, 0x9b7760af5e433126},
		{8, 0x10be6db163571d27},
		{31, 0xa49324a148b33826},
		{32, 0x6516e92ed89465c6},
		{33, 0xf0a50a40d30a9678},
		{256, 0x92257cae031ae649},
		{1000, 0x294941a3f2960255},
	} {
		if got := sumOf(counting(c.length)); got != c.sum {
			t.Errorf("sum of the bytes 0, 1, 2, ... (%d of them) = %#016x, want %#016x", c.length, got, c.sum)
		}
	}
}

func TestConstantsAreFractionsOfSquareRoots(t *testing.T) {
	constants := []uint64{seed0, mulWord, seed1, mulLane, seed2, seed3, mulEnd1, mulEnd2}
	for i, prime := range []int64{2, 3, 5, 7, 11, 13, 17, 19} {
		shifted := new(big.Int).Lsh(big.NewInt(prime), 128)
		root := shifted.Sqrt(shifted)
		if got := root.And(root, new(big.Int).SetUint64(math.MaxUint64)).Uint64(); got != constants[i] {
			t.Errorf("fraction of the root of %d is %#x, the constant is %#x", prime, got, constants[i])
		}
	}
	for _, multiplier := range []uint64{mulWord, mulLane, mulEnd1, mulEnd2} {
		if multiplier%2 == 0 {
			t.Errorf("multiplier %#x is even, so multiplying loses a bit", multiplier)
		}
	}
}

func TestSumEqualsModelForEveryLength(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 300 {
		b := randomBytes(r, n)
		if got, want := sumOf(b), modelSum(b); got != want {
			t.Fatalf("length %d: sum %#x, model %#x", n, got, want)
		}
	}
}

func TestSumDependsOnBytesNotOnCuts(t *testing.T) {
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

func TestSumChangesNothing(t *testing.T) {
	var h Hash
	for i := range uint8(100) {
		before, first := h, h.Sum()
		if again := h.Sum(); again != first || h != before {
			t.Fatalf("after %d bytes: Sum changed the hash, the second sum is %#x, the first was %#x", i, again, first)
		}
		h.Uint8(i)
	}
}

func TestCopyContinuesOnItsOwn(t *testing.T) {
	var h Hash
	h.String("shared start, ")
	fork := h
	h.String("one end")
	fork.String("another end")
	if got, want := fork.Sum(), sumOf([]byte("shared start, another end")); got != want {
		t.Errorf("sum of the copy %#x, want %#x", got, want)
	}
	if got, want := h.Sum(), sumOf([]byte("shared start, one end")); got != want {
		t.Errorf("sum of the original %#x, want %#x", got, want)
	}
}

func TestZeroBytesChangeTheSum(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for n := range 100 {
		b := randomBytes(r, n)
		seen := map[uint64]int{}
		for zeros := range 200 {
			sum := sumOf(append(b[:n:n], make([]byte, zeros)...))
			if other, ok := seen[sum]; ok {
				t.Fatalf("%d random bytes: %d and %d zero bytes behind them have one sum", n, other, zeros)
			}
			seen[sum] = zeros
		}
	}
}

// Every flipped input bit should flip each output bit in half of the inputs.
// The bounds are beyond six standard deviations for the number of trials.
func TestFlippedBitChangesHalfOfTheSum(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var trials, flips int
	var byOutput [64]int
	fewest := 64
	for n := range 201 {
		b := randomBytes(r, n)
		sum := sumOf(b)
		for bit := range n * 8 {
			b[bit/8] ^= 1 << (bit % 8)
			diff := sum ^ sumOf(b)
			b[bit/8] ^= 1 << (bit % 8)
			trials++
			flips += bits.OnesCount64(diff)
			fewest = min(fewest, bits.OnesCount64(diff))
			for out := range byOutput {
				byOutput[out] += int(diff >> out & 1)
			}
		}
	}
	if mean := float64(flips) / float64(trials); math.Abs(mean-32) > 0.1 {
		t.Errorf("a flipped bit changes %.3f of 64 output bits on average, want 32", mean)
	}
	if fewest < 8 {
		t.Errorf("a flipped bit changed only %d output bits", fewest)
	}
	for out, n := range byOutput {
		if p := float64(n) / float64(trials); math.Abs(p-0.5) > 0.01 {
			t.Errorf("output bit %d changes in %.4f of the trials, want 0.5", out, p)
		}
	}
}

// The same for each place of the input on its own, which an average hides.
func TestFlippedBitChangesHalfOfTheSumAtEveryPlace(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	const inputs = 256
	for _, n := range []int{1, 4, 8, 12, 32, 40, 64, 100} {
		flips := make([]int, n*8)
		for range inputs {
			b := randomBytes(r, n)
			sum := sumOf(b)
			for bit := range flips {
				b[bit/8] ^= 1 << (bit % 8)
				flips[bit] += bits.OnesCount64(sum ^ sumOf(b))
				b[bit/8] ^= 1 << (bit % 8)
			}
		}
		for bit, f := range flips {
			if mean := float64(f) / inputs; math.Abs(mean-32) > 2 {
				t.Errorf("length %d, bit %d: changes %.2f of 64 output bits on average, want 32", n, bit, mean)
			}
		}
	}
}

func TestSparseInputsHaveDistinctSums(t *testing.T) {
	// All inputs of 72 bytes with one or two bits set, and swapped words.
	seen := map[uint64]bool{}
	add := func(b []byte) {
		sum := sumOf(b)
		if seen[sum] {
			t.Fatalf("sum %#x twice, the second time for % x", sum, b)
		}
		seen[sum] = true
	}
	b := make([]byte, 72)
	add(b)
	for i := range len(b) * 8 {
		b[i/8] ^= 1 << (i % 8)
		add(b)
		for j := range i {
			b[j/8] ^= 1 << (j % 8)
			add(b)
			b[j/8] ^= 1 << (j % 8)
		}
		b[i/8] ^= 1 << (i % 8)
	}
	words := counting(72)
	add(words)
	for i := range 9 {
		for j := range i {
			swapped := slices.Clone(words)
			copy(swapped[i*8:i*8+8], words[j*8:])
			copy(swapped[j*8:j*8+8], words[i*8:])
			add(swapped)
		}
	}
}

func TestBytesAllocatesNothing(t *testing.T) {
	var h Hash
	b := counting(1000)
	if n := testing.AllocsPerRun(100, func() { h.Bytes(b); h.String("abc"); h.Uint32(1); _ = h.Sum() }); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}
