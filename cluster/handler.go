package cluster

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"handloom/cluster/cells"
	"handloom/internal/check"
	"handloom/internal/localpage"
	"handloom/store"
	"handloom/world"
)

// An outbox is a [cells.Outbox] of any type of messages.
type outbox interface {
	Run(ctx context.Context, w *world.World, t cells.Transport) error
	Pairs() []cells.Pair
	Problems() []error
	Skip(q store.Queue, from CellID, first, last uint64)
	Abandon(q store.Queue, to CellID)
}

//go:embed handler.html
var handlerText string

var handlerPage = template.Must(template.New("page").Parse(handlerText))

// Handler returns a page with the status of a node and its cells, the same as JSON, and the actions
// of an operator, each a POST: handoff, stepdown, export, skip and abandon of a cell, and drain of
// the node. The page has a line of curl for each. An action that fails changes nothing, except that
// the outcome of skip and abandon is open after [store.ErrUncertain].
//
// Serve it on a loopback address: it refuses requests of other machines and other sites, and asks
// nobody for a password. Export keeps the bytes of the state in memory.
func Handler(n *Node) http.Handler {
	check.Given(n != nil, "cluster: Handler", "Node")
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		_ = handlerPage.Execute(w, n.view(r.Context(), r.Host))
	})
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(n.view(r.Context(), r.Host))
	})
	mux.HandleFunc("POST /drain", func(w http.ResponseWriter, _ *http.Request) {
		wake(n.drain)
		fmt.Fprintln(w, "draining: the node hands its cells over, closes them, and ends")
	})
	for name, do := range actions {
		mux.HandleFunc("POST /cells/{cell}/"+name, func(w http.ResponseWriter, r *http.Request) { n.act(w, r, do) })
	}
	guarded := localpage.Guard("localhost", mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if host, _, _ := net.SplitHostPort(r.RemoteAddr); !net.ParseIP(host).IsLoopback() {
			http.Error(w, fmt.Sprintf("request from %s: want one from this machine", r.RemoteAddr), http.StatusForbidden)
			return
		}
		guarded.ServeHTTP(w, r)
	})
}

