package cluster_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"handloom/cluster"
	"handloom/world"
	"handloom/world/logtest"
)

// A patientLog appends patiently, too.
type patientLog struct{ cluster.PatientLog }

func (l patientLog) Append(ctx context.Context, prev uint64, rec []byte) (at uint64, err error) {
	return cluster.AppendTo(ctx, l.PatientLog, prev, rec)
}

func TestLog_Conformance(t *testing.T) {
	t.Parallel()
	t.Run("embedded", func(t *testing.T) {
		s, cell := cluster.Embedded(t.TempDir()), cluster.CellID(0)
		logtest.Run(t, func(t *testing.T) world.Log {
			cell++
			return patientLog{openLog(t, s, cell, cluster.Options{Snapshots: cluster.Folder(t.TempDir())})}
		})
	})
	t.Run("three servers", func(t *testing.T) {
		c, cell := startServers(t, 3, nil), cluster.CellID(0)
		logtest.Run(t, func(t *testing.T) world.Log {
			cell++
			return patientLog{openLog(t, cluster.URLs(c.URLs(0)), cell, cluster.Options{})}
		})
	})
}

func TestAppend_ComparesExistingRecord(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := cluster.Embedded(t.TempDir())
	a, b := openLog(t, s, 1, alone(t)), openLog(t, s, 1, alone(t))
	fill(t, a, 3)
	const maxRecord = 64 << 20
	wantText(t, "Append of 64 MiB and a byte", errorOf(cluster.AppendTo(ctx, a, 3, make([]byte, maxRecord+1))), "67108865")
	wantTail(t, a, 3)
	fill(t, b, 4)
	wantError(t, errorOf(cluster.AppendTo(ctx, a, 3, []byte("another"))), cluster.ErrFenced)
	wantNumber(t, "Append of what is there", 4)(cluster.AppendTo(ctx, a, 3, record(4)))
	wantNumber(t, "Append of what is there, and other records behind it", 2)(cluster.AppendTo(ctx, a, 1, record(2)))
	fill(t, a, 5)
	if _, err := cluster.AppendTo(ctx, b, 6, record(7)); err == nil || errors.Is(err, cluster.ErrFenced) {
		t.Errorf("Append behind a record that is to come: %v", err)
	}
	fill(t, b, 6)
	wantRecords(t, a, 0, 6, record)
	wantRecords(t, b, 5, 6, record)
}

// long returns a record with one or more fragments, some exactly full.
func long(n uint64) []byte {
	return bytes.Repeat([]byte{byte(n)}, []int{900 << 10, 900<<10 + 1, 1800 << 10, 3 << 20, 5}[n%5])
}

func TestRecord_IsWholeOrAbsent(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	last := uint64(14)
	if testing.Short() {
		last = 8
	}
	s := cluster.Embedded(t.TempDir())
	l, other := openLog(t, s, 1, alone(t)), openLog(t, s, 1, alone(t))
	reader := make(chan error)
	go func() { reader <- readRecords(t.Context(), other, 0, last, long) }()
	for n := uint64(1); n <= last; n++ {
		if n%5 == 3 || n == last {
			dead := bytes.Repeat([]byte("dead"), 700<<10)
			noError(t, other.PublishFragments(ctx, dead, 1+int(n/5)%3))
			wantTail(t, l, n-1)
		}
		wantNumber(t, "Append behind half a record", n)(cluster.AppendTo(ctx, l, n-1, long(n)))
	}
	noError(t, <-reader)
	for after := uint64(1); after < last; after += 3 {
		wantRecords(t, openLog(t, s, 1, alone(t)), after, after+1, long)
	}
}

func TestOpen_RefusesLossySettings(t *testing.T) {
	t.Parallel()
	c, s := oneServer(t)
	js := operator(t, c)
	good := func(cell cluster.CellID) jetstream.StreamConfig {
		return jetstream.StreamConfig{
			Name: cell.Stream(), Subjects: []string{cluster.LogSubject(cell)}, Discard: jetstream.DiscardNew, DenyDelete: true,
			Duplicates: 100 * time.Millisecond, Replicas: 1,
		}
	}
	for i, test := range []struct {
		name   string
		change func(c *jetstream.StreamConfig)
	}{
		{"", func(*jetstream.StreamConfig) {}},
		{"max_age", func(c *jetstream.StreamConfig) { c.MaxAge = time.Hour }},
		{"max_msgs", func(c *jetstream.StreamConfig) { c.MaxMsgs = 1 << 20 }},
		{"max_bytes", func(c *jetstream.StreamConfig) { c.MaxBytes = 1 << 20 }},
		{"max_msgs_per_subject", func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject = 1 << 20 }},
		{"discard", func(c *jetstream.StreamConfig) { c.Discard = jetstream.DiscardOld }},
		{"deny_delete", func(c *jetstream.StreamConfig) { c.DenyDelete = false }},
		{"deny_purge", func(c *jetstream.StreamConfig) { c.DenyPurge = true }},
		{"allow_direct", func(c *jetstream.StreamConfig) { c.AllowDirect = true }},
		{"allow_rollup_hdrs", func(c *jetstream.StreamConfig) { c.AllowRollup = true }},
		{"storage", func(c *jetstream.StreamConfig) { c.Storage = jetstream.MemoryStorage }},
		{"retention", func(c *jetstream.StreamConfig) { c.Retention = jetstream.WorkQueuePolicy }},
		{"duplicate_window", func(c *jetstream.StreamConfig) { c.Duplicates = time.Minute }},
		{"subjects", func(c *jetstream.StreamConfig) { c.Subjects = append(c.Subjects, "more."+c.Name) }},
	} {
		cell := cluster.CellID(i)
		config := good(cell)
		test.change(&config)
		if _, err := js.CreateStream(t.Context(), config); err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		l, err := cluster.TryOpen(t, s, cell, alone(t))
		if err == nil {
			mustClose(t, l)
		}
		if test.name == "" && err != nil || test.name != "" && (!errors.Is(err, cluster.ErrSettings) || !strings.Contains(err.Error(), test.name)) {
			t.Errorf("a stream with other %s: %v", test.name, err)
		}
	}
	o := alone(t)
	o.Replicas = 3
	wantError(t, errorOf(cluster.TryOpen(t, s, 0, o)), cluster.ErrSettings, "num_replicas: got 1, want 3")
}

