package journal

import "time"

// mostWaiting is how many bytes of records wait for their time at most.
const mostWaiting = 1 << 20

// collect takes rec into the unit that is written when its time comes, or when
// it is large.
func (j *Journal) collect(rec []byte) (at uint64, err error) {
	if j.notWaited != nil || len(j.waiting)+len(rec) > mostWaiting {
		if err := j.writeWaiting(); err != nil {
			return 0, err
		}
	}
	if j.waitingN == 0 {
		j.timer = time.AfterFunc(j.o.Sync.every, j.onTimer)
	}
	j.waiting = appendRecord(j.waiting, rec)
	j.waitingN++
	return j.accepted(), nil
}

// onTimer writes what waits. If that is refused the records go on waiting, and
// Append takes no more before they are written.
func (j *Journal) onTimer() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken == nil {
		j.notWaited = j.writeWaiting()
	}
}

// writeWaiting writes the records that wait as one unit.
func (j *Journal) writeWaiting() error {
	if j.waitingN == 0 {
		return nil
	}
	if err := j.write(j.waiting, j.waitingN); err != nil {
		return err
	}
	j.timer.Stop()
	j.waiting, j.waitingN, j.notWaited = j.waiting[:0], 0, nil
	return nil
}
