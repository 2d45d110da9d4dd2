package cluster_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"handloom/cluster"
)

// foreignMessages returns publishers' mistakes: stream has records of cell 1.
func foreignMessages(t *testing.T, js jetstream.JetStream) map[string]*nats.Msg {
	t.Helper()
	subject := cluster.LogSubject(1)
	stored := func(cell cluster.CellID, seq uint64) *nats.Msg {
		s, err := js.Stream(t.Context(), cell.Stream())
		noError(t, err)
		m, err := s.GetMsg(t.Context(), seq)
		noError(t, err)
		return &nats.Msg{Subject: subject, Data: m.Data, Header: nats.Header{"Nats-Stream": {cell.Stream()}, "Nats-Sequence": {fmt.Sprint(seq)}}}
	}
	newer, ahead := stored(1, 3), stored(1, 3)
	newer.Data[3], ahead.Data[4+7] = 9, 1
	return map[string]*nats.Msg{
		"text":                       {Subject: subject, Data: []byte("hello")},
		"empty":                      {Subject: subject},
		"huge":                       {Subject: subject, Data: make([]byte, 1_000_000)},
		"old record":                 stored(1, 2),
		"last record":                stored(1, 3),
		"record of another cell":     stored(2, 4),
		"half record":                stored(2, 5),
		"record of a newer version":  newer,
		"record far ahead":           ahead,
		"header with other sequence": {Subject: subject, Header: nats.Header{"Nats-Expected-Last-Sequence-": {"3"}}},
	}
}

func wantTail(t *testing.T, l cluster.PatientLog, want uint64) {
	t.Helper()
	wantNumber(t, "Tail", want)(l.Tail(t.Context()))
}

// Each run publishes all kinds of messages in turn, so a short test needs one.
func TestForeignMessage_IsVoid(t *testing.T) {
	t.Parallel()
	c, s := oneServer(t)
	js := operator(t, c)
	other := openLog(t, s, 2, alone(t))
	fill(t, other, 4)
	noError(t, other.PublishFragments(t.Context(), bytes.Repeat([]byte("half"), 300<<10), 1))
	fill(t, openLog(t, s, 1, alone(t)), 3)
	messages := foreignMessages(t, js)
	stream, err := js.Stream(t.Context(), cluster.CellID(1).Stream())
	noError(t, err)
	config := stream.CachedInfo().Config
	names, step := slices.Sorted(maps.Keys(messages)), 4
	if testing.Short() {
		step = len(messages)
	}
	for first := 0; first < len(names); first += step {
		t.Run("first="+names[first], func(t *testing.T) {
			noError(t, js.DeleteStream(t.Context(), config.Name))
			noError(t, errorOf(js.CreateStream(t.Context(), config)))
			published := uint64(0)
			publish := func(times int) {
				t.Helper()
				for range times {
					name := names[(first+int(published))%len(names)]
					noError(t, errorOf(js.PublishMsg(t.Context(), messages[name])))
					published++
				}
			}
			publish(2)
			o := withJournal(t, openJournal(t, t.TempDir()))
			leader, follower := openLog(t, s, 1, alone(t)), openLog(t, s, 1, o)
			wantTail(t, follower, 0)
			read := make(chan error, 1)
			go func() { read <- readRecords(t.Context(), follower, 0, 20, record) }()
			for at := range uint64(20) {
				if at%3 == 1 {
					publish(1 + int(at)%2)
				}
				if at == 10 { // the writer died between two fragments
					noError(t, leader.PublishFragments(t.Context(), bytes.Repeat([]byte("dead"), 700<<10), 1))
					publish(1)
				}
				wantNumber(t, "Append", at+1)(cluster.AppendTo(t.Context(), leader, at, record(at+1)))
			}
			noError(t, <-read)
			publish(3)
			late := openLog(t, s, 1, alone(t))
			for _, l := range []cluster.PatientLog{leader, follower, late, openLog(t, s, 1, o)} {
				wantTail(t, l, 20)
			}
			for after := range uint64(20) {
				wantRecords(t, late, after, after+1, record)
			}
			wantNumber(t, "Append of a new leader", 21)(cluster.AppendTo(t.Context(), late, 20, record(21)))
			wantRecords(t, follower, 20, 21, record)
			for name, l := range map[string]cluster.PatientLog{"follower": follower, "late": late} {
				if n := l.ForeignMessages(); n != published {
					t.Errorf("%s: ForeignMessages: got %d, want %d", name, n, published)
				}
			}
			for _, at := range []uint64{15, 21} {
				saveText(t, follower, at)
			}
			noError(t, follower.Trim(t.Context(), 15))
			noError(t, follower.Close())
			wantRecords(t, openLog(t, s, 1, o), 15, 21, record)
		})
	}
}

// Nodes read the messages before the leader appends again, in windows. Only the servers' check of the
// header tells a record from a copy.
func TestForeignMessage_ManyAreVoid(t *testing.T) {
	t.Parallel()
	const many = 1200
	c, s := oneServer(t)
	js := operator(t, c)
	leader, follower := openLog(t, s, 1, alone(t)), openLog(t, s, 1, alone(t))
	fill(t, leader, 5)
	wantRecords(t, follower, 0, 5, record)
	forged := &nats.Msg{Subject: cluster.LogSubject(1), Data: []byte("hello"), Header: nats.Header{jetstream.ExpectedLastSeqHeader: {"7"}}}
	wantText(t, "message with a wrong sequence", errorOf(js.PublishMsg(t.Context(), forged)), "wrong last sequence")
	for range many {
		noError(t, js.Conn().Publish(cluster.LogSubject(1), []byte("hello")))
	}
	noError(t, errorOf(js.Publish(cluster.Wait(t), cluster.LogSubject(1), []byte("hello")))) // the last
	for at := uint64(5); at < 8; at++ {
		noError(t, errorOf(cluster.AppendTo(t.Context(), leader, at, record(at+1))))
	}
	late := openLog(t, s, 1, alone(t))
	for name, l := range map[string]cluster.PatientLog{"leader": leader, "follower": follower, "late": late} {
		wantRecords(t, l, 5, 8, record)
		wantRecords(t, l, 4, 6, record)
		if n := l.ForeignMessages(); n != many+1 {
			t.Errorf("%s: ForeignMessages: got %d, want %d", name, n, many+1)
		}
	}
}