func TestOpen_RefusesInvalidOptions(t *testing.T) {
	for _, o := range []cluster.Options{{ElectionTimeout: time.Millisecond}, {ElectionTimeout: -1}, {Replicas: 2}, {Replicas: 7}, {Replicas: -1}} {
		if _, err := cluster.TryOpen(t, cluster.Embedded(t.TempDir()), 1, o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	wantText(t, "a server that is not there", errorOf(cluster.Open(ctx, cluster.URLs([]string{"nats://127.0.0.1:1"}), 1, cluster.Options{})), "no server answers")
}

func TestRead_ReportsTrimmedRecords(t *testing.T) {
	t.Parallel()
	s := cluster.Embedded(t.TempDir())
	l, o := openLog(t, s, 1, alone(t)), alone(t)
	fill(t, l, 30)
	other := openLog(t, s, 1, o)
	for _, at := range []uint64{20, 30} {
		saveText(t, l, at)
	}
	noError(t, l.Trim(t.Context(), 20))
	for _, l := range []cluster.PatientLog{l, other, openLog(t, s, 1, o)} {
		for _, after := range []uint64{0, 7, 19} {
			wantError(t, l.Read(t.Context(), after, func(uint64, []byte) error { return errEnough }), cluster.ErrTrimmed)
		}
		wantRecords(t, l, 20, 30, record)
		wantRecords(t, l, 29, 30, record)
	}
	fill(t, other, 40)
	wantRecords(t, l, 20, 40, record)
}

// An operator purged the first fragment.
func TestRead_ReportsPartlyTrimmedRecord(t *testing.T) {
	t.Parallel()
	c := startServers(t, 1, nil)
	l := openLog(t, cluster.URLs(c.URLs(0)), 1, alone(t))
	for n := uint64(1); n <= 2; n++ {
		if _, err := cluster.AppendTo(t.Context(), l, n-1, long(n)); err != nil { // the first has two fragments
			t.Fatal(err)
		}
	}
	stream, err := operator(t, c).Stream(t.Context(), cluster.CellID(1).Stream())
	noError(t, err)
	noError(t, stream.Purge(t.Context(), jetstream.WithPurgeSequence(2)))
	wantError(t, l.Read(t.Context(), 0, func(uint64, []byte) error { return errEnough }), cluster.ErrTrimmed)
	wantRecords(t, l, 1, 2, long)
}

func TestAppend_FailsWhileStreamIsFull(t *testing.T) {
	t.Parallel()
	c := startServers(t, 1, nil)
	js := operator(t, c)
	l := openLog(t, cluster.URLs(c.URLs(0)), 1, alone(t))
	l.CompareEvery(time.Hour)
	fill(t, l, 10)
	stream, err := js.Stream(t.Context(), cluster.CellID(1).Stream())
	noError(t, err)
	room := func(bytes int64) {
		config := stream.CachedInfo().Config
		config.MaxBytes = bytes
		noError(t, errorOf(js.UpdateStream(t.Context(), config)))
	}
	room(int64(stream.CachedInfo().State.Bytes) + 1)
	_, err = cluster.AppendTo(t.Context(), l, 10, record(11))
	if err == nil || errors.Is(err, cluster.ErrFenced) || errors.Is(err, fs.ErrClosed) || !strings.Contains(err.Error(), "maximum bytes") {
		t.Errorf("Append to a full stream: %v", err)
	}
	room(-1)
	fill(t, l, 20)
	wantRecords(t, l, 0, 20, record)
}

func callAll(ctx context.Context, l cluster.PatientLog) map[string]error {
	_, appended := cluster.AppendTo(ctx, l, 3, record(4))
	_, tail := l.Tail(ctx)
	_, saved := l.Snapshots(ctx)
	_, loaded := l.Load(ctx, 0)
	read := l.Read(ctx, 3, func(uint64, []byte) error { return nil })
	return map[string]error{"Append": appended, "Tail": tail, "Snapshots": saved, "Load": loaded, "Read": read, "Trim": l.Trim(ctx, 1)}
}

func TestLog_ErrorsNameTheCause(t *testing.T) {
	t.Parallel()
	l := openLog(t, cluster.Embedded(t.TempDir()), 1, alone(t))
	fill(t, l, 3)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errEnough)
	for what, err := range callAll(ctx, l) {
		if !errors.Is(err, errEnough) {
			t.Errorf("%s with an ended context: %v", what, err)
		}
	}
	ended := make(chan error, 1)
	began := make(chan struct{})
	go func() {
		ended <- l.Read(context.Background(), 2, func(uint64, []byte) error {
			close(began)
			return nil
		})
	}()
	<-began
	mustClose(t, l)
	errs := callAll(t.Context(), l)
	errs["Read that waits"] = <-ended
	for what, err := range errs {
		if !errors.Is(err, cluster.ErrClosed) || !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%s of a closed log: %v", what, err)
		}
	}
}
