package site

import (
	"fmt"
	"go/scanner"
	"go/token"
	"html"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	extensions "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// blocks renders code, headings, links and tables. Tables and code may be wider than a
// telephone and scroll on their own.
type blocks struct{}

// RegisterFuncs registers the renderers of blocks.
func (blocks) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindFencedCodeBlock, renderCode)
	r.Register(ast.KindHeading, renderHeading)
	r.Register(ast.KindLink, renderLink)
	r.Register(extensions.KindTable, renderTable)
}

// option matches an option of a command, whose hyphen would end a line otherwise.
var option = regexp.MustCompile(`(^|\s)(-\S+)`)

func renderCode(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	b := n.(*ast.FencedCodeBlock)
	text := string(b.Lines().Value(source))
	shown := html.EscapeString(text)
	from, class := "", "code"
	language, file := info(b, source)
	switch language {
	case "text", "sh": // lines of words, which may wrap
		class, shown = "code words", option.ReplaceAllString(shown, `$1<span class="o">$2</span>`)
		if strings.Contains(text, "─") || file != "" && !strings.HasSuffix(file, ".go") { // a drawing or columns, which may not wrap
			class, from = "code", file
		}
	case "go":
		shown, from = colored(text), file
	}
	fmt.Fprintf(w, "<figure class=\"%s\"><pre tabindex=\"0\"><code>%s</code></pre>", class, shown)
	if from != "" {
		fmt.Fprintf(w, "<figcaption>%s</figcaption>", html.EscapeString(from))
	}
	_, err := w.WriteString("</figure>\n")
	return ast.WalkSkipChildren, err
}

// info returns the language and the source file of a block.
func info(b *ast.FencedCodeBlock, source []byte) (language, file string) {
	if b.Info == nil {
		return "", ""
	}
	language, file, _ = strings.Cut(string(b.Info.Segment.Value(source)), " ")
	file, _, _ = strings.Cut(file, "#")
	return language, file
}

// renderHeading renders a heading that links to itself.
func renderHeading(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	h := n.(*ast.Heading)
	id, _ := h.AttributeString("id")
	if entering {
		fmt.Fprintf(w, "<h%d id=\"%s\">", h.Level, id)
		return ast.WalkContinue, nil
	}
	if h.Level > 1 {
		fmt.Fprintf(w, " <a class=\"anchor\" href=\"#%s\" aria-label=\"link to this section\">#</a>", id)
	}
	fmt.Fprintf(w, "</h%d>\n", h.Level)
	return ast.WalkContinue, nil
}

// renderLink renders a link to a page. For a link to a file of the repository, which the
// site does not have, it renders only the text.
func renderLink(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	to := n.(*ast.Link).Destination
	if strings.HasPrefix(string(to), "../") {
		return ast.WalkContinue, nil
	}
	part := "</a>"
	if entering {
		part = "<a href=\"" + string(util.EscapeHTML(util.URLEscape(to, true))) + "\">"
	}
	_, err := w.WriteString(part)
	return ast.WalkContinue, err
}

func renderTable(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	part := "</table></div>\n"
	if entering {
		part = "<div class=\"scroll\" tabindex=\"0\"><table>\n"
	}
	_, err := w.WriteString(part)
	return ast.WalkContinue, err
}

// colored returns Go code as HTML with classes for keywords, comments and strings.
func colored(text string) string {
	var s scanner.Scanner
	set := token.NewFileSet()
	file := set.AddFile("", -1, len(text))
	s.Init(file, []byte(text), func(token.Position, string) {}, scanner.ScanComments)
	var b strings.Builder
	done := 0
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			break
		}
		var class string
		switch {
		case tok == token.COMMENT:
			class = "c"
		case tok == token.STRING || tok == token.CHAR:
			class = "s"
		case tok.IsKeyword():
			class = "k"
		default:
			continue
		}
		at := file.Offset(pos)
		fmt.Fprintf(&b, "%s<span class=\"%s\">%s</span>", html.EscapeString(text[done:at]), class, html.EscapeString(lit))
		done = at + len(lit)
	}
	return b.String() + html.EscapeString(text[done:])
}
