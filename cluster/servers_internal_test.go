package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

func openFilled(t *testing.T, n int) PatientLog {
	t.Helper()
	l := OpenPatiently(t, Embedded(t.TempDir()), 1, Options{Snapshots: Folder(t.TempDir())})
	for at := range uint64(n) {
		if _, err := AppendTo(t.Context(), l, at, fmt.Append(nil, at)); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

func readTo(ctx context.Context, l PatientLog, n uint64) error {
	return l.Read(ctx, 0, func(at uint64, _ []byte) error {
		if at == n {
			return errFound
		}
		return nil
	})
}

// A 5xx code comes from a server without a known leader. The Log has to leave it
// eventually.
func TestNoteResponse_CountsAnswersBelow500(t *testing.T) {
	first, second := time.Now(), time.Now().Add(time.Millisecond)
	code := func(n int) error { return fmt.Errorf("cluster: %w", &jetstream.APIError{Code: n}) }
	for _, tt := range []struct {
		name string
		err  error
		good time.Time // failingSince after an answered request
		bad  time.Time // failingSince after an unanswered request
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
				l := Log{failingSince: before, conn: &connection{leftAt: first.Add(time.Hour)}} // no reconnect
				if l.noteResponse(second, tt.err); !l.failingSince.Equal(want) {
					t.Errorf("failing since %v before: got %v, want %v", before, l.failingSince, want)
				}
			}
		})
	}
}

type logLines chan string

func (l logLines) Write(b []byte) (int, error) {
	select {
	case l <- string(b):
	default:
	}
	return len(b), nil
}

// It sets the default of package slog, so it is not parallel.
func TestConnect_LogsErrorsOfConnection(t *testing.T) {
	lines, before := make(logLines, 1), slog.Default()
	defer slog.SetDefault(before)
	slog.SetDefault(slog.New(slog.NewTextHandler(lines, nil)))
	_, l := oneServerLog(t)
	_, err := l.conn.ChanSubscribe("full", make(chan *nats.Msg))
	noError(t, errors.Join(err, l.conn.Publish("full", nil)))
	select {
	case line := <-lines:
		if !strings.Contains(line, "slow consumer") || !strings.Contains(line, "subject=full") {
			t.Errorf("got %q, want a slow consumer of subject full", line)
		}
	case <-Wait(t).Done():
		t.Error("nothing is logged")
	}
}
