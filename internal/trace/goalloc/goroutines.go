package goalloc

func (h *history) addGoroutine(l line) error {
	serial, alive := h.running[l.id]
	if l.op == opGoEnd && !alive {
		h.skipped.UnknownEnds++
		return nil
	}
	if l.op == opGoChange && alive {
		h.record(recordGoUpdate, serial)
		return nil
	}
	if alive {
		h.record(recordGoErase, serial)
		delete(h.running, l.id)
	}
	if l.op == opGoEnd {
		return nil
	}
	if alive {
		h.repaired.LostEnds++
	}
	if uint64(len(h.goroutines)) == maxSerial {
		return errTooMany
	}
	serial = uint32(len(h.goroutines))
	h.goroutines = append(h.goroutines, l.id)
	h.running[l.id] = serial
	h.record(recordGoCreate, serial)
	return nil
}
