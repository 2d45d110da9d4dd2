package slotset

import (
	"errors"
	"fmt"

	"handloom/handle"
)

// Validate returns an error that names every fault of the options. pkg begins the messages.
func Validate(o handle.Options, pkg string) error {
	var errs []error
	if o.TypeID < 0 || o.TypeID > handle.MaxTypeID {
		errs = append(errs, fmt.Errorf("%s: TypeID %d is outside 0..%d", pkg, o.TypeID, handle.MaxTypeID))
	}
	for _, size := range []struct {
		name  string
		value int
	}{{"Reserve", o.Reserve}, {"MinFree", o.MinFree}, {"MaxItems", o.MaxItems}} {
		if size.value < 0 || uint64(size.value) > uint64(SlotLimit()) {
			errs = append(errs, fmt.Errorf("%s: %s %d is outside 0..%d", pkg, size.name, size.value, SlotLimit()))
		}
	}
	if o.MaxItems > 0 && o.Reserve > o.MaxItems {
		errs = append(errs, fmt.Errorf("%s: Reserve %d exceeds MaxItems %d", pkg, o.Reserve, o.MaxItems))
	}
	return errors.Join(errs...)
}

func (s *Freelist) canIssue(slots, n, freed int) bool {
	s.setWidths()
	return uint64(n) <= uint64(s.vacant())+uint64(freed)+uint64(s.limit)-uint64(slots)
}

// CanInsert returns an error that wraps [handle.ErrFull] unless n more items fit once
// erased items are gone and depleting of their slots depleted. maxItems 0 means no limit
// except slots.
func (s *Freelist) CanInsert(slots, n, erased, depleting, maxItems int) error {
	kept := s.Live(slots) - erased
	if maxItems > 0 && uint64(kept)+uint64(n) > uint64(maxItems) {
		return fmt.Errorf("%w: %d items and %d more exceed MaxItems %d", handle.ErrFull, kept, n, maxItems)
	}
	if !s.canIssue(slots, n, erased-depleting) {
		return fmt.Errorf("%w: %d more items need more than %d slots (%d depleted)",
			handle.ErrFull, n, s.limit, s.Depleted()+depleting)
	}
	return nil
}

// Split divides the next n issues: reused slots, then fresh slots, then, at the slot limit,
// held-back slots. The caller has checked [Freelist.CanInsert].
func (s *Freelist) Split(slots, n int) (reuse, fresh, heldBack int) {
	reuse = min(n, max(0, int(s.vacant())-int(s.minFree)))
	fresh = n - reuse
	if room := uint64(s.limit) - uint64(slots); uint64(fresh) > room {
		heldBack = fresh - int(room)
		fresh = int(room)
	}
	return reuse, fresh, heldBack
}

// Peek calls f with the handles of the next n issues.
func (s *Freelist) Peek(slots, n int, word func(Slot) handle.ID, f func(i int, id handle.ID)) {
	reuse, fresh, _ := s.Split(slots, n)
	ticket := s.front
	for i := range n {
		if i >= reuse && i < reuse+fresh {
			f(i, s.typeID|handle.ID(s.floor)<<32+oneGeneration|handle.ID(slots+i-reuse))
			continue
		}
		slot := s.ring[s.at(ticket)]
		f(i, word(slot)&^(handle.FreeBit|rowMask)|handle.ID(slot))
		ticket++
	}
}
