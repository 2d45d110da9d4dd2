package slotset

import "math/bits"

// Bits is a set of small numbers, such as rows, in a bitmap of two levels: one bit per
// number and one bit per word. Add and Has take O(1) time; iterating and clearing a set of
// k numbers below n take O(k + n/4096). The zero Bits is empty and needs [Bits.Grow] before
// Add.
type Bits struct {
	words   []uint64 // bit i%64 of words[i/64]
	summary []uint64 // bit w%64 of summary[w/64]: words[w] is not 0
	count   int
}

func (b *Bits) Grow(n int) {
	if words := (n + 63) / 64; words > len(b.words) {
		words = max(words, len(b.words)*3/2)
		b.words = append(make([]uint64, 0, words), b.words...)[:words]
		summary := (words + 63) / 64
		b.summary = append(make([]uint64, 0, summary), b.summary...)[:summary]
	}
}

// Add reports whether i, below the n of [Bits.Grow], was new.
func (b *Bits) Add(i int) bool {
	w, bit := i/64, uint64(1)<<(i%64)
	old := b.words[w]
	if old&bit != 0 {
		return false
	}
	if old == 0 {
		b.summary[w/64] |= 1 << (w % 64)
	}
	b.words[w] = old | bit
	b.count++
	return true
}

func (b *Bits) Remove(i int) {
	if !b.Has(i) {
		return
	}
	w := i / 64
	b.words[w] &^= 1 << (i % 64)
	if b.words[w] == 0 {
		b.summary[w/64] &^= 1 << (w % 64)
	}
	b.count--
}

// AddWord adds the numbers 64*w+i, below the n of [Bits.Grow], for each bit i of word.
func (b *Bits) AddWord(w int, word uint64) {
	if word == 0 {
		return
	}
	b.count += bits.OnesCount64(word &^ b.words[w])
	b.words[w] |= word
	b.summary[w/64] |= 1 << (w % 64)
}

// Has allows any i.
func (b *Bits) Has(i int) bool {
	w := uint(i) / 64
	return w < uint(len(b.words)) && b.words[w]&(1<<(uint(i)%64)) != 0
}

func (b *Bits) Count() int { return b.count }

// Words yields the nonzero words with the number of their lowest bit. It is an iterator
// itself, so that a flush allocates no closure.
func (b *Bits) Words(yield func(base int, word uint64) bool) {
	for i, s := range b.summary {
		for ; s != 0; s &= s - 1 {
			w := i*64 + bits.TrailingZeros64(s)
			if !yield(w*64, b.words[w]) {
				return
			}
		}
	}
}

func (b *Bits) Clear() {
	if b.count == 0 {
		return
	}
	for i, s := range b.summary {
		for ; s != 0; s &= s - 1 {
			b.words[i*64+bits.TrailingZeros64(s)] = 0
		}
		b.summary[i] = 0
	}
	b.count = 0
}
