package cluster_test

import (
	"bytes"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"handloom/cluster"
	"handloom/cluster/cells"
	"handloom/cluster/internal/rights"
)

func (s *secured) conn(t *testing.T, cell cells.ID) *nats.Conn {
	t.Helper()
	conn, err := nats.Connect(strings.Join(s.urls, ","), append(s.options(t, cell), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))...)
	noError(t, err)
	t.Cleanup(conn.Close)
	return conn
}

func (s *secured) js(t *testing.T, cell cells.ID) jetstream.JetStream {
	t.Helper()
	conn, err := nats.Connect(strings.Join(s.urls, ","), append(s.options(t, cell), nats.CustomInboxPrefix("_INBOX."+cell.String()))...)
	noError(t, err)
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn, jetstream.WithDefaultTimeout(patience))
	noError(t, err)
	return js
}

// weaken writes the rights that this project once advised: one account, a user for each cell, and
// one CA for nodes and routes.
func weaken(t *testing.T) func(dir string) {
	return func(dir string) {
		for i := 1; i <= 3; i++ {
			edit := func(name string, change func(text string) string) {
				t.Helper()
				name = filepath.Join(dir, fmt.Sprint("server-", i), name)
				b, err := os.ReadFile(name)
				noError(t, err)
				noError(t, os.WriteFile(name, []byte(change(string(b))), 0o600))
			}
			edit("accounts.conf", func(text string) string {
				var b strings.Builder
				b.WriteString("authorization { users: [\n")
				for id, key := range keysOf(text) {
					b.WriteString(strings.NewReplacer("ID", id, "KEY", key).Replace(`{ nkey: KEY, permissions: {
						subscribe: ["_INBOX.>", "handloom.mail.ID.*.*"], allow_responses: true
						publish: ["handloom.cell.ID", "handloom.mail.>", "$O.HANDLOOM-ID.>", "$JS.API.INFO"
							"$JS.API.STREAM.*.HANDLOOM-ID", "$JS.API.STREAM.*.*.HANDLOOM-ID"
							"$JS.API.CONSUMER.*.HANDLOOM-ID.>", "$JS.API.CONSUMER.MSG.NEXT.HANDLOOM-ID.>"
							"$JS.API.STREAM.*.OBJ_HANDLOOM-ID", "$JS.API.STREAM.*.*.OBJ_HANDLOOM-ID"
							"$JS.API.CONSUMER.*.OBJ_HANDLOOM-ID.>"]
					} }
					`))
				}
				return b.String() + "] }\n"
			})
			nodes, err := os.ReadFile(filepath.Join(dir, "ca/nodes.pem"))
			noError(t, err)
			edit("routes-ca.pem", func(text string) string { return text + string(nodes) })
		}
	}
}

// keysOf returns the public keys of the cells in a file of accounts.
func keysOf(accounts string) map[string]string {
	keys := map[string]string{}
	for _, part := range strings.Split(accounts, "\n  CELL-")[1:] {
		_, key, _ := strings.Cut(part, "nkey: ")
		keys[part[:16]], _, _ = strings.Cut(key, "\n")
	}
	return keys
}

// An attack uses the credentials of a cell or the program. It returns whether it has
// succeeded, so far.
type attack func(t *testing.T, c *secured, by cells.ID) (succeeded func() bool)

const secret = "secret of eight" // 15 bytes: a multiple of 3 for base64

// changeStream creates or changes a stream of cell 7.
func changeStream(t *testing.T, c *secured, by cells.ID, name string, change func(o *jetstream.StreamConfig)) (jetstream.Stream, error) {
	t.Helper()
	js, o := c.js(t, by), jetstream.StreamConfig{Name: name, Subjects: []string{"$O." + cells.ID(7).Stream() + ".>"}}
	if s, err := js.Stream(t.Context(), name); err == nil { // of another attack
		o = s.CachedInfo().Config
	}
	change(&o)
	return js.CreateOrUpdateStream(t.Context(), o)
}

