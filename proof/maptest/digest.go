package maptest

import (
	"testing"
)

// Two maps whose next answers differ have different digests.
func (s suite) Digest_CoversTheState(t *testing.T) {
	EachWidth(t, func(t *testing.T) {
		type change = func(m Map[uint64], hs []number)
		keep := change(func(Map[uint64], []number) {})
		// Each pair differs in one respect.
		pairs := map[string][2]change{
			"a value":             {keep, func(m Map[uint64], hs []number) { *m.At(hs[3]) ^= 1 << 63 }},
			"a generation":        {keep, func(m Map[uint64], hs []number) { m.Erase(hs[5]); m.Insert(7) }},
			"the number of items": {keep, func(m Map[uint64], hs []number) { m.Insert(7) }},
			// The same slots are vacant in both maps.
			"freelist order": {
				func(m Map[uint64], hs []number) { m.Erase(hs[5]); m.Erase(hs[4]) },
				func(m Map[uint64], hs []number) { m.EraseItems(hs[4:]) },
			},
			// The second map has made and erased one more item.
			"the number of slots": {
				func(m Map[uint64], hs []number) { m.Erase(hs[5]) },
				func(m Map[uint64], hs []number) { m.Insert(7); m.EraseFunc(slotAbove(4)) },
			},
			// Both maps are empty; only the next generation differs.
			"the floor": {
				func(m Map[uint64], hs []number) { s.Numbers.Zero().CopiedTo(m, nil) },
				func(m Map[uint64], hs []number) { m.Reset() },
			},
		}
		if s.Packed {
			// Equal values: only the owners of rows differ.
			pairs["row order"] = [2]change{
				func(m Map[uint64], hs []number) { m.Erase(hs[0]); m.Erase(hs[1]) },
				func(m Map[uint64], hs []number) { m.EraseItems(hs[:2]) },
			}
		}
		for name, pair := range pairs {
			var digests [2]uint64
			for i, change := range pair {
				m := newMap(t, s.Numbers, Options{})
				var hs []number
				for range 6 {
					hs = append(hs, Insert(t, m, 7))
				}
				change(m, hs)
				digests[i] = m.Digest()
			}
			if digests[0] == digests[1] {
				t.Errorf("%s is not in the digest", name)
			}
		}
	})
}

// slotAbove returns a condition for EraseFunc.
func slotAbove(slot uint32) func(number, *uint64) bool {
	return func(h number, _ *uint64) bool { return h.ID.Slot() > slot }
}

// MinFree is part of the state, because it decides whether the next insert
// takes the vacant slot. MaxItems is only a limit.
func (s suite) Digest_CoversTypeIDAndMinFree(t *testing.T) {
	digest := func(o Options) uint64 {
		m := newMap(t, s.Numbers, o)
		// A vacant slot, without which MinFree has no effect.
		m.Erase(InsertN(t, m, 2)[0])
		return m.Digest()
	}
	none := digest(Options{})
	if digest(Options{MinFree: 1}) == none || digest(Options{TypeID: 1}) == none {
		t.Error("MinFree or TypeID is not in the digest")
	}
	if digest(Options{MaxItems: 5, Reserve: 5}) != none {
		t.Error("MaxItems or Reserve is in the digest")
	}
}
