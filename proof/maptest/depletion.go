package maptest

import (
	"errors"
	"testing"

	"handloom/internal/slotset"
)

func (s suite) ASlotIsDepletedAtItsLastGeneration(t *testing.T) {
	EachWidth(t, func(t *testing.T) {
		m := newMap(t, s.Numbers, Options{TypeID: 3})
		last := deplete(t, m)
		if want := Numbered(3, slotset.LastGeneration(), 0); last != want {
			t.Fatalf("the last handle of slot 0 is %v, want %v", last, want)
		}
		if got, want := m.Core().Stats().Depleted, 1; got != want || m.Core().Stats().Vacant != 0 {
			t.Errorf("stats %+v, want %d depleted", m.Core().Stats(), want)
		}
		if h := Insert(t, m, 1); h != Numbered(3, 1, 1) {
			t.Errorf("the next handle is %v, want a new slot", h)
		}
	})
}

func (s suite) CyclesPastTheLastGenerationIssueNoHandleTwice(t *testing.T) {
	EachWidth(t, func(t *testing.T) {
		m := newMap(t, s.Numbers, Options{TypeID: 3})
		last := int(slotset.LastGeneration())
		for i := range 2 * (last + 1) {
			h := Insert(t, m, uint64(i))
			// Every value of (slot, generation) in turn: none is null or twice.
			if want := Numbered(3, uint16(i%last+1), uint32(i/last)); h != want {
				t.Fatalf("cycle %d issues %v, want %v", i, h, want)
			}
			m.Erase(h)
		}
		if m.Core().Stats().Depleted != 2 {
			t.Errorf("%d slots are depleted, want 2", m.Core().Stats().Depleted)
		}
	})
}

func (s suite) EveryWayToEraseDepletes(t *testing.T) {
	erasures := map[string]func(m Map[uint64], h number){
		"Erase":      func(m Map[uint64], h number) { m.Erase(h) },
		"Take":       func(m Map[uint64], h number) { m.Take(h) },
		"EraseItems": func(m Map[uint64], h number) { m.EraseItems([]number{h, h}) },
		"EraseFunc":  func(m Map[uint64], _ number) { m.EraseFunc(func(number, *uint64) bool { return true }) },
		"Clear":      func(m Map[uint64], _ number) { m.Clear() },
		"Reset":      func(m Map[uint64], _ number) { m.Reset() },
	}
	EachWidth(t, func(t *testing.T) {
		for name, erase := range erasures {
			m := newMap(t, s.Numbers, Options{})
			for range slotset.LastGeneration() - 1 {
				m.Erase(Insert(t, m, 0))
			}
			h := Insert(t, m, 0)
			erase(m, h)
			if s := m.Core().Stats(); s.Depleted != 1 || s.Vacant != 0 || s.Live != 0 {
				t.Errorf("%s at the last generation leaves %+v", name, s)
			}
			ExpectNothing(t, m, name, h)
		}
	})
}

func (s suite) ClearAndResetKeepDepletedSlotsDepleted(t *testing.T) {
	EachWidth(t, func(t *testing.T) {
		m := newMap(t, s.Numbers, Options{})
		last := deplete(t, m)
		Insert(t, m, 1)
		m.Clear()
		m.Reset()
		if s := m.Core().Stats(); s.Depleted != 1 || s.Vacant != 1 || s.Slots != 2 {
			t.Errorf("after clear and reset: %+v", s)
		}
		for range 3 {
			if h := Insert(t, m, 2); h.ID.Slot() == last.ID.Slot() {
				t.Errorf("the depleted slot was issued again: %v", h)
			}
		}
	})
}

func (s suite) DepletionOfEverySlotExhaustsTheMap(t *testing.T) {
	SetWidths(t, 7, 16)
	m := newMap(t, s.Numbers, Options{TypeID: 1, MinFree: 3})
	issued := map[number]bool{}
	for {
		h, err := m.Insert(0)
		if err != nil {
			if !errors.Is(err, slotset.ErrFull) {
				t.Fatal(err)
			}
			break
		}
		if issued[h] || h.ID.IsZero() {
			t.Fatalf("%v is issued twice or null", h)
		}
		issued[h] = true
		m.Erase(h)
	}
	if len(issued) != 7*16 || m.Core().Stats().Depleted != 16 {
		t.Errorf("%d handles issued, %d slots depleted; want 112 and 16", len(issued), m.Core().Stats().Depleted)
	}
	m.Clear()
	m.Reset()
	if _, err := m.Insert(0); !errors.Is(err, slotset.ErrFull) {
		t.Errorf("insert after reset: %v", err)
	}
}