// inLogOfEight returns whether the stream of cell 8 has a message with this text.
func inLogOfEight(t *testing.T, c *secured, text string) func() bool {
	js, next := c.js(t, 8), uint64(1)
	return func() bool {
		s, err := js.Stream(t.Context(), cells.ID(8).Stream())
		if err != nil {
			return false
		}
		for next = max(next, s.CachedInfo().State.FirstSeq); next <= s.CachedInfo().State.LastSeq; next++ {
			m, err := s.GetMsg(t.Context(), next)
			if err != nil {
				return false
			}
			if bytes.Contains(m.Data, []byte(text)) {
				return true
			}
		}
		return false
	}
}

var attacks = map[string]attack{
	"write by republishing": func(t *testing.T, c *secured, by cells.ID) func() bool {
		_, err := changeStream(t, c, by, "OBJ_"+cells.ID(7).Stream(), func(o *jetstream.StreamConfig) {
			o.RePublish = &jetstream.RePublish{Source: "$O." + cells.ID(7).Stream() + ".x", Destination: cells.ID(8).Subject()}
		})
		noError(t, err)
		conn, arrived := c.conn(t, by), inLogOfEight(t, c, fmt.Sprint("republished by ", uint64(by)))
		return func() bool {
			// The stream may have the new settings after the first messages.
			return conn.Publish("$O."+cells.ID(7).Stream()+".x", fmt.Appendf(nil, "republished by %d", uint64(by))) == nil && arrived()
		}
	},
	"write by a push consumer": func(t *testing.T, c *secured, by cells.ID) func() bool {
		s, err := changeStream(t, c, by, "OBJ_"+cells.ID(7).Stream(), func(*jetstream.StreamConfig) {})
		noError(t, err)
		_, _ = c.js(t, by).CreateOrUpdatePushConsumer(t.Context(), s.CachedInfo().Config.Name,
			jetstream.ConsumerConfig{Name: "push", DeliverSubject: cells.ID(8).Subject(), AckPolicy: jetstream.AckNonePolicy})
		conn, arrived := c.conn(t, by), inLogOfEight(t, c, fmt.Sprint("delivered by ", uint64(by)))
		return func() bool { // a delivery during an election is lost
			return conn.Publish("$O."+cells.ID(7).Stream()+".x", fmt.Appendf(nil, "delivered by %d", uint64(by))) == nil && arrived()
		}
	},
	"copy the log": func(t *testing.T, c *secured, by cells.ID) func() bool {
		s, err := changeStream(t, c, by, cells.ID(7).Stream(), func(o *jetstream.StreamConfig) {
			o.Subjects, o.Sources = nil, []*jetstream.StreamSource{{Name: cells.ID(8).Stream()}}
		})
		return func() bool {
			if err != nil {
				return false
			}
			info, err := s.Info(t.Context())
			return err == nil && info.State.Msgs > 0
		}
	},
	"read the answers to others": func(t *testing.T, c *secured, by cells.ID) func() bool {
		var read atomic.Bool
		_, err := c.conn(t, by).Subscribe("_INBOX.>", func(m *nats.Msg) {
			if bytes.Contains(m.Data, []byte(secret)) || bytes.Contains(m.Data, []byte(base64.StdEncoding.EncodeToString([]byte(secret)))) {
				read.Store(true)
			}
		})
		noError(t, err)
		return read.Load
	},
	"speak for another cell": func(t *testing.T, c *secured, by cells.ID) func() bool {
		var heard atomic.Bool
		_, err := c.conn(t, 9).Subscribe(fmt.Sprintf("handloom.mail.%v.*.*", cells.ID(9)), func(m *nats.Msg) {
			if string(m.Data) == fmt.Sprint("forged by ", uint64(by)) {
				heard.Store(true)
			}
		})
		noError(t, err)
		conn := c.conn(t, by)
		return func() bool {
			err := conn.Publish(fmt.Sprintf("handloom.mail.%v.%v.message", cells.ID(9), cells.ID(8)), fmt.Appendf(nil, "forged by %d", uint64(by)))
			return err == nil && conn.Flush() == nil && heard.Load()
		}
	},
	"be a server": func(t *testing.T, c *secured, by cells.ID) func() bool {
		dir := c.folder(by)
		cert, err := tls.LoadX509KeyPair(filepath.Join(dir, "node.pem"), filepath.Join(dir, "node.key"))
		noError(t, err)
		conf, err := server.ProcessConfigFile(filepath.Join(c.dir, "server-1", "server.conf"))
		noError(t, err)
		rogue, err := server.NewServer(&server.Options{
			ServerName: "rogue", Host: "127.0.0.1", Port: -1, NoLog: true, NoSigs: true, Routes: conf.Routes,
			Cluster: server.ClusterOpts{
				Name: "handloom", Host: "127.0.0.1", Port: -1, TLSTimeout: 5,
				TLSConfig: &tls.Config{Certificates: []tls.Certificate{cert}, InsecureSkipVerify: true, MinVersion: tls.VersionTLS12},
			},
		})
		noError(t, err)
		rogue.Start()
		t.Cleanup(func() { rogue.Shutdown(); rogue.WaitForShutdown() })
		return func() bool { return rogue.NumRoutes() > 0 }
	},
}

