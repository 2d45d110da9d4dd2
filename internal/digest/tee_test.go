package digest

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

func TestTee_ReceivesHashedBytes(t *testing.T) {
	memory := make([]byte, 1<<17)
	rand.NewChaCha8([32]byte{1}).Read(memory)
	seeds := uint64(300)
	if testing.Short() {
		seeds = 60
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 1))
		size := 32 * (1 + r.IntN(500))
		var given []byte
		var plain, teed Hash
		teed.Tee(NewTee(size, func(b []byte, lasts bool) {
			if len(b) == 0 || len(given)/size != (len(given)+len(b)-1)/size {
				t.Fatalf("seed %d: %d bytes after %d, piece size %d", seed, len(b), len(given), size)
			}
			if lasts && &memory[cap(memory)-cap(b)] != &b[0] {
				t.Fatalf("seed %d: what lasts is a copy", seed)
			}
			given = append(given, b...)
		}))
		for range r.IntN(60) {
			switch r.IntN(6) {
			case 0:
				v := r.Uint64()
				for _, h := range []*Hash{&plain, &teed} {
					h.Uint64(v)
					h.Uint8(byte(v))
				}
			case 1:
				b := memory[:r.IntN(100)]
				plain.Bytes(b)
				teed.Bytes(bytes.Clone(b))
			case 2:
				b := memory[:r.IntN(20_000)]
				changes := bytes.Clone(b)
				plain.Bytes(b)
				teed.Bytes(changes)
				clear(changes)
			default:
				at := r.IntN(len(memory))
				b := memory[at:min(len(memory), at+r.IntN(40_000))]
				plain.Lasting(b)
				teed.Lasting(b)
			}
		}
		if plain.Sum() != teed.Sum() {
			t.Fatalf("seed %d: the sums differ", seed)
		}
		teed.Flush()
		var again Hash
		again.Bytes(given)
		if again.Sum() != plain.Sum() || teed.Sum() != plain.Sum() {
			t.Fatalf("seed %d: %d bytes are others than the %d that were hashed", seed, len(given), plain.length)
		}
	}
}
