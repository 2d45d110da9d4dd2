package cluster

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// objects are [Blobs] in a stream, in the format of object stores, so other clients can list and
// copy them. The client of nats.go does not fit: it lists and reads by consumers, which a server
// that lags may serve, and publishes a whole state without waiting for acknowledgements.
//
//	$O.<bucket>.C.<id>   the chunks of an object
//	$O.<bucket>.M.<id>   its description, the last message
//
// id is the name in base64. A name is put once.
type objects struct {
	name       string // of the bucket
	js         jetstream.JetStream
	stream     jetstream.Stream
	settings   jetstream.StreamConfig
	stallLimit time.Duration // limit of a request with its retries
}

const (
	chunkBytes  = 256 << 10
	stalledTime = 10 * requestTime
	cleanupTime = requestTime // after a failed Put
)

func openObjects(ctx context.Context, js jetstream.JetStream, cell CellID, replicas int) (o *objects, err error) {
	o = &objects{name: cell.Stream(), js: js, settings: snapshotStream.settings(cell, replicas), stallLimit: stalledTime}
	o.stream, err = openStream(ctx, js, o.settings)
	return o, err
}

func (o *objects) subject(kind, name string) string {
	return "$O." + o.name + "." + kind + "." + base64.URLEncoding.EncodeToString([]byte(name))
}

func (o *objects) chunks(name string) string { return o.subject("C", name) }

func (o *objects) meta(name string) string { return o.subject("M", name) }

// Put publishes a chunk after the acknowledgement of the chunk before, so saves delay no appends for
// long.
func (o *objects) Put(ctx context.Context, name string, r io.Reader) (err error) {
	defer func() {
		if err != nil { // Log.removeOld removes the rest of a process that dies
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
			defer cancel()
			_ = o.Delete(ctx, name)
		}
	}()
	info := jetstream.ObjectInfo{Bucket: o.name}
	info.Name, info.Opts = name, &jetstream.ObjectMetaOptions{ChunkSize: chunkBytes}
	info.NUID = base64.URLEncoding.EncodeToString([]byte(name))
	sum, chunk := sha256.New(), make([]byte, chunkBytes)
	for more := true; more; {
		n, err := io.ReadFull(r, chunk)
		if more = err == nil; !more && err != io.EOF && err != io.ErrUnexpectedEOF {
			return err
		}
		if n == 0 {
			break
		}
		sum.Write(chunk[:n])
		info.Size += uint64(n)
		info.Chunks++
		if err := o.publish(ctx, o.chunks(name), chunk[:n]); err != nil {
			return err
		}
	}
	info.Digest = jetstream.GetObjectDigestValue(sum)
	b, err := json.Marshal(info)
	if err != nil {
		return err
	}
	return o.publish(ctx, o.meta(name), b)
}

// publish repeats a message that is not acknowledged. The stream takes it once, because of its ID.
func (o *objects) publish(ctx context.Context, subject string, b []byte) error {
	m := &nats.Msg{Subject: subject, Data: b}
	id := rand.Text()
	_, err := patient(ctx, o.stallLimit, func(ctx context.Context) (*jetstream.PubAck, error) {
		return o.js.PublishMsg(ctx, m, jetstream.WithExpectStream(o.settings.Name), jetstream.WithMsgID(id), jetstream.WithRetryAttempts(0))
	})
	return err
}

// patient repeats a request without an answer until a limit.
func patient[A any](ctx context.Context, limit time.Duration, request func(ctx context.Context) (A, error)) (a A, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err = retry(ctx, isNotFound, func(ctx context.Context) (err error) {
		ctx, cancel := context.WithTimeout(ctx, 2*requestTime)
		defer cancel()
		a, err = request(ctx)
		return err
	})
	return a, err
}

// Get returns the object until Close. Read fails with [ErrCorrupt] on a wrong digest, and with
// [fs.ErrNotExist] if the object was deleted meanwhile; with both if only chunks are missing.
func (o *objects) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	r := &objectReader{o: o, seq: 1, sum: sha256.New()}
	var err error
	if r.info, err = o.describe(ctx, name); err != nil {
		return nil, err
	}
	r.ctx, r.cancel = context.WithCancel(ctx)
	return r, nil
}

