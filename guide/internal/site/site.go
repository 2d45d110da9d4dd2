// Package site renders the Markdown pages of the guide as a folder of web files that load
// nothing from other hosts.
package site

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Policy is the Content-Security-Policy of every page: own files, no inline code.
const Policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'"

// Index is the page that lists all others in reading order.
const Index = "README.md"

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS []byte
	//go:embed find.js
	findJS []byte
	//go:embed search.js
	searchJS []byte
	//go:embed copy.js
	copyJS []byte

	frame = template.Must(template.New("page").Parse(pageHTML))
)

// Extra is a page without Markdown source. All others link to it.
type Extra struct {
	File, Title     string
	Policy          string // replaces Policy
	Styles, Scripts []string
	Body            template.HTML
}

// Build returns the files of the site by name, except its icon, icon.svg. pages has Markdown,
// pictures and the names of sections.
func Build(pages fs.FS, extras ...Extra) (map[string][]byte, error) {
	g, err := Read(pages)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{"page.css": pageCSS, "find.js": findJS, "search.js": searchJS, "copy.js": copyJS}
	for _, name := range g.Pictures {
		if files[name], err = fs.ReadFile(pages, name); err != nil {
			return nil, err
		}
	}
	if files["index.js"], err = g.searchIndex(); err != nil {
		return nil, err
	}
	for i := range g.Pages {
		if files[target(g.Pages[i].File)], err = g.render(i, extras); err != nil {
			return nil, err
		}
	}
	for _, e := range extras {
		if files[e.File], err = g.frame(&e, extras).execute(); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// Guide has the parsed pages.
type Guide struct {
	Pages    []*Page // in the order of the index, which is first
	Pictures []string
	Chapters []Chapter
}

// Chapter is a heading of the index with its pages.
type Chapter struct {
	Title string
	Pages []*Page
}

// Read reads the pages. It fails if the index does not name each page once.
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
		return nil, fmt.Errorf("no %s", Index)
	}
	g := &Guide{Pages: []*Page{index}}
	if g.Pictures, err = fs.Glob(pages, "pictures/*"); err != nil {
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
		if n := len(g.Chapters); n == 0 || g.Chapters[n-1].Title != l.Under {
			g.Chapters = append(g.Chapters, Chapter{Title: l.Under})
		}
		chapter := &g.Chapters[len(g.Chapters)-1]
		chapter.Pages = append(chapter.Pages, p)
	}
	for _, file := range files {
		if !slices.Contains(g.Pages, byFile[file]) {
			return nil, fmt.Errorf("%s does not name %s", Index, file)
		}
	}
	return g, g.readNames(pages, byFile)
}

// target returns the site's file for a page.
func target(file string) string {
	if file == Index {
		return "index.html"
	}
	return strings.TrimSuffix(file, path.Ext(file)) + ".html"
}

// framed is the data of page.html.
type framed struct {
	Extra
	Home, Prev, Next *link
	Extras           []link
	Chapters         []chapter
}

type link struct {
	Href, Title string
	Here        bool
}

// chapter is a heading of the list of pages with its pages.
type chapter struct {
	Title string
	Pages []link
}

func (f *framed) execute() ([]byte, error) {
	var b bytes.Buffer
	err := frame.Execute(&b, f)
	return b.Bytes(), err
}

// render returns the i-th page as HTML.
func (g *Guide) render(i int, extras []Extra) ([]byte, error) {
	p := g.Pages[i]
	body, err := p.html()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.File, err)
	}
	f := g.frame(&Extra{File: target(p.File), Title: p.Title, Policy: Policy, Body: template.HTML(body)}, extras)
	if i > 0 {
		f.Prev = f.to(target(g.Pages[i-1].File), g.Pages[i-1].Title)
	}
	if i+1 < len(g.Pages) {
		f.Next = f.to(target(g.Pages[i+1].File), g.Pages[i+1].Title)
	}
	return f.execute()
}

// frame returns the data around a page.
func (g *Guide) frame(e *Extra, extras []Extra) *framed {
	f := &framed{Extra: *e}
	f.Styles = append([]string{"page.css"}, e.Styles...)
	f.Scripts = append([]string{"index.js", "find.js", "search.js", "copy.js"}, e.Scripts...)
	f.Home = f.to(target(Index), g.Pages[0].Title)
	for _, e := range extras {
		f.Extras = append(f.Extras, *f.to(e.File, e.Title))
	}
	for _, from := range g.Chapters {
		to := chapter{Title: from.Title}
		for _, p := range from.Pages {
			to.Pages = append(to.Pages, *f.to(target(p.File), p.Title))
		}
		f.Chapters = append(f.Chapters, to)
	}
	return f
}

// to returns a link to a page.
func (f *framed) to(file, title string) *link { return &link{file, title, file == f.File} }
