package cluster

import (
	"strings"
	"testing"
	"time"
)

// An object that another program puts into the bucket does not fail saves.
func TestSlots_IgnoreOtherObjects(t *testing.T) {
	t.Parallel()
	_, l := oneServerLog(t)
	_, err := l.js.Publish(Wait(t), l.saved.(*slots).meta("notes"), []byte("{}"))
	noError(t, err)
	saveBytes(t, l, 1, state(1))
	saveBytes(t, l, 2, state(2))
	wantPositions(t, l, 2, 1)
}

// Other settings are refused by Open, and noticed while the Log is open.
func TestBucket_RefusesSettings(t *testing.T) {
	t.Parallel()
	c, l := oneServerLog(t)
	saveBytes(t, l, 1, state(1))
	config := l.saved.(*slots).settings
	config.MaxAge = time.Hour
	setStream(t, l, config)
	_, list := l.Snapshots(t.Context())
	_, open := TryOpen(t, URLs(c.URLs(0)), 1, Options{Replicas: 1})
	for _, err := range []error{list, trySave(t.Context(), l, 2, nil), open} {
		if !isWrongSettings(err) || !strings.Contains(err.Error(), "max_age: got") {
			t.Errorf("got %v, want ErrSettings with max_age", err)
		}
	}
}
