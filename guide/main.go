// Guide serves the Markdown pages of this folder as a web site with a search.
package main

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"html/template"
	"io"
	"mime"
	"net"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"handloom/guide/internal/site"
	"handloom/internal/chart"
	"handloom/internal/cli"
)

//go:embed *.md pictures search.txt
var pages embed.FS

//go:embed usage.txt
var usage string

const exitBad = 2

func main() { os.Exit(run(cli.Context(), os.Args[1:], os.Stdout, os.Stderr)) }

// run runs the program and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := cli.NewFlags()
	addr := flags.String("addr", "localhost:8040", "")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, usage)
		return 0
	case err == nil && flags.NArg() > 0:
		err = fmt.Errorf("unexpected %q", flags.Arg(0))
		fallthrough
	case err != nil:
		fmt.Fprintf(stderr, "guide: %v; -h lists the flags\n", err)
		return exitBad
	}
	files, err := build()
	if err == nil {
		compile := sync.OnceValues(func() (map[string][]byte, error) { return compilePlay(ctx) })
		err = serve(ctx, *addr, handler(files, compile), stdout)
	}
	if err != nil {
		fmt.Fprintln(stderr, "guide:", err)
		return exitBad
	}
	return cli.Exit(ctx)
}

// build returns the files of the site.
func build() (map[string][]byte, error) {
	page, err := playFiles.ReadFile("playground/play.html")
	if err != nil {
		return nil, err
	}
	files, err := site.Build(pages, site.Extra{
		File: "play.html", Title: "Playground", Policy: playPolicy, Body: template.HTML(page),
		Styles: []string{"frame.css", "play.css"}, Scripts: []string{"wasm_exec.js", "play.js"},
	})
	for _, name := range []string{"play.css", "play.js"} {
		if err == nil {
			files[name], err = playFiles.ReadFile("playground/" + name)
		}
	}
	if err == nil {
		files["frame.css"], files["icon.svg"] = []byte(chart.FrameStyle), chart.Icon
		var index string
		index, err = llms(pages, func(file string) string { return strings.TrimSuffix(file, ".md") + ".html" })
		files["llms.txt"] = []byte(index)
	}
	return files, err
}

// serve shows the site at addr until ctx ends.
func serve(ctx context.Context, addr string, site http.Handler, stdout io.Writer) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "the guide is at http://%s (Ctrl-C ends it)\n", listener.Addr())
	server := &http.Server{Handler: site, ReadHeaderTimeout: 5 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// handler serves the files of the site from memory. The first request for a compiled
// file compiles the playground.
func handler(files map[string][]byte, compile func() (map[string][]byte, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(path.Clean("/"+r.URL.Path), "/")
		if name == "" {
			name = "index.html"
		}
		text, ok := files[name]
		if !ok && slices.Contains(compiledFiles, name) {
			compiled, err := compile()
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			text, ok = compiled[name]
		}
		if !ok {
			http.NotFound(w, r)
			return
		}
		h := w.Header()
		h.Set("Content-Type", contentType(name))
		h.Set("Content-Security-Policy", policyOf(name)+"; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(text))
	})
}

// contentType does not depend on the machine for the types of scripts, pictures and wasm.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".wasm":
		return "application/wasm"
	}
	return mime.TypeByExtension(path.Ext(name))
}
