package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"handloom/cluster"
	"handloom/cluster/cells"
)

// A reader receives the packets for an outbox of a cell. Packets of held cells are not delivered.
type mailReader struct {
	*testing.T
	stop  context.CancelFunc
	ended chan error

	mutex sync.Mutex
	got   map[cells.ID][]string
	held  map[cells.ID]bool
}

func readMail(t *testing.T, l cluster.PatientLog, cell cells.ID, outbox string, held ...cells.ID) *mailReader {
	r := &mailReader{T: t, ended: make(chan error, 1), got: map[cells.ID][]string{}, held: map[cells.ID]bool{}}
	for _, from := range held {
		r.held[from] = true
	}
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	go func() { r.ended <- receive(ctx, l, cell, outbox, r.deliver) }()
	t.Cleanup(stop)
	return r
}

func (r *mailReader) deliver(ctx context.Context, from cells.ID, packets [][]byte) error {
	for r.isHeld(from) {
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, p := range packets {
		r.got[from] = append(r.got[from], string(p))
	}
	return nil
}

func (r *mailReader) isHeld(from cells.ID) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.held[from]
}

func (r *mailReader) release() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	clear(r.held)
}

// want waits for packets first to last of a cell, in order.
func (r *mailReader) want(from cells.ID, first, last int) {
	r.Helper()
	var want []string
	for n := first; n <= last; n++ {
		want = append(want, strconv.Itoa(n))
	}
	var got []string
	cluster.WaitUntil(r, fmt.Sprintf("%d packets of cell %v", len(want), from), func() bool {
		r.mutex.Lock()
		defer r.mutex.Unlock()
		got = slices.Clone(r.got[from])
		return len(got) >= len(want)
	})
	if !slices.Equal(got, want) {
		r.Fatalf("cell %v: got %d packets %.100q, want %d to %d", from, len(got), got, first, last)
	}
}

// sendMail publishes packets first to last, each once: a Log repeats a packet without an answer.
func sendMail(t *testing.T, js jetstream.JetStream, from, to cells.ID, outbox string, first, last int) {
	t.Helper()
	ctx := cluster.Wait(t)
	for errors.Is(errorOf(js.Stream(ctx, cluster.MailStream(to))), jetstream.ErrStreamNotFound) { // until the reader has created it
		time.Sleep(time.Millisecond)
	}
	for n := first; n <= last; n++ {
		noError(t, errorOf(js.PublishAsync(cluster.MailSubject(to, from, outbox), []byte(strconv.Itoa(n)))))
	}
	select {
	case <-js.PublishAsyncComplete():
	case <-ctx.Done():
		t.Fatal(ctx.Err())
	}
}

func openMail(t *testing.T) (js jetstream.JetStream, logs [3]cluster.PatientLog) {
	c, servers := oneServer(t)
	for i := range logs {
		logs[i] = openLog(t, servers, cells.ID(i+1), alone(t))
	}
	return operator(t, c), logs
}

func mailStream(t *testing.T, js jetstream.JetStream) jetstream.Stream {
	t.Helper()
	s, err := js.Stream(t.Context(), cluster.MailStream(1))
	noError(t, err)
	return s
}

func wantMails(t *testing.T, js jetstream.JetStream, want uint64) {
	t.Helper()
	cluster.WaitUntil(t, fmt.Sprintf("the stream has %d messages", want), func() bool { return mailStream(t, js).CachedInfo().State.Msgs == want })
}

// A cell whose packets are not delivered stops no other, also past the limits of its lane. Its
// packets remain, and packets of others are erased.
func TestMailbox_HeldSenderStopsNoOther(t *testing.T) {
	t.Parallel()
	js, logs := openMail(t)
	many := 2500 // more than two lanes have
	if testing.Short() {
		many = 1100 // more than one has
	}
	r := readMail(t, logs[0], 1, "mail", 2)
	sendMail(t, js, 2, 1, "mail", 1, many)
	sendMail(t, js, 3, 1, "mail", 1, 10)
	r.want(3, 1, 10)
	wantMails(t, js, uint64(many))
	r.stop()
	wantError(t, <-r.ended, context.Canceled)

	r = readMail(t, logs[0], 1, "mail", 2)
	sendMail(t, js, 3, 1, "mail", 11, 20)
	r.want(3, 11, 20)
	r.release()
	sendMail(t, js, 2, 1, "mail", many+1, many+100)
	r.want(2, 1, many+100)
	wantMails(t, js, 0)
}

