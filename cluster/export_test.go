package cluster

import (
	"context"
	"time"
)

func (l PatientLog) PublishFragments(ctx context.Context, rec []byte, fragments int) error {
	return Patiently(ctx, func() error { return l.publishFragments(ctx, rec, fragments) })
}

func (l *Log) publishFragments(ctx context.Context, rec []byte, fragments int) error {
	_, end, err := l.ends(ctx)
	if err != nil {
		return err
	}
	m := message{number: end.at + 1, before: end.sum, sum: end.sum.next(rec), fragments: (len(rec) + fragmentBytes - 1) / fragmentBytes}
	for m.fragment = 1; m.fragment <= fragments; m.fragment++ {
		m.bytes = rec[:min(len(rec), fragmentBytes)]
		rec = rec[len(m.bytes):]
		if end.seq, err = l.send(ctx, end.seq, m.encode()); err != nil {
			return err
		}
	}
	return nil
}

func LogSubject(cell CellID) string { return logSubject(cell) }

func MailStream(to CellID) string { return mailStream.name(to) }

func MailSubject(to, from CellID, outbox string) string {
	return mailSubject(to, from.String(), outbox)
}

func (l PatientLog) ConnectedURL() string { return l.conn.ConnectedUrl() }

func (l *Log) Blobs() Blobs { return l.o.Snapshots }

// CompareEvery sets the time between looks at the settings of the stream.
func (l *Log) CompareEvery(d time.Duration) { l.watch.interval = d }

func (l PatientLog) TrimReplica(ctx context.Context) error {
	return Patiently(ctx, func() error { return l.trimReplica(ctx) })
}
