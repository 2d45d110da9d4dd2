package cluster

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A 5xx code comes from a server that knows no leader. It counts as no answer, because
// such a server has to be left in the end.
func TestLogAsked_CountsAnswersBelow500(t *testing.T) {
	first, second := time.Now(), time.Now().Add(time.Millisecond)
	code := func(n int) error { return fmt.Errorf("cluster: %w", &jetstream.APIError{Code: n}) }
	for _, tt := range []struct {
		name string
		err  error
		good time.Time // failing since, if the question before was answered
		bad  time.Time // failing since, if the question before was not
	}{
		{"an answer", nil, time.Time{}, time.Time{}},
		{"400", code(400), time.Time{}, time.Time{}},
		{"404", code(404), time.Time{}, time.Time{}},
		{"500", code(500), second, first},
		{"503", code(503), second, first},
		{"time runs out", context.DeadlineExceeded, second, first},
		{"connection is lost", errors.New("lost"), second, first},
		{"the caller cancels", context.Canceled, time.Time{}, first},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for before, want := range map[time.Time]time.Time{{}: tt.good, first: tt.bad} {
				l := Log{failing: before, left: first.Add(time.Hour)} // so that none is left here
				if l.asked(second, tt.err); !l.failing.Equal(want) {
					t.Errorf("failing since %v before: got %v, want %v", before, l.failing, want)
				}
			}
		})
	}
}
