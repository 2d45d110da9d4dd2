package site

import (
	"bytes"
	"fmt"
	"path"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Page is a page of the guide.
type Page struct {
	File     string
	Title    string // its first heading
	Links    []Link
	Sections []Section
	Blocks   []Block

	source []byte
	root   ast.Node
}

// Link is a link of a page, or a picture.
type Link struct {
	To, Anchor string // the parts before and after #
	Under      string // the second-level heading above
}

// Section is a heading with the text up to the next heading.
type Section struct {
	ID, Heading string
	Text        string
	Names       []string // other words for it, for the search
}

// Block is a block of code.
type Block struct{ Language, Text string }

var markdown = goldmark.New(
	goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))), // the policy forbids styles
	goldmark.WithParserOptions(parser.WithAutoHeadingID()),
	goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(blocks{}, 100))),
)

// Parse reads a page. HTML in a page is an error, because the site would drop it.
func Parse(file string, source []byte) (*Page, error) {
	ctx := parser.NewContext(parser.WithIDs(make(anchors)))
	p := &Page{File: file, source: source, root: markdown.Parser().Parse(text.NewReader(source), parser.WithContext(ctx))}
	under := ""
	err := ast.Walk(p.root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			heading := words(n, source)
			if n.Level <= 2 {
				under = heading
			}
			if n.Level == 1 {
				p.Title, under = heading, ""
			}
			id, _ := n.AttributeString("id")
			p.Sections = append(p.Sections, Section{ID: string(id.([]byte)), Heading: heading})
		case *ast.Link:
			to, anchor, _ := strings.Cut(string(n.Destination), "#")
			p.Links = append(p.Links, Link{to, anchor, under})
			n.Destination = []byte(linkTarget(to, anchor))
		case *ast.Image:
			p.Links = append(p.Links, Link{To: string(n.Destination), Under: under})
		case *ast.FencedCodeBlock:
			p.Blocks = append(p.Blocks, Block{string(n.Language(source)), string(n.Lines().Value(source))})
		case *ast.HTMLBlock, *ast.RawHTML:
			return ast.WalkStop, fmt.Errorf("page has HTML")
		}
		return ast.WalkContinue, nil
	})
	if err == nil && p.Title == "" {
		err = fmt.Errorf("page has no first heading")
	}
	p.fillSections()
	return p, err
}

// fillSections gives each section the words below its heading.
func (p *Page) fillSections() {
	at := -1
	for n := p.root.FirstChild(); n != nil; n = n.NextSibling() {
		if _, heading := n.(*ast.Heading); heading {
			at++
			continue
		}
		if at >= 0 {
			s := &p.Sections[at]
			s.Text = strings.TrimSpace(s.Text + " " + words(n, p.source))
		}
	}
}

// linkTarget returns the address of a link on the site. The site has the pages of folders, too.
func linkTarget(to, anchor string) string {
	switch {
	case strings.HasSuffix(to, ".md") && !strings.Contains(to, "/"):
		to = target(to)
	case strings.HasSuffix(to, ".html"):
		to = path.Base(to)
	}
	if anchor != "" {
		to += "#" + anchor
	}
	return to
}

// words returns the text of a node, with single spaces.
func words(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				b.Write(n.Segment.Value(source))
				if n.SoftLineBreak() || n.HardLineBreak() {
					b.WriteByte(' ')
				}
			}
		case *ast.FencedCodeBlock:
			if entering {
				b.Write(n.Lines().Value(source))
			}
		default:
			if n.Type() == ast.TypeBlock {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(b.String()), " ")
}

func (p *Page) html() (string, error) {
	var b bytes.Buffer
	err := markdown.Renderer().Render(&b, p.source, p.root)
	return b.String(), err
}

// anchors names headings like code hosts: lower case, words joined by hyphens, only
// letters, digits, hyphens and underscores; the second of equal names ends in -1.
type anchors map[string]int

// Generate returns the name of a heading.
func (a anchors) Generate(heading []byte, _ ast.NodeKind) []byte {
	var b strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(string(heading))) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			b.WriteRune(r)
		}
	}
	id := b.String()
	n := a[id]
	a[id]++
	if n > 0 {
		id = fmt.Sprintf("%s-%d", id, n)
	}
	return []byte(id)
}

// Put reserves a name.
func (a anchors) Put(id []byte) { a[string(id)]++ }
