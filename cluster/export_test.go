package cluster

import "context"

func (l *Log) PublishFragments(ctx context.Context, rec []byte, fragments int) error {
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

func (l *Log) PublishOther(ctx context.Context, rec []byte) error {
	_, end, err := l.ends(ctx)
	if err != nil {
		return err
	}
	end.sum = chain{1}
	_, err = l.publish(ctx, end, rec, l.send)
	return err
}

func (l *Log) Blobs() Blobs { return l.o.Snapshots }

// CompareOften looks at the stream for each record.
func (l *Log) CompareOften() { l.watch.interval = 0 }

func (l *Log) TrimReplica(ctx context.Context) error { return l.trimReplica(ctx) }