func TestMailbox_OutboxesShareStream(t *testing.T) {
	t.Parallel()
	js, logs := openMail(t)
	one := readMail(t, logs[0], 1, "one")
	for i := range 3 {
		sendMail(t, js, 2, 1, "one", 5*i+1, 5*i+5)
		sendMail(t, js, 2, 1, "the other", 5*i+1, 5*i+5)
	}
	one.want(2, 1, 15)
	wantMails(t, js, 15)
	other := readMail(t, logs[0], 1, "the other")
	other.want(2, 1, 15)
	wantMails(t, js, 0)
	sendMail(t, js, 2, 1, "one", 16, 17)
	one.want(2, 1, 17)
}

// Send refuses a packet for a full mailbox, and Receive names wrong settings, until they are
// restored.
func TestMailbox_NamesLimitsAndSettings(t *testing.T) {
	t.Parallel()
	js, logs := openMail(t)
	r := readMail(t, logs[0], 1, "mail")
	sendMail(t, js, 2, 1, "mail", 1, 1)
	r.want(2, 1, 1)
	wantMails(t, js, 0)
	config := mailStream(t, js).CachedInfo().Config
	changed := config
	changed.MaxMsgsPerSubject = 5
	_, err := js.UpdateStream(t.Context(), changed)
	noError(t, err)
	wantError(t, <-r.ended, cluster.ErrSettings, "max_msgs_per_subject: got 5, want 65536")
	sendMail(t, js, 2, 1, "mail", 2, 6)
	wantText(t, "a packet more", sendTo(cluster.Wait(t), logs[1], 2, 1, "mail", nil), "full: got 65536 packets of this cell: start the cell, see its Outbox.Problems")
	sendMail(t, js, 3, 1, "mail", 1, 1)
	_, err = js.UpdateStream(t.Context(), config)
	noError(t, err)
	r = readMail(t, logs[0], 1, "mail")
	r.want(2, 2, 6)
	r.want(3, 1, 1)
}

// A stream that somebody deletes, or replaces by one with other sequences, is noticed.
func TestMailbox_NoticesAnotherStream(t *testing.T) {
	t.Parallel()
	js, logs := openMail(t)
	last := uint64(0)
	for n, change := range []func(config jetstream.StreamConfig){
		func(jetstream.StreamConfig) {},
		func(config jetstream.StreamConfig) {
			config.FirstSeq = 0
			noError(t, cluster.Patiently(t.Context(), func() error { return errorOf(js.CreateStream(t.Context(), config)) }))
		},
		nil,
	} {
		r := readMail(t, logs[0], 1, "mail")
		sendMail(t, js, 2, 1, "mail", 1, 3)
		r.want(2, 1, 3)
		info := mailStream(t, js).CachedInfo()
		if info.State.LastSeq <= last && n == 1 {
			t.Errorf("stream %d: last sequence %d, want more than %d of a deleted one", n, info.State.LastSeq, last)
		}
		if last = info.State.LastSeq; change == nil {
			noError(t, js.DeleteStream(t.Context(), info.Config.Name))
			wantError(t, <-r.ended, jetstream.ErrStreamNotFound)
			break
		}
		noError(t, js.DeleteStream(t.Context(), info.Config.Name))
		change(info.Config)
		wantText(t, fmt.Sprint("stream ", n), <-r.ended, "stream")
	}
}

// A packet whose subject names no cell comes without a sender, so an outbox refuses it.
func TestMailbox_DoesNotVouchForUnknownSender(t *testing.T) {
	t.Parallel()
	js, logs := openMail(t)
	r := readMail(t, logs[0], 1, "mail")
	sendMail(t, js, 2, 1, "mail", 1, 1)
	for _, from := range []string{"2", "000000000000000G", "00000000000000002", "0000000000000000"} {
		_, err := js.Publish(t.Context(), fmt.Sprintf("handloom.mail.%v.%s.mail", cells.ID(1), from), []byte("1"))
		noError(t, err)
	}
	r.want(2, 1, 1)
	wantMails(t, js, 0)
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if got := fmt.Sprint(r.got[0]); got != "[1 1 1 1]" {
		t.Errorf("without a sender: got %s, want 4 packets", got)
	}
}
