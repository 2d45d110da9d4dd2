package sparse

import (
	"slices"

	"handloom/internal/canary"
	"handloom/shard/handle"
)

// What follows are seeded faults, for builds with package canary enabled. No
// other code calls them.

// Unchecked returns the handle that a lookup takes id for which does not check
// all of it.
func (s *Set) Unchecked(id handle.ID) handle.ID {
	if canary.On(canary.ResolveIgnoresFreeBit) {
		id &^= handle.FreeBit
	}
	if canary.On(canary.TypeIDUnchecked) && !id.IsProvisional() {
		id = id<<16>>16 | s.typeID
	}
	return id
}

// pushFront is Push to the wrong end. It reports false when there is one end
// only.
func (s *Set) pushFront(slot Slot) bool {
	if s.front == 0 || s.vacant == 0 {
		return false
	}
	s.Words[slot] |= handle.ID(s.front)
	s.front = link(slot) + 1
	s.vacant++
	return true
}

// clearedWrongly returns what a wrong Clear does when all is done.
func (s *Set) clearedWrongly(slots []Slot) func() {
	var depleted []Slot
	for _, slot := range slots {
		if s.Words[slot].Generation() == s.last {
			depleted = append(depleted, slot)
		}
	}
	return func() {
		switch {
		case canary.On(canary.ClearListsDepleted):
			for _, slot := range depleted {
				if before, ok := s.Push(slot, slot, 1); ok {
					s.Words[before] |= Link(slot)
				}
			}
		case canary.On(canary.ClearBumpsVacant):
			for slot := range s.Words {
				if w := &s.Words[slot]; w.IsProvisional() && w.Generation() > 1 && w.Generation() < s.last && !slices.Contains(slots, Slot(slot)) {
					*w += oneGeneration
				}
			}
		}
	}
}

// Reordered forgets the order of the freelist, as a wrong copy does: the front
// becomes the back.
func (s *Set) Reordered() {
	if s.vacant < 2 {
		return
	}
	slot := Slot(s.front - 1)
	s.front = link(s.Words[slot] & rowMask)
	s.Words[slot] &^= rowMask
	s.Words[s.back-1] |= Link(slot)
	s.back = link(slot) + 1
}
