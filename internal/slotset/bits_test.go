package slotset

import (
	"maps"
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// numbersOf returns the members of b.
func numbersOf(b *Bits) (numbers []int) {
	for base, word := range b.Words {
		if word == 0 {
			numbers = append(numbers, -1) // Words yields only nonzero words
		}
		for ; word != 0; word &= word - 1 {
			numbers = append(numbers, base+bits.TrailingZeros64(word))
		}
	}
	return numbers
}

func TestBits_EqualsMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b Bits
		model := map[int]bool{}
		room := 0
		// Neighbours, and ends of words and summary words.
		number := rapid.OneOf(rapid.IntRange(0, 200), rapid.SampledFrom([]int{63, 64, 4095, 4096, 8191, 8192}), rapid.IntRange(0, 20_000))
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				if b.Count() != len(model) {
					t.Fatalf("Count %d, want %d", b.Count(), len(model))
				}
				if got, want := numbersOf(&b), slices.Sorted(maps.Keys(model)); !slices.Equal(got, want) {
					t.Fatalf("Words give %v, want %v", got, want)
				}
			},
			"Grow": func(t *rapid.T) {
				n := number.Draw(t, "n")
				b.Grow(n)
				room = max(room, n)
			},
			"Add": func(t *rapid.T) {
				i := number.Draw(t, "i")
				if i >= room {
					room = i + 1
					b.Grow(room)
				}
				if b.Add(i) == model[i] {
					t.Fatalf("Add(%d) says it is new: %t", i, !model[i])
				}
				model[i] = true
			},
			"AddWord": func(t *rapid.T) {
				i, word := number.Draw(t, "i")/64, rapid.Uint64().Draw(t, "word")
				room = max(room, 64*i+64)
				b.Grow(room)
				b.AddWord(i, word)
				for ; word != 0; word &= word - 1 {
					model[64*i+bits.TrailingZeros64(word)] = true
				}
			},
			"Has": func(t *rapid.T) {
				i := rapid.OneOf(number, rapid.Int()).Draw(t, "i")
				if b.Has(i) != model[i] {
					t.Fatalf("Has(%d) = %t", i, b.Has(i))
				}
			},
			"Clear": func(*rapid.T) {
				b.Clear()
				clear(model)
			},
		})
	})
}
