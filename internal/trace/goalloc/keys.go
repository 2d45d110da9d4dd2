package goalloc

// keys deals the keys of one table: always the smallest that is not taken.
// Small numbers that return soon are what compresses well.
type keys struct {
	next uint32   // every key from here on was never taken
	free []uint32 // given back, a binary heap with the smallest at the top
}

// take returns the smallest free key in O(log n) of the keys given back.
func (k *keys) take() uint32 {
	if len(k.free) == 0 {
		k.next++
		return k.next - 1
	}
	key, last := k.free[0], len(k.free)-1
	k.free[0] = k.free[last]
	k.free = k.free[:last]
	k.sink()
	return key
}

// giveBack frees key, which was taken, in O(log n) of the keys given back.
func (k *keys) giveBack(key uint32) {
	k.free = append(k.free, key)
	for i := len(k.free) - 1; i > 0; {
		parent := (i - 1) / 2
		if k.free[parent] <= k.free[i] {
			return
		}
		k.free[parent], k.free[i] = k.free[i], k.free[parent]
		i = parent
	}
}

// sink moves the top of the heap down to where it belongs.
func (k *keys) sink() {
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(k.free) {
			return
		}
		if child+1 < len(k.free) && k.free[child+1] < k.free[child] {
			child++
		}
		if k.free[i] <= k.free[child] {
			return
		}
		k.free[i], k.free[child] = k.free[child], k.free[i]
		i = child
	}
}
