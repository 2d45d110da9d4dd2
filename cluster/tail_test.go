package cluster

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A leader that says twice that the stream is too short, with an append in between, has not
// said so for all the time.
func TestAStreamIsNotTooShortWhileItGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &Log{doubt: beyondTime}
		for at := uint64(10); at < 13; at++ {
			l.see(place{at: at})
			if err := l.shrunk(at-1, at); err != nil {
				t.Errorf("behind record %d: %v", at, err)
			}
			time.Sleep(time.Hour)
		}
		if err := l.shrunk(11, 12); !errors.Is(err, ErrBehind) {
			t.Errorf("an hour later, with nothing appended: %v", err)
		}
	})
}
