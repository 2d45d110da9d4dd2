package history

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"handloom/internal/cli"
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
		return 0, newPage(h).serve(ctx, l, *address)
	})
}

// serve answers requests until ctx ends, which also ends the requests.
func (p *page) serve(ctx context.Context, l net.Listener, address string) error {
	server := &http.Server{
		Handler: p.handler(address), ReadHeaderTimeout: 5 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	// Not Shutdown, which waits for clients: ctx ends the requests, each after the tick that it plays.
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	err := server.Serve(l)
	p.queue <- struct{}{} // no request uses the History any longer
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
