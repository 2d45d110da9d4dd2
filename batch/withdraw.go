package batch

// withdrawn counts calls whose memory is not reused yet.
type withdrawn struct{ calls, bytes int }

func (w *withdrawn) add(c *arrival) { w.calls, w.bytes = w.calls+1, w.bytes+c.bytes }

func (w *withdrawn) remove(c *arrival) { w.calls, w.bytes = w.calls-1, w.bytes-c.bytes }

// minSwept is the number of withdrawn calls that are kept whatever the others are.
const minSwept = 1 << 10

// Withdraw removes a call that no Seal has taken, and reports whether it was there. The call
// does not complete. It takes amortized O(1) time.
func (a *EncodedInbox) Withdraw(call *Call) bool {
	a.batch.inbox.mu.Lock()
	defer a.batch.inbox.mu.Unlock()
	i := call.number - a.first
	// The number of a sealed call is out of range; the place of a withdrawn call has no
	// call or another call.
	if i < a.next || i >= len(a.calls) || a.calls[i].call != call {
		return false
	}
	c := &a.calls[i]
	c.call = nil
	// The call no longer counts for the limit, although its bytes stay until a sweep.
	a.held -= c.commands
	a.withdrawn.add(c)
	// A sweep moves at most as much as was withdrawn since the last one: amortized O(1).
	if w := &a.withdrawn; w.bytes > (len(a.bytes)-a.at)/2 || w.calls > max(minSwept, (len(a.calls)-a.next)/2) {
		a.sweep()
	}
	return true
}

// sweep removes withdrawn and sealed calls.
func (a *EncodedInbox) sweep() {
	// Sealed calls have lower numbers than all others.
	a.first += a.next
	bytes, calls := a.bytes[:0], a.calls[:0]
	for _, c := range a.calls[a.next:] {
		if c.call != nil {
			c.call.number = a.first + len(calls)
			bytes = append(bytes, a.bytes[a.at:a.at+c.bytes]...)
			calls = append(calls, c)
		}
		a.at += c.bytes
	}
	clear(a.calls[len(calls):])
	a.bytes, a.calls, a.at, a.next, a.withdrawn = bytes, calls, 0, 0, withdrawn{}
}
