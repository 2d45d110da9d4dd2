package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"handloom/guide/internal/site"
)

// llms returns the index of the pages for language models, in the form of llmstxt.org:
// for each page its note in the index, or its first sentence. link returns the address of
// a page.
func llms(pages fs.FS, link func(file string) string) (string, error) {
	g, err := site.Read(pages)
	if err != nil {
		return "", err
	}
	index, err := fs.ReadFile(pages, site.Index)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Handloom\n\n> %s\n", abstract(string(index)))
	for _, c := range g.Chapters {
		fmt.Fprintf(&b, "\n## %s\n\n", c.Title)
		for _, p := range c.Pages {
			text, err := fs.ReadFile(pages, p.File)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&b, "- [%s](%s)", p.Title, link(p.File))
			_, note, _ := strings.Cut(string(index), "("+p.File+"): ")
			note, _, _ = strings.Cut(note, "\n")
			if about := cmp.Or(note, abstract(string(text))); about != "" {
				fmt.Fprintf(&b, ": %s", about)
			}
			b.WriteByte('\n')
		}
	}
	return b.String(), nil
}

var (
	firstParagraph = regexp.MustCompile(`(?m)\A# .*\n\n((?:[A-Za-z*]|` + "`[^`]" + `).*\n(?:.+\n)*)`)
	firstSentence  = regexp.MustCompile(`\A.*?\.\*{0,2}(?: |\z)`)
	markdownLink   = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

// abstract returns the first sentence below the title of a page, or "" if a list, table,
// picture or code is first.
func abstract(page string) string {
	m := firstParagraph.FindStringSubmatch(page)
	if m == nil {
		return ""
	}
	text := markdownLink.ReplaceAllString(strings.Join(strings.Fields(m[1]), " "), "$1")
	if s := firstSentence.FindString(text); s != "" {
		text = s
	}
	return strings.TrimRight(strings.NewReplacer("**", "", "*", "").Replace(text), ".: ") + "."
}
