// Package site makes web pages of the guide: of Markdown that reads well by itself, as
// a code host shows it, a folder of files that need nothing from outside.
package site

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Policy is the Content-Security-Policy of every page: its own files, and nothing in
// a line of the page itself.
const Policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'"

// Index is the page that lists all others, in the order in which they are read.
const Index = "README.md"

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS []byte
	//go:embed search.js
	searchJS []byte

	frame = template.Must(template.New("page").Parse(pageHTML))
)

// Build returns the files of the site by name. pages holds the guide: Markdown and
// the pictures that it shows. play says that there is a page play.html to link to.
func Build(pages fs.FS, play bool) (map[string][]byte, error) {
	g, err := Read(pages)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{"page.css": pageCSS, "search.js": searchJS}
	for _, name := range g.Pictures {
		if files[name], err = fs.ReadFile(pages, name); err != nil {
			return nil, err
		}
	}
	if files["index.js"], err = g.searchIndex(); err != nil {
		return nil, err
	}
	for i := range g.Pages {
		if files[target(g.Pages[i].File)], err = g.render(i, play); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// Guide is the pages as they were read.
type Guide struct {
	Pages    []*Page // in the order of the index, which is the first
	Pictures []string
	Parts    []Part
}

// Part is a heading of the index and the pages below it.
type Part struct {
	Title string
	Pages []*Page
}

// Read reads the pages. It fails when the index does not name each of them once.
func Read(pages fs.FS) (*Guide, error) {
	files, err := fs.Glob(pages, "*.md")
	if err != nil {
		return nil, err
	}
	byFile := make(map[string]*Page)
	for _, file := range files {
		text, err := fs.ReadFile(pages, file)
		if err != nil {
			return nil, err
		}
		if byFile[file], err = Parse(file, text); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	index := byFile[Index]
	if index == nil {
		return nil, fmt.Errorf("there is no %s", Index)
	}
	g := &Guide{Pages: []*Page{index}}
	if g.Pictures, err = fs.Glob(pages, "pictures/*.svg"); err != nil {
		return nil, err
	}
	for _, l := range index.Links {
		p := byFile[l.To]
		if p == nil || l.Under == "" {
			continue
		}
		if slices.Contains(g.Pages, p) {
			return nil, fmt.Errorf("%s names %s twice", Index, l.To)
		}
		g.Pages = append(g.Pages, p)
		if n := len(g.Parts); n == 0 || g.Parts[n-1].Title != l.Under {
			g.Parts = append(g.Parts, Part{Title: l.Under})
		}
		part := &g.Parts[len(g.Parts)-1]
		part.Pages = append(part.Pages, p)
	}
	for _, file := range files {
		if !slices.Contains(g.Pages, byFile[file]) {
			return nil, fmt.Errorf("%s does not name %s", Index, file)
		}
	}
	return g, nil
}

// target is the file of the site that shows a page.
func target(file string) string {
	if file == Index {
		return "index.html"
	}
	return strings.TrimSuffix(file, path.Ext(file)) + ".html"
}

// render returns the i-th page as HTML.
func (g *Guide) render(i int, play bool) ([]byte, error) {
	p := g.Pages[i]
	body, err := p.html()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.File, err)
	}
	type link struct {
		Href, Title string
		Here        bool
	}
	type part struct {
		Title string
		Pages []link
	}
	linkTo := func(to *Page) *link { return &link{target(to.File), to.Title, to == p} }
	data := struct {
		Policy     string
		Title      string
		Body       template.HTML
		Home       *link
		Parts      []part
		Prev, Next *link
		Play       bool
	}{Play: play, Policy: Policy, Title: p.Title, Body: template.HTML(body), Home: linkTo(g.Pages[0])}
	for _, from := range g.Parts {
		to := part{Title: from.Title}
		for _, p := range from.Pages {
			to.Pages = append(to.Pages, *linkTo(p))
		}
		data.Parts = append(data.Parts, to)
	}
	if i > 0 {
		data.Prev = linkTo(g.Pages[i-1])
	}
	if i+1 < len(g.Pages) {
		data.Next = linkTo(g.Pages[i+1])
	}
	var b bytes.Buffer
	err = frame.Execute(&b, data)
	return b.Bytes(), err
}

// entry is what the search knows of a section.
type entry struct {
	To      string `json:"to"`
	Page    string `json:"page"`
	Heading string `json:"heading"`
	Text    string `json:"text"`
}

// searchIndex returns a script that holds the text of every section.
func (g *Guide) searchIndex() ([]byte, error) {
	var all []entry
	for _, p := range g.Pages[1:] {
		for _, s := range p.Sections {
			all = append(all, entry{target(p.File) + "#" + s.ID, p.Title, cmp.Or(s.Heading, p.Title), s.Text})
		}
	}
	list, err := json.Marshal(all)
	return slices.Concat([]byte("const sections = "), list, []byte(";\n")), err
}
