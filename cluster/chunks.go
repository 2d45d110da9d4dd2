package cluster

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A chunkWriter publishes chunks. each is called after every one.
type chunkWriter struct {
	ctx    context.Context
	b      *bucket
	each   func() error
	info   jetstream.ObjectInfo
	sum    hash.Hash
	buffer []byte
	acks   []jetstream.PubAckFuture
}

func (w *chunkWriter) Write(p []byte) (n int, err error) {
	for n < len(p) {
		if w.buffer == nil {
			w.buffer = make([]byte, 0, chunkBytes)
		}
		m := min(len(p)-n, chunkBytes-len(w.buffer))
		w.buffer = append(w.buffer, p[n:n+m]...)
		n += m
		if len(w.buffer) == chunkBytes {
			if err := w.flush(); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

func (w *chunkWriter) flush() error {
	if len(w.buffer) == 0 {
		return context.Cause(w.ctx)
	}
	w.sum.Write(w.buffer)
	w.info.Size += uint64(len(w.buffer))
	w.info.Chunks++
	ack, err := w.b.js.PublishMsgAsync(&nats.Msg{Subject: w.b.chunks(w.info.NUID), Data: w.buffer}, jetstream.WithExpectStream(w.b.settings.Name))
	if err != nil {
		return err
	}
	w.acks, w.buffer = append(w.acks, ack), nil
	if err := w.wait(chunkWindow); err != nil {
		return err
	}
	return w.each()
}

// wait returns when at most n chunks are unacknowledged.
func (w *chunkWriter) wait(n int) error {
	for ; len(w.acks) > n; w.acks = w.acks[1:] {
		late := time.NewTimer(w.b.stallLimit)
		defer late.Stop()
		select {
		case <-w.acks[0].Ok():
		case err := <-w.acks[0].Err():
			return err
		case <-late.C:
			return fmt.Errorf("chunk: no acknowledgement after %v", w.b.stallLimit)
		case <-w.ctx.Done():
			return context.Cause(w.ctx)
		}
	}
	return nil
}

// close waits for all chunks, and returns the description.
func (w *chunkWriter) close() (jetstream.ObjectInfo, error) {
	err := w.flush()
	if err == nil {
		err = w.wait(0)
	}
	w.info.Digest = jetstream.GetObjectDigestValue(w.sum)
	return w.info, err
}

// A chunkReader reads an object until Close. It fails with [ErrCorrupt] on a wrong digest, and
// with [fs.ErrNotExist] if the object was replaced meanwhile.
type chunkReader struct {
	ctx    context.Context
	cancel func()
	b      *bucket
	info   jetstream.ObjectInfo
	exists func(ctx context.Context) (bool, error) // whether a description names the chunks
	seq    uint64                                  // first possible sequence of the next chunk
	chunks uint32                                  // read
	sum    hash.Hash
	rest   []byte
	err    error
}

func (b *bucket) open(ctx context.Context, info jetstream.ObjectInfo, exists func(ctx context.Context) (bool, error)) *chunkReader {
	ctx, cancel := context.WithCancel(ctx)
	return &chunkReader{ctx: ctx, cancel: cancel, b: b, info: info, exists: exists, seq: 1, sum: sha256.New()}
}

func (r *chunkReader) Read(p []byte) (n int, err error) {
	for len(r.rest) == 0 && r.err == nil {
		r.err = r.next()
	}
	n = copy(p, r.rest)
	if r.rest = r.rest[n:]; n == 0 && len(p) > 0 {
		return 0, r.err
	}
	return n, nil
}

func (r *chunkReader) next() error {
	if r.chunks == r.info.Chunks {
		want, err := jetstream.DecodeObjectDigest(r.info.Digest)
		if err != nil || !bytes.Equal(r.sum.Sum(nil), want) {
			return fmt.Errorf("%w: object %s has another digest", ErrCorrupt, r.info.Name)
		}
		return io.EOF
	}
	m, err := r.b.request(r.ctx, func(ctx context.Context) (*jetstream.RawStreamMsg, error) {
		return r.b.stream.GetMsg(ctx, r.seq, jetstream.WithGetMsgSubject(r.b.chunks(r.info.NUID)))
	})
	if isNotFound(err) {
		return r.missing()
	}
	if err != nil {
		return fmt.Errorf("cluster: object %s, chunk %d: %w", r.info.Name, r.chunks+1, err)
	}
	r.seq = m.Sequence + 1
	r.chunks++
	r.rest = m.Data
	r.sum.Write(m.Data)
	return nil
}

func (r *chunkReader) missing() error {
	exists, err := r.exists(r.ctx)
	if err == nil && exists {
		err = ErrCorrupt
	}
	return fmt.Errorf("%w: object %s, chunk %d of %d is missing", cmp.Or(err, fs.ErrNotExist), r.info.Name, r.chunks+1, r.info.Chunks)
}

func (r *chunkReader) Close() error {
	r.cancel()
	return nil
}