// workAsEight appends and reads records with the secret, until done.
func workAsEight(t *testing.T, c *secured, done func() bool) {
	t.Helper()
	writer, reader := openLog(t, c.as(t, 8), 8, cluster.Options{}), openLog(t, c.as(t, 8), 8, cluster.Options{})
	rec := func(at uint64) []byte { return fmt.Append(nil, secret, at) }
	late := time.Now().Add(patience)
	at, err := writer.Tail(t.Context())
	for ; err == nil && (at == 0 || !done()) && time.Now().Before(late); at++ {
		if _, err = cluster.AppendTo(t.Context(), writer, at, rec(at+1)); err == nil {
			err = readRecords(t.Context(), reader, at, at+1, rec)
		}
	}
	noError(t, err)
	mustClose(t, writer)
	mustClose(t, reader)
}

func TestAttack_SucceedsWithOneAccount(t *testing.T) {
	t.Parallel()
	for name, attack := range attacks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := startSecured(t, weaken(t), 7, 8, 9)
			fill(t, openLog(t, c.as(t, 8), 8, cluster.Options{}), 1)
			succeeded := attack(t, c, 7)
			workAsEight(t, c, succeeded)
			if !succeeded() {
				t.Error("the attack fails without the guard, so this test proves nothing")
			}
		})
	}
}

func TestAttack_FailsWithRights(t *testing.T) {
	t.Parallel()
	c := startSecured(t, nil, 7, 8, 9)
	fill(t, openLog(t, c.as(t, 8), 8, cluster.Options{}), 1)
	succeeded := map[string]func() bool{}
	for name, attack := range attacks {
		for _, by := range []cells.ID{7, program} {
			succeeded[fmt.Sprintf("%s, by cell %v", name, by)] = attack(t, c, by)
		}
	}
	noError(t, rights.Add(rights.Options{Dir: c.dir, Cells: []cells.ID{10}}))
	noError(t, c.Reload())
	noError(t, c.Reload()) // the first activates no imports of new accounts

	// Meanwhile cell 8 appends, and the worlds of 9 and of the new cell 10 exchange messages, save
	// snapshots and take over.
	var posts []*post
	for i := range 4 {
		self, other := cells.ID(9+i/2), cells.ID(10-i/2)
		posts = append(posts, startPost(t, c.as(t, self), nil, 1+i%2, self, other))
	}
	killed := false
	workAsEight(t, c, func() bool {
		all := true
		for i, p := range posts {
			n, arrived := p.look(t)
			all = all && arrived && n.Sent == numbers && n.Received == numbers
			if !killed && n.Received > numbers/2 && p.world.Status().Leader {
				p.kill(t)
				posts[i], killed = startPost(t, c.as(t, cells.ID(9+i/2)), nil, 1, cells.ID(9+i/2), p.other), true
			}
		}
		return all
	})
	for i, p := range posts {
		if n, _ := p.look(t); n.Wrong > 0 || n.Received != numbers || p.out.Forged() > 0 || p.log.ForeignMessages() > 0 {
			t.Errorf("node %d: received %d, wrong %d, forged %d, foreign %d", i, n.Received, n.Wrong, p.out.Forged(), p.log.ForeignMessages())
		}
		for ctx, saved := cluster.Wait(t), 0; saved == 0; {
			all, err := p.log.Snapshots(ctx)
			noError(t, err)
			saved = len(all)
		}
		p.kill(t)
	}
	for name, is := range succeeded {
		if is() {
			t.Errorf("%s: succeeds", name)
		}
	}
}
