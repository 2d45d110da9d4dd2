package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A streamKind is a row of the table of all streams. TestStreams_AreDeclared finds streams that have
// no row.
type streamKind int

const (
	logStream       streamKind = iota
	snapshotStream             // an object store
	mailStream                 // packets for the cell
	placementStream            // cells and nodes, a key-value store
)

// anyCell is the placeholder of the cell in names and subjects.
const anyCell = "<cell>"

// streams has the settings in which a stream differs from the others.
var streams = [...]jetstream.StreamConfig{
	logStream: {
		Name: "HANDLOOM-" + anyCell, Subjects: []string{"handloom.cell." + anyCell},
		DenyDelete: true, Duplicates: minDuplicates, MaxMsgsPerSubject: -1,
	},
	snapshotStream: {
		Name: "OBJ_HANDLOOM-" + anyCell, Subjects: []string{"$O.HANDLOOM-" + anyCell + ".C.>", "$O.HANDLOOM-" + anyCell + ".M.>"},
		AllowRollup: true, Duplicates: bucketDuplicates, MaxMsgsPerSubject: -1,
	},
	mailStream: {
		Name: "MAIL_HANDLOOM-" + anyCell, Subjects: []string{mailPrefix + anyCell + ".*.*"},
		DenyDelete: true, Duplicates: minDuplicates, MaxMsgsPerSubject: mailPerSender, DiscardNewPerSubject: true,
	},
	placementStream: {
		Name: "KV_" + bucketName, Subjects: []string{"$KV." + bucketName + ".>"},
		DenyDelete: true, AllowRollup: true, Duplicates: bucketDuplicates, MaxMsgsPerSubject: 1,
	},
}

const (
	// minDuplicates is the shortest window of duplicate detection, which messages without IDs do
	// not use.
	minDuplicates = 100 * time.Millisecond

	// bucketDuplicates is the window that other clients set, too. Objects need seconds.
	bucketDuplicates = 2 * time.Minute

	// formerMailBytes was max_bytes of a mailbox. The servers reserve max_bytes of each stream, so
	// four empty mailboxes filled a server of 1 GiB.
	formerMailBytes = 256 << 20
)

func (k streamKind) name(cell CellID) string {
	return strings.ReplaceAll(streams[k].Name, anyCell, cell.String())
}

// settings returns the settings of a stream, for all kinds: nothing expires, nothing gives way to
// newer messages, and no disk is reserved. Only the stream leader answers reads, because other
// replicas may lag.
func (k streamKind) settings(cell CellID, replicas int) jetstream.StreamConfig {
	c := streams[k]
	c.Name = k.name(cell)
	c.Subjects = strings.Fields(strings.ReplaceAll(strings.Join(c.Subjects, " "), anyCell, cell.String()))
	c.Retention, c.Storage, c.Replicas, c.Discard = jetstream.LimitsPolicy, jetstream.FileStorage, replicas, jetstream.DiscardNew
	c.MaxMsgs, c.MaxBytes, c.MaxMsgSize, c.MaxConsumers = -1, -1, -1, -1
	return c
}

// beginsNow makes the sequences of a new stream greater than all sequences of a deleted one, so late
// requests for the deleted stream do no harm.
func beginsNow(c jetstream.StreamConfig) jetstream.StreamConfig {
	c.FirstSeq = uint64(time.Now().UnixMicro())
	return c
}

// openStream returns a stream of the table. It creates a missing one, and corrects settings of
// older programs. It fails with [ErrSettings] if others differ, and otherwise retries until ctx ends.
func openStream(ctx context.Context, js jetstream.JetStream, want jetstream.StreamConfig) (s jetstream.Stream, err error) {
	err = retry(ctx, isWrongSettings, func(ctx context.Context) (err error) {
		ctx, cancel := context.WithTimeout(ctx, 5*requestTime)
		defer cancel()
		s, err = repeat(ctx, firstAnswer, func(ctx context.Context) (jetstream.Stream, error) { return js.Stream(ctx, want.Name) })
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			s, err = js.CreateStream(ctx, want)
		}
		if err == nil {
			s, err = mend(ctx, js, s, want)
		}
		if err != nil {
			return fmt.Errorf("cluster: stream %s: %w", want.Name, err)
		}
		return checkSettings(want, s.CachedInfo().Config)
	})
	return s, err
}

// mend turns off direct reads of buckets, which other clients turn on, and reservations of older
// versions of this package.
func mend(ctx context.Context, js jetstream.JetStream, s jetstream.Stream, want jetstream.StreamConfig) (jetstream.Stream, error) {
	c := s.CachedInfo().Config
	direct, reserved := c.AllowDirect && want.AllowRollup, c.MaxBytes == formerMailBytes
	if !direct && !reserved {
		return s, nil
	}
	c.AllowDirect = c.AllowDirect && !direct
	if reserved {
		c.MaxBytes = want.MaxBytes
	}
	return js.UpdateStream(ctx, c)
}

var errReplaced = errors.New("somebody replaced the stream")

// checkStream requests the state of a stream. It fails with [ErrSettings] if the settings differ
// now, and with errReplaced if the stream was created at another time.
func checkStream(ctx context.Context, s jetstream.Stream, want jetstream.StreamConfig, created time.Time) (*jetstream.StreamInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*requestTime)
	defer cancel()
	info, err := repeat(ctx, firstAnswer, func(ctx context.Context) (*jetstream.StreamInfo, error) { return s.Info(ctx) })
	switch {
	case err != nil:
		return nil, err
	case !info.Created.Equal(created):
		return nil, fmt.Errorf("%w %s", errReplaced, want.Name)
	}
	return info, checkSettings(want, info.Config)
}
