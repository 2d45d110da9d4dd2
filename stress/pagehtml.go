package main

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"slices"

	"handloom/internal/chart"
	"handloom/internal/report"
)

// html is the text of a page. Package html/template would compile regexp, net/url and
// encoding/json into the first command of a new user.
type html struct{ bytes.Buffer }

// add appends a format whose values are texts, and escapes them.
func (h *html) add(format string, texts ...string) {
	escaped := make([]any, len(texts))
	for i, text := range texts {
		escaped[i] = chart.Escape(text)
	}
	fmt.Fprintf(h, format, escaped...)
}

// optional is add for a text that may be missing.
func (h *html) optional(format, text string) {
	if text != "" {
		h.add(format, text)
	}
}

const pageHead = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
`

func renderPage(out io.Writer, r runPage) error {
	h := new(html)
	h.WriteString(pageHead)
	h.add("<title>%s</title>\n<style>", r.Title)
	h.WriteString(chart.Style + pageCSS)
	h.add("</style>\n</head>\n<body>\n<main id=\"page\">\n<header>\n<h1>%s</h1>\n", r.Title)
	h.add("<p class=\"verdict %s\">%s</p>\n", pageMood(r.ExitCode), r.Verdict)
	n := len(r.points)
	if n > 0 {
		done := int(r.points[n-1].Y)
		h.add("<p class=\"says\">%s %s in %s, %s.</p>\n", report.Count(done), r.Unit, report.Duration(r.Elapsed), report.Rate(done, r.Elapsed))
	}
	h.add("<p class=\"label\">Run it again</p>\n<pre class=\"command\">%s</pre>\n<dl>\n", r.Command)
	for _, f := range slices.Concat(r.Facts, r.machine()) {
		h.add("<div><dt>%s</dt><dd>%s</dd></div>\n", f.Name, f.Value)
	}
	h.WriteString("</dl>\n</header>\n")
	h.totals(r.Totals)
	h.failures(r.Failures)
	if n > 0 {
		h.WriteString("<section class=\"charts\">\n" + chart.Figure(r.speed()) + "</section>\n")
	}
	h.WriteString("</main>\n</body>\n</html>\n")
	_, err := h.WriteTo(out)
	return err
}

func (r *runPage) machine() []fact {
	return []fact{
		{"time", report.Duration(r.Elapsed)},
		{"Go", runtime.Version()},
		{"platform", runtime.GOOS + "/" + runtime.GOARCH},
		{"GOMAXPROCS", fmt.Sprint(runtime.GOMAXPROCS(0))},
	}
}

func (h *html) totals(totals []fact) {
	if len(totals) == 0 {
		return
	}
	h.WriteString("<section>\n<h2>Totals</h2>\n<table class=\"facts\">\n")
	for _, f := range totals {
		h.add("<tr><th scope=\"row\">%s</th><td>%s</td></tr>\n", f.Name, f.Value)
	}
	h.WriteString("</table>\n</section>\n")
}

func (h *html) failures(failures []pageFailure) {
	if len(failures) == 0 {
		return
	}
	h.WriteString("<section>\n<h2>Failures</h2>\n")
	for _, f := range failures {
		h.add("<div class=\"failure\">\n<p>%s</p>\n", f.What)
		h.optional("<pre class=\"command\">%s</pre>\n", f.Replay)
		h.optional("<pre>%s</pre>\n", f.Detail)
		h.WriteString("</div>\n")
	}
	h.WriteString("</section>\n")
}
