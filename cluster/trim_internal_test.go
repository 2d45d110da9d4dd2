package cluster

import (
	"context"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
)

// A trimmedStream runs trim before its next answer.
type trimmedStream struct {
	jetstream.Stream
	trim func()
}

func (s *trimmedStream) GetMsg(ctx context.Context, seq uint64, o ...jetstream.GetMsgOpt) (*jetstream.RawStreamMsg, error) {
	if trim := s.trim; trim != nil && seq < 9 { // not for the end
		s.trim = nil
		trim()
	}
	return s.Stream.GetMsg(ctx, seq, o...)
}

// Two nodes that saved trim at once.
func TestTrim_DuringAnotherTrim(t *testing.T) {
	t.Parallel()
	ctx, servers := t.Context(), Embedded(t.TempDir())
	o := Options{Snapshots: Folder(t.TempDir())}
	var logs [2]PatientLog
	for i := range logs {
		logs[i] = OpenPatiently(t, servers, 1, o)
	}
	for at := range uint64(10) {
		_, err := AppendTo(ctx, logs[0], at, []byte{byte(at)})
		noError(t, err)
	}
	for _, at := range []uint64{9, 10} {
		saveBytes(t, logs[0], at, nil)
	}
	late, trimmed := logs[1], false
	late.stream = &trimmedStream{late.stream, func() {
		trimmed = true
		noError(t, logs[0].Trim(ctx, 9))
	}}
	noError(t, late.Trim(ctx, 6))
	if !trimmed {
		t.Error("the other trim did not run")
	}
}
