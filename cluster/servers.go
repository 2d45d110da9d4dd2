package cluster

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"handloom/internal/lockfile"
)

// Servers are the servers of the streams: [Embedded] or [URLs].
type Servers struct {
	urls     []string
	options  []nats.Option
	embedded *embedded
	shared   *connection // nil: each Log connects
}

// URLs returns a cluster's servers. A Log connects to any of them. o sets TLS, credentials and, for
// errors outside of calls, nats.ErrorHandler; default package slog.
func URLs(urls []string, o ...nats.Option) Servers { return Servers{urls: urls, options: o} }

// Embedded returns one server in this process without network access, for tests and small
// installations. It keeps its files in dir, syncs each record, and runs while a Log with this
// value is open. It locks dir/lock: another process or value gets [ErrLocked].
func Embedded(dir string) Servers { return Servers{embedded: &embedded{dir: dir}} }

func (s Servers) replicas() int {
	if s.embedded != nil {
		return 1
	}
	return 3
}

const (
	pingTime      = time.Second // two missing replies end the connection
	reconnectWait = 50 * time.Millisecond
	dialTime      = 2 * time.Second
	leaveTime     = requestTime * 9 / 10 // one unanswered request is enough
	stayTime      = 5 * requestTime      // on a new server: elections may be under way
)

// connect returns a reconnecting connection; release it. Replies arrive on subjects with the
// inbox prefix, so that rights can keep other clients from them.
func (s Servers) connect(ctx context.Context, inbox string) (*connection, error) {
	if s.shared != nil {
		return s.shared.share(), nil
	}
	o := nats.GetDefaultOptions()
	o.Servers = s.urls
	o.MaxReconnect, o.ReconnectWait = -1, reconnectWait
	o.PingInterval, o.MaxPingsOut = pingTime, 2
	o.ReconnectBufSize = -1 // fail while disconnected instead of sending later
	o.Timeout = dialTime
	o.InboxPrefix = inbox
	o.AsyncErrorCB = logError
	done := func() {}
	if s.embedded != nil {
		srv, err := s.embedded.start()
		if err != nil {
			return nil, err
		}
		o.InProcessServer, done = srv, s.embedded.stop
	}
	for _, option := range s.options {
		if err := option(&o); err != nil {
			done()
			return nil, fmt.Errorf("cluster: %w", err)
		}
	}
	for {
		conn, err := o.Connect()
		if err == nil {
			js, err := jetstream.New(conn)
			if err != nil {
				conn.Close()
				done()
				return nil, fmt.Errorf("cluster: %w", err)
			}
			return &connection{Conn: conn, js: js, done: done, users: 1}, nil
		}
		if isRefused(err) {
			done()
			return nil, fmt.Errorf("cluster: connect: %w", err)
		}
		if pause(ctx, reconnectWait) != nil {
			done()
			return nil, fmt.Errorf("cluster: no server answers: %w", err)
		}
	}
}

// logError logs an error outside of calls, such as a refused right. By default nats.go prints it to
// stderr.
func logError(_ *nats.Conn, sub *nats.Subscription, err error) {
	subject := ""
	if sub != nil {
		subject = sub.Subject
	}
	slog.Warn("cluster: connection", "error", err, "subject", subject)
}

// isRefused reports whether a server refused the credentials, or has a wrong certificate, and no
// server accepted the connection.
func isRefused(err error) bool {
	var wrong *tls.CertificateVerificationError
	return errors.As(err, &wrong) || isAny(err, nats.ErrAuthorization, nats.ErrAuthExpired, nats.ErrAuthRevoked, nats.ErrAccountAuthExpired)
}

// After leaveTime without an answer noteResponse changes servers: the current one may be cut
// off from the others.
func (l *Log) noteResponse(at time.Time, err error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	var api *jetstream.APIError
	switch {
	case err == nil, errors.As(err, &api) && api.Code < 500: // 503: no known leader
		l.failingSince = time.Time{}
		return
	case errors.Is(err, context.Canceled): // the caller left
		return
	case l.failingSince.IsZero():
		l.failingSince = at
	}
	if l.conn.leave(l.failingSince) {
		l.failingSince = time.Time{}
	}
}

type embedded struct {
	dir    string
	mutex  sync.Mutex
	users  int
	server *server.Server
	lock   io.Closer // of the folder
}

func (e *embedded) start() (*server.Server, error) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.users == 0 {
		if err := e.startServer(); err != nil {
			return nil, fmt.Errorf("cluster: embedded server: %w", err)
		}
	}
	e.users++
	return e.server, nil
}

func (e *embedded) startServer() error {
	if err := os.MkdirAll(e.dir, 0o750); err != nil {
		return err
	}
	lock, err := lockfile.Lock(filepath.Join(e.dir, "lock"))
	if errors.Is(err, lockfile.ErrHeld) {
		return fmt.Errorf("%w: %s is locked by %s", ErrLocked, e.dir, lockfile.Holder(filepath.Join(e.dir, "lock")))
	}
	if err != nil {
		return err
	}
	s, err := server.NewServer(&server.Options{
		ServerName: "handloom", DontListen: true, NoSigs: true, NoLog: true,
		JetStream: true, StoreDir: e.dir, SyncAlways: true,
	})
	if err != nil {
		return errors.Join(err, lock.Close())
	}
	failed := make(startLog, 1)
	s.SetLoggerV2(failed, false, false, false)
	s.Start()
	if err := failed.wait(s); err != nil {
		s.Shutdown()
		s.WaitForShutdown()
		return errors.Join(fmt.Errorf("start in %s: %w", e.dir, err), lock.Close())
	}
	e.server, e.lock = s, lock
	return nil
}

func (e *embedded) stop() {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.users--; e.users == 0 {
		e.server.Shutdown()
		e.server.WaitForShutdown()
		_ = e.lock.Close()
	}
}

// A startLog keeps the first fatal error of a server.
type startLog chan error

func (l startLog) wait(s *server.Server) error {
	select {
	case err := <-l:
		return err
	default: // Start has returned without an error
	}
	if !s.ReadyForConnections(openTime) || !s.JetStreamEnabled() {
		return fmt.Errorf("not ready after %v", openTime)
	}
	return nil
}

func (l startLog) Fatalf(format string, args ...any) {
	select {
	case l <- fmt.Errorf(format, args...):
	default:
	}
}

func (startLog) Errorf(string, ...any)  {}
func (startLog) Warnf(string, ...any)   {}
func (startLog) Noticef(string, ...any) {}
func (startLog) Debugf(string, ...any)  {}
func (startLog) Tracef(string, ...any)  {}
