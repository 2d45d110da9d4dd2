package history

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"handloom/internal/cli"
	"handloom/internal/localpage"
)

// serve shows the ticks of a folder as pages until ctx ends.
func (c *command) serve(ctx context.Context, args []string) (exit int, err error) {
	flags := cli.NewFlags()
	address, other := flags.String("addr", "127.0.0.1:0", ""), flags.Bool("any", false, "")
	words, err := parse(flags, args, "DIR")
	if err != nil {
		return 0, err
	}
	return c.with(ctx, words[0], c.game, *other, func(h *History) (exit int, err error) {
		var config net.ListenConfig
		l, err := config.Listen(ctx, "tcp", *address)
		if err != nil {
			return 0, fmt.Errorf("-addr: %w", err)
		}
		fmt.Fprintf(c.stdout, "http://%v shows %s until an interrupt\n", l.Addr(), words[0])
		return 0, newPage(h, filepath.Base(words[0])).serve(ctx, l, *address)
	})
}

// maxStop limits the time for answers after the end.
const maxStop = 5 * time.Second

// serve answers requests until ctx ends, which also ends the requests.
func (p *page) serve(ctx context.Context, l net.Listener, address string) error {
	server := &http.Server{
		Handler: p.handler(address), ReadHeaderTimeout: maxStop,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxStop)
		defer cancel()
		if server.Shutdown(stop) != nil {
			_ = server.Close()
		}
		err = <-ended
	}
	p.queue <- struct{}{} // no request uses the History any longer
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// handler answers requests of this machine that read.
func (p *page) handler(address string) http.Handler {
	return localpage.Guard(address, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, r.Method+" is not allowed; these pages change nothing", http.StatusMethodNotAllowed)
			return
		}
		p.ServeHTTP(w, r)
	}))
}
