package history

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
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
		return 0, newPage(h, filepath.Base(words[0])).serve(ctx, l, *address)
	})
}

// maxStop limits the time for answers after the end.
const maxStop = 5 * time.Second

// serve answers requests until ctx ends, which also ends the requests.
func (p *page) serve(ctx context.Context, l net.Listener, address string) error {
	server := &http.Server{
		Handler: onlyHere(address, p), ReadHeaderTimeout: maxStop,
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

// policy allows the files of the page and forms to it, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// onlyHere refuses requests for another host name than address has, because a site may let its name
// point to this machine, and requests that pages of other sites make.
func onlyHere(address string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head := w.Header()
		head.Set("Cache-Control", "no-store")
		head.Set("Content-Security-Policy", policy)
		head.Set("Cross-Origin-Resource-Policy", "same-origin")
		head.Set("Referrer-Policy", "no-referrer")
		head.Set("X-Content-Type-Options", "nosniff")
		host, site := hostOf(r.Host), r.Header.Get("Sec-Fetch-Site")
		switch {
		case host != hostOf(address) && host != "localhost" && net.ParseIP(host) == nil:
			http.Error(w, fmt.Sprintf("host: got %q, want the address of the page", r.Host), http.StatusForbidden)
		case site != "" && site != "same-origin" && site != "none":
			http.Error(w, fmt.Sprintf("request from another site: got Sec-Fetch-Site %q, want same-origin", site), http.StatusForbidden)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			head.Set("Allow", "GET, HEAD")
			http.Error(w, r.Method+" is not allowed; these pages change nothing", http.StatusMethodNotAllowed)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return strings.Trim(address, "[]")
}