func (o *objects) describe(ctx context.Context, name string) (info jetstream.ObjectInfo, err error) {
	m, err := patient(ctx, o.stallLimit, func(ctx context.Context) (*jetstream.RawStreamMsg, error) {
		return o.stream.GetLastMsgForSubject(ctx, o.meta(name))
	})
	switch {
	case isNotFound(err):
		return info, fmt.Errorf("cluster: object %s: %w", name, fs.ErrNotExist)
	case err != nil:
		return info, fmt.Errorf("cluster: object %s: %w", name, err)
	}
	if err := json.Unmarshal(m.Data, &info); err != nil {
		return info, fmt.Errorf("%w: object %s: %w", ErrCorrupt, name, err)
	}
	return info, nil
}

// Names returns also the names of objects without a description, such as the ones whose Put was
// interrupted. It compares the settings.
func (o *objects) Names(ctx context.Context) (names []string, err error) {
	info, err := patient(ctx, o.stallLimit, func(ctx context.Context) (*jetstream.StreamInfo, error) {
		return o.stream.Info(ctx, jetstream.WithSubjectFilter(">"))
	})
	if err == nil {
		err = checkSettings(o.settings, info.Config)
	}
	if err != nil {
		return nil, fmt.Errorf("cluster: bucket %s: %w", o.settings.Name, err)
	}
	for subject := range info.State.Subjects {
		id := subject[strings.LastIndexByte(subject, '.')+1:]
		if name, err := base64.URLEncoding.DecodeString(id); err == nil {
			names = append(names, string(name))
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// Delete erases the description first, because chunks without one are not an object.
func (o *objects) Delete(ctx context.Context, name string) error {
	for _, subject := range []string{o.meta(name), o.chunks(name)} {
		_, err := patient(ctx, o.stallLimit, func(ctx context.Context) (any, error) {
			return nil, o.stream.Purge(ctx, jetstream.WithPurgeSubject(subject))
		})
		if err != nil {
			return fmt.Errorf("cluster: object %s: %w", name, err)
		}
	}
	return nil
}

type objectReader struct {
	ctx    context.Context
	cancel func()
	o      *objects
	info   jetstream.ObjectInfo
	seq    uint64 // first possible sequence of the next chunk
	chunks uint32 // read
	sum    hash.Hash
	rest   []byte
	err    error
}

func (r *objectReader) Read(p []byte) (n int, err error) {
	for len(r.rest) == 0 && r.err == nil {
		r.err = r.next()
	}
	n = copy(p, r.rest)
	if r.rest = r.rest[n:]; n == 0 && len(p) > 0 {
		return 0, r.err
	}
	return n, nil
}

func (r *objectReader) next() error {
	if r.chunks == r.info.Chunks {
		want, err := jetstream.DecodeObjectDigest(r.info.Digest)
		if err != nil || !bytes.Equal(r.sum.Sum(nil), want) {
			return fmt.Errorf("%w: object %s has another digest", ErrCorrupt, r.info.Name)
		}
		return io.EOF
	}
	m, err := patient(r.ctx, r.o.stallLimit, func(ctx context.Context) (*jetstream.RawStreamMsg, error) {
		return r.o.stream.GetMsg(ctx, r.seq, jetstream.WithGetMsgSubject(r.o.chunks(r.info.Name)))
	})
	if isNotFound(err) {
		_, err = r.o.describe(r.ctx, r.info.Name)
		// Another node that removes chunks before their description arrives leaves a description alone.
		err = cmp.Or(err, errors.Join(ErrCorrupt, fs.ErrNotExist))
	}
	if err != nil {
		return fmt.Errorf("cluster: object %s, chunk %d of %d: %w", r.info.Name, r.chunks+1, r.info.Chunks, err)
	}
	r.seq = m.Sequence + 1
	r.chunks++
	r.rest = m.Data
	r.sum.Write(m.Data)
	return nil
}

func (r *objectReader) Close() error {
	r.cancel()
	return nil
}
