package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"handloom/cluster/cells"
	"handloom/store"
	"handloom/world"
)

// openPost returns a cell with a dead letter, which sends one message to cell 5, which nobody runs.
func openPost(_ context.Context, id CellID) (*Cell, error) {
	s := store.New(store.Options{})
	out, err := cells.New(s, cells.Options[int]{})
	if err != nil {
		return nil, err
	}
	return &Cell{Store: s, Outbox: out, World: world.Options{
		Version: "post", Hz: 60,
		Init: func(_ context.Context, w *store.Writer) error {
			out.DeadLetters().Insert(w, cells.DeadLetter[int]{From: 5, Number: 1, Error: "boom"})
			return out.Init(w, id)
		},
		Tick: out.Tick(func(ctx context.Context, _ *store.Writer, t world.Tick) error {
			if t.Number > 1 {
				return nil
			}
			return s.Do(ctx, func(q store.Queue) { out.Send(q, 5, 7) })
		}),
	}}, nil
}

// An operatedNode has a server with its Handler.
type operatedNode struct {
	*testNode
	url string
}

func startOperated(t *testing.T, s Servers, name string) operatedNode {
	t.Helper()
	n := startNode(t, s, Host{Name: name, Copies: 3, Open: openPost})
	page := httptest.NewServer(Handler(n.Node))
	t.Cleanup(page.Close)
	return operatedNode{n, page.URL}
}

