package site_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"handloom/guide/internal/site"
)

// guide returns the files of a guide.
func guide(pages map[string]string) fstest.MapFS {
	files := make(fstest.MapFS)
	for name, text := range pages {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return files
}

const index = "# All\n\n## First\n\n- [A page](a.md)\n- [Another](b.md)\n"

func TestBuild_LinksPagesLikeACodeHost(t *testing.T) {
	files, err := site.Build(guide(map[string]string{
		"README.md": index,
		"a.md": "# A & `<page>`\n\nSee [b](b.md#what-is-it-said-q), [play](in/play.html) and [a file](../main.go).\n\n" +
			"```go main.go#x\nfunc f() string { return \"<&>\" } // why\n```\n",
		"b.md":           "# Another\n\n## \"What\" is it? said Q.\n\n## \"What\" is it? said Q.\n\n| a | b |\n|---|--:|\n| 1 | `2` |\n",
		"pictures/p.svg": "<svg/>",
		"pictures/p.png": "png",
		"search.txt":     "# names\n\nb.md: other, second\n",
	}), site.Extra{File: "play.html", Title: "Play", Policy: "default-src 'none'", Styles: []string{"p.css"}, Scripts: []string{"p.js"}, Body: "<p>here</p>"})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{
		"a.html": {
			`<title>A &amp; &lt;page&gt; · Handloom</title>`,
			`<a href="b.html#what-is-it-said-q">b</a>, <a href="play.html">play</a> and a file.`,
			`<span class="k">return</span> <span class="s">&#34;&lt;&amp;&gt;&#34;</span> } <span class="c">// why</span>`,
			`<figcaption>main.go</figcaption>`,
			`<a class="extra" href="play.html">`, `<a rel="prev" href="index.html">`, `<a rel="next" href="b.html">`,
			`<a href="a.html" aria-current="page">`,
		},
		"b.html": {`<h2 id="what-is-it-said-q">`, `<h2 id="what-is-it-said-q-1">`, `<div class="scroll" tabindex="0"><table>`, `<td align="right"><code>2</code></td>`},
		"play.html": {
			`<title>Play · Handloom</title>`, `content="default-src &#39;none&#39;"`, `href="page.css"`, `href="p.css"`, `src="search.js"`, `src="p.js"`,
			`<p>here</p>`, `<a class="extra" href="play.html" aria-current="page">`, `<a href="b.html">Another</a>`,
		},
		"index.html":     {`<title>All</title>`, `<a href="a.html">A page</a>`},
		"index.js":       {`"page":"Another","heading":"Another","text":"","names":["other","second"]}`, `{"to":"b.html#what-is-it-said-q-1","page":"Another","heading":"\"What\" is it? said Q.","text":"a b 1 2"}`},
		"pictures/p.svg": {`<svg/>`},
		"pictures/p.png": {`png`},
	} {
		for _, text := range want {
			if !strings.Contains(string(files[name]), text) {
				t.Errorf("%s has no %s:\n%s", name, text, files[name])
			}
		}
	}
}

func TestBuild_RefusesIncompleteGuides(t *testing.T) {
	for want, pages := range map[string]map[string]string{
		"no README.md":                    {"a.md": "# A\n"},
		"README.md does not name b.md":    {"README.md": "# All\n\n## First\n\n- [A](a.md)\n", "a.md": "# A\n", "b.md": "# B\n"},
		"README.md names a.md twice":      {"README.md": "# All\n\n## First\n\n- [A](a.md)\n- [B](a.md)\n", "a.md": "# A\n"},
		"a.md: page has HTML":             {"README.md": index, "a.md": "# A\n\n<script>alert(1)</script>\n", "b.md": "# B\n"},
		"b.md: page has HTML":             {"README.md": index, "a.md": "# A\n", "b.md": "# B\n\nbold <b>x</b>\n"},
		`search.txt:1: got "c.md: x"`:     {"README.md": index, "a.md": "# A\n", "b.md": "# B\n", "search.txt": "c.md: x\n"},
		`search.txt:2: got "a.md#x: y"`:   {"README.md": index, "a.md": "# A\n", "b.md": "# B\n", "search.txt": "\na.md#x: y\n"},
		`search.txt:1: got "a.md:"`:       {"README.md": index, "a.md": "# A\n", "b.md": "# B\n", "search.txt": "a.md: \n"},
		"a.md: page has no first heading": {"README.md": index, "a.md": "text\n", "b.md": "# B\n"},
	} {
		if _, err := site.Build(guide(pages)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
}
