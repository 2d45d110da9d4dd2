package journal

import "time"

// maxWaiting is the limit of collected records, in bytes.
const maxWaiting = 1 << 20

func (j *Journal) collect(rec []byte) (at uint64, err error) {
	if j.timerErr != nil || len(j.waiting)+len(rec) > maxWaiting {
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

// onTimer writes the collected records. If that is refused, Append fails until they are
// written.
func (j *Journal) onTimer() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken == nil {
		j.timerErr = j.writeWaiting()
	}
}

func (j *Journal) writeWaiting() error {
	if j.waitingN == 0 {
		return nil
	}
	if err := j.write(j.waiting, j.waitingN); err != nil {
		return err
	}
	j.timer.Stop()
	j.waiting, j.waitingN, j.timerErr = j.waiting[:0], 0, nil
	return nil
}
