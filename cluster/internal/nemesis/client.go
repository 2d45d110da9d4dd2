package nemesis

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"time"

	"handloom/cluster/internal/localnet"
)

const (
	callTime  = time.Second
	patience  = 2 * callTime // time limit of an answer
	refusedBy = 10 * time.Millisecond
)

// call makes calls, one after another, each with its own key, until ctx ends, and reports them to
// the auditor. After a refusal the next call uses another node.
func (r *run) call(ctx context.Context, client int) {
	random, node := rand.New(rand.NewPCG(r.Seed, uint64(client))), 0
	for key := uint64(client+1)<<40 + 1; ctx.Err() == nil; key++ {
		r.auditor.Asked(key)
		for ctx.Err() == nil {
			refused := r.request(r.Nodes[node], key)
			if refused {
				node = (node + 1) % localnet.Size
				time.Sleep(refusedBy)
			}
			if !refused || random.IntN(8) == 0 {
				break
			}
			r.auditor.Again(key)
		}
	}
}

// request makes a call and reports whether it was refused.
func (r *run) request(n *localnet.Member, key uint64) (refused bool) {
	answer := "no"
	if addr, up := n.Addr(); up {
		answer = ask(addr, key)
	}
	var tick uint64
	switch _, err := fmt.Sscan(strings.TrimPrefix(answer, "ok "), &tick); {
	case err == nil && tick > 0:
		r.auditor.Acked(key, tick)
	case answer == "no":
		r.auditor.Refused(key)
		return true
	case answer != "open":
		r.auditor.Fault("%s answers %q to call %d", n.Name, answer, key)
	}
	return false
}

// ask returns the answer of a node: ok and the tick, no, or open if the outcome is unknown.
func ask(addr string, key uint64) string {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, fmt.Sprintf("http://%s/%d", addr, key), nil)
	if err != nil {
		return err.Error()
	}
	reply, err := http.DefaultClient.Do(request)
	var failed *net.OpError
	if errors.As(err, &failed) && failed.Op == "dial" {
		return "no" // the call has reached no node
	}
	if err != nil {
		return "open"
	}
	defer reply.Body.Close()
	b, err := io.ReadAll(reply.Body)
	if err != nil {
		return "open"
	}
	return string(b)
}
