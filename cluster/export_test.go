package cluster

import "context"

// PublishParts publishes some parts of a record behind the last message, as an owner does
// that dies before the rest.
func (l *Log) PublishParts(ctx context.Context, rec []byte, parts int) error {
	_, end, err := l.ends(ctx)
	if err != nil {
		return err
	}
	m := message{number: end.at + 1, before: end.sum, sum: end.sum.next(rec), parts: (len(rec) + partBytes - 1) / partBytes}
	for m.part = 1; m.part <= parts; m.part++ {
		m.bytes = rec[:min(len(rec), partBytes)]
		rec = rec[len(m.bytes):]
		if end.seq, err = l.send(ctx, end.seq, m.encode()); err != nil {
			return err
		}
	}
	return nil
}

// PublishOther publishes a record that follows none of the log.
func (l *Log) PublishOther(ctx context.Context, rec []byte) error {
	_, end, err := l.ends(ctx)
	if err != nil {
		return err
	}
	end.sum = chain{1}
	_, err = l.publish(ctx, end, rec)
	return err
}

// Blobs returns where l keeps snapshots.
func (l *Log) Blobs() Blobs { return l.blobs }