// send returns the status and the body of the answer.
func (n operatedNode) send(t *testing.T, method, path string) (int, string) {
	t.Helper()
	path, form, _ := strings.Cut(path, "?")
	r, err := http.NewRequestWithContext(t.Context(), method, n.url+path, strings.NewReader(form))
	noError(t, err)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	answer, err := http.DefaultClient.Do(r)
	noError(t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	noError(t, err)
	return answer.StatusCode, string(body)
}

// cell returns the only cell in the status, which may be missing.
func (n operatedNode) cell(t *testing.T) (c cellView) {
	t.Helper()
	code, text := n.send(t, "GET", "/status")
	var all nodeView
	if err := json.Unmarshal([]byte(text), &all); code != 200 || err != nil || all.Node != n.host.Name {
		t.Fatalf("status: got %d, %v: %s", code, err, text)
	}
	if len(all.Cells) > 0 {
		c = all.Cells[0]
	}
	return c
}

func TestHandler_CarriesOutEachAction(t *testing.T) {
	t.Parallel()
	c := StartServers(t, 3, nil)
	var nodes []operatedNode
	for i, name := range []string{"a", "b", "c"} {
		nodes = append(nodes, startOperated(t, URLs([]string{c.URL(i)}), name))
	}
	place(t, nodes[0].Node, 1, 1)
	const cell = "/cells/0000000000000001/"
	// ask sends an action to one node after another until one carries it out.
	ask := func(action string) (answer string) {
		t.Helper()
		WaitUntil(t, action, func() bool {
			for _, n := range nodes {
				code, text := n.send(t, "POST", cell+action)
				if code == 200 {
					answer = text
					return true
				}
				if code != 409 {
					t.Fatalf("%s: got %d: %s", action, code, text)
				}
			}
			return false
		})
		return answer
	}
	leader := func() (leader operatedNode, pairs map[string]pairView) {
		t.Helper()
		WaitUntil(t, "a leader", func() bool {
			for _, n := range nodes {
				if c := n.cell(t); c.World.Leader {
					leader, pairs = n, map[string]pairView{}
					for _, p := range c.Pairs {
						pairs[p.Cell] = p
					}
				}
			}
			return pairs != nil
		})
		return leader, pairs
	}
	five := CellID(5).String()
	WaitUntil(t, "a message waits", func() bool { _, p := leader(); return p[five].Sent == 1 && p[five].Acked == 0 })
	ask("abandon?to=" + five)
	WaitUntil(t, "no message waits", func() bool { _, p := leader(); return p[five].Sent == p[five].Acked })
	ask("skip?from=" + five + "&first=1&last=6")
	WaitUntil(t, "messages are skipped", func() bool { _, p := leader(); return p[five].Received == 6 })
	ask("stepdown")
	ask("handoff?version=post")
	n, _ := leader()
	if mail := n.cell(t).Mail; !slices.Equal(mail, []string{`table "message dead letters": rows: 1: repair the program whose ticks these messages failed, and erase the rows`}) {
		t.Errorf("mail: got %q, want the dead letter", mail)
	}
	wantBadInput(t, n)
	if _, page := n.send(t, "GET", "/"); !strings.Contains(page, "<td>0000000000000001<td>") || !strings.Contains(page, "curl -X POST "+n.url+"/drain") {
		t.Errorf("page: got %s", page)
	}
	other, _ := openPost(t.Context(), 1)
	noError(t, other.Store.Load(t.Context(), strings.NewReader(ask("export"))))
	leader() // bad input ended nothing
	if code, text := n.send(t, "POST", "/drain"); code != 200 || !strings.Contains(text, "draining") {
		t.Errorf("drain: got %d, %s", code, text)
	}
	if err := n.end(); !errors.Is(err, errDrained) {
		t.Errorf("Run after a drain: got %v, want %v", err, errDrained)
	}
}

// wantBadInput sends bad input, which ends neither the node nor its cell.
func wantBadInput(t *testing.T, n operatedNode) {
	t.Helper()
	const cell = "/cells/0000000000000001/"
	for _, test := range []struct {
		method, path string
		code         int
		text         string
	}{
		{"POST", "/cells/0000000000000009/handoff", 404, "cell 0000000000000009: the cell is not on this node; its nodes: []"},
		{"POST", "/cells/1/handoff", 400, `bad input: cells: ID: got "1", want 16`},
		{"POST", cell + "skip?from=5&first=1&last=2", 400, "from=ID"},
		{"POST", cell + "skip?from=0000000000000005&first=one&last=2", 400, `parsing "one"`},
		{"POST", cell + "skip?from=0000000000000005&first=3&last=2", 400, "1 <= first <= last"},
		{"POST", cell + "skip?from=0000000000000005&first=0&last=2", 400, "1 <= first <= last"},
		{"POST", cell + "abandon", 400, "to=ID"},
		{"POST", cell + "explode", 404, "not found"},
		{"POST", "/", 405, "Not Allowed"},
		{"GET", cell + "handoff", 405, "Not Allowed"},
		{"GET", "/drain", 405, "Not Allowed"},
		{"GET", "/cells", 404, "not found"},
	} {
		if code, text := n.send(t, test.method, test.path); code != test.code || !strings.Contains(text, test.text) {
			t.Errorf("%s %s: got %d %q, want %d %q", test.method, test.path, code, text, test.code, test.text)
		}
	}
	if c := n.cell(t); c.World.Term == 0 || c.Error != "" {
		t.Errorf("after bad input: got %+v, want an open cell", c)
	}
}

func TestHandler_RefusesOthers(t *testing.T) {
	t.Parallel()
	n := &Node{placement: newPlacement(), drain: make(chan struct{}, 1)}
	for _, test := range []struct {
		from, host, origin, site string
		code                     int
	}{
		{"127.0.0.1:1", "localhost:8080", "", "", 200},
		{"[::1]:1", "127.0.0.1:8080", "http://127.0.0.1:8080", "same-origin", 200},
		{"192.0.2.1:1", "localhost:8080", "", "", 403},
		{"", "localhost:8080", "", "", 403},
		{"127.0.0.1:1", "evil.example", "", "", 403},
		{"127.0.0.1:1", "localhost:8080", "http://evil.example", "", 403},
		{"127.0.0.1:1", "localhost:8080", "", "cross-site", 403},
	} {
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/drain", nil)
		r.RemoteAddr, r.Host = test.from, test.host
		r.Header.Set("Origin", test.origin)
		r.Header.Set("Sec-Fetch-Site", test.site)
		out := httptest.NewRecorder()
		Handler(n).ServeHTTP(out, r)
		drained := len(n.drain) > 0
		if out.Code != test.code || drained != (test.code == 200) {
			t.Errorf("%+v: got %d, drained %t: %s", test, out.Code, drained, out.Body)
		}
		n.drain = make(chan struct{}, 1)
	}
}