// awaitDrain returns an error when an operator drains the node.
func (n *Node) awaitDrain(ctx context.Context) error {
	select {
	case <-n.drain:
		return errDrained
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

var (
	errDrained  = errors.New("cluster: Run: an operator drained the node")
	errNotHere  = errors.New("the cell is not on this node")
	errBadInput = errors.New("bad input")
	errNumbers  = errors.New("got other numbers")
	errNoOutbox = errors.New("the cell has no Outbox")
	errNoLeader = errors.New("this node is not connected to the server that leads the stream; try another node")
)

// An action of an operator writes its answer, or nothing for "done". A state is written only once
// it is complete, so nobody takes a part for the whole.
type action func(ctx context.Context, o *openCell, r *http.Request, answer *bytes.Buffer) error

var actions = map[string]action{
	"handoff": func(ctx context.Context, o *openCell, r *http.Request, _ *bytes.Buffer) error {
		return o.world.Handoff(ctx, cmp.Or(r.FormValue("version"), o.World.Version))
	},
	"stepdown": func(ctx context.Context, o *openCell, _ *http.Request, _ *bytes.Buffer) error {
		did, err := o.log.StepDown(ctx)
		if err == nil && !did {
			err = errNoLeader
		}
		return err
	},
	"export": func(ctx context.Context, o *openCell, _ *http.Request, answer *bytes.Buffer) error {
		return o.world.Export(ctx, answer)
	},
	"skip": func(ctx context.Context, o *openCell, r *http.Request, _ *bytes.Buffer) error {
		from, err := cells.ParseID(r.FormValue("from"))
		first, err1 := strconv.ParseUint(r.FormValue("first"), 10, 64)
		last, err2 := strconv.ParseUint(r.FormValue("last"), 10, 64)
		if err = cmp.Or(err, err1, err2); err != nil || first == 0 || last < first {
			return fmt.Errorf("%w: want from=ID and 1 <= first <= last: %w", errBadInput, cmp.Or(err, errNumbers))
		}
		return o.tell(ctx, func(q store.Queue) { o.Outbox.Skip(q, from, first, last) })
	},
	"abandon": func(ctx context.Context, o *openCell, r *http.Request, _ *bytes.Buffer) error {
		to, err := cells.ParseID(r.FormValue("to"))
		if err != nil {
			return fmt.Errorf("%w: want to=ID: %w", errBadInput, err)
		}
		return o.tell(ctx, func(q store.Queue) { o.Outbox.Abandon(q, to) })
	},
}

// tell submits a command of the Outbox and waits until the log has it.
func (o *openCell) tell(ctx context.Context, command func(q store.Queue)) error {
	if o.Outbox == nil {
		return errNoOutbox
	}
	_, err := o.world.Submit(ctx, func(q store.Queue) error { command(q); return nil })
	return err
}

// actionTime is the time limit of an action.
const actionTime = time.Minute

// act carries out an action of a cell of this node.
func (n *Node) act(w http.ResponseWriter, r *http.Request, do action) {
	ctx, cancel := context.WithTimeout(r.Context(), actionTime)
	defer cancel()
	answer := bytes.NewBuffer(nil)
	o, err := n.openedCell(r.PathValue("cell"))
	if err == nil {
		err = do(ctx, o, r, answer)
	}
	switch {
	case err == nil && answer.Len() == 0:
		fmt.Fprintln(w, "done")
	case err == nil:
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(answer.Bytes())
	case errors.Is(err, errBadInput):
		http.Error(w, err.Error(), http.StatusBadRequest)
	case errors.Is(err, errNotHere):
		http.Error(w, err.Error(), http.StatusNotFound)
	default:
		http.Error(w, err.Error(), http.StatusConflict)
	}
}

func (n *Node) openedCell(text string) (*openCell, error) {
	id, err := cells.ParseID(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBadInput, err)
	}
	n.mutex.Lock()
	h, nodes := n.hosted[id], n.placement.assign(n.host.Copies)[id]
	n.mutex.Unlock()
	if h == nil {
		return nil, fmt.Errorf("cell %v: %w; its nodes: %q", id, errNotHere, nodes)
	}
	o, err := h.opened()
	if err != nil {
		return nil, fmt.Errorf("cell %v is not open: %w", id, err)
	}
	return o, nil
}

// A nodeView is a NodeStatus for operators.
type nodeView struct {
	Page     string     `json:"page"` // address
	Node     string     `json:"node"`
	Nodes    []string   `json:"nodes"`
	Problems []string   `json:"problems"`
	Cells    []cellView `json:"cells"`
}

type cellView struct {
	Cell  string       `json:"cell"`
	Nodes []string     `json:"nodes"`
	Error string       `json:"error"`
	World world.Status `json:"world"`
	Mail  []string     `json:"mail"` // problems, and dead letters
	Pairs []pairView   `json:"pairs"`
}

type pairView struct {
	Cell     string `json:"cell"`
	Sent     uint64 `json:"sent"`
	Acked    uint64 `json:"acked"`
	Received uint64 `json:"received"`
	Error    string `json:"error"`
}

// pairsTime limits the wait for a tick that ends.
const pairsTime = time.Second

func (n *Node) view(ctx context.Context, page string) nodeView {
	s := n.Status()
	all := nodeView{Page: page, Node: n.host.Name, Nodes: s.Nodes, Problems: s.Problems}
	for _, c := range s.Cells {
		cell := cellView{Cell: c.Cell.String(), Nodes: c.Nodes, Error: c.Err, World: c.World}
		if o, err := n.openedCell(cell.Cell); err == nil && o.Outbox != nil {
			cell.addMail(ctx, o)
		}
		all.Cells = append(all.Cells, cell)
	}
	return all
}

func (c *cellView) addMail(ctx context.Context, o *openCell) {
	for _, err := range o.Outbox.Problems() {
		c.Mail = append(c.Mail, err.Error())
	}
	for _, t := range o.Store.Stats() {
		if strings.HasSuffix(t.Name, " dead letters") && t.Live > 0 { // of cells.Outbox.DeadLetters
			c.Mail = append(c.Mail, fmt.Sprintf("table %q: rows: %d: repair the program whose ticks these messages failed, and erase the rows", t.Name, t.Live))
		}
	}
	ctx, cancel := context.WithTimeout(ctx, pairsTime)
	defer cancel()
	_ = o.world.Read(ctx, func(context.Context, world.Tick) error {
		for _, p := range o.Outbox.Pairs() {
			pair := pairView{Cell: p.Cell.String(), Sent: p.Sent, Acked: p.Acked, Received: p.Received}
			if p.Err != nil {
				pair.Error = p.Err.Error()
			}
			c.Pairs = append(c.Pairs, pair)
		}
		return nil
	})
}
