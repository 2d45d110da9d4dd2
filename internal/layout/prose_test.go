package layout

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A habit is a construction that the standard library hardly ever uses.
type habit struct {
	name    string
	find    *regexp.Regexp
	instead string
}

var re = regexp.MustCompile

// innocent are uses of the same words in plain English. They are removed from a
// sentence before the search.
var innocent = re(`(?i)\b(?:(?:lag|fall|leave)(?:s|ging|ing)?|fell|fallen|left) behind\b|\bbehind the scenes\b|\bbehind (?:an? |the )?(?:\w+ )?(?:lock|mutex|proxy|proxies|flag|firewall|interface|barrier|build tag|prox\w+|NAT)\b` +
	`|\bthere (?:is|are|was|were) no\b|\b(?:is|are|was|were) no (?:longer|more|less|greater|later|earlier|larger|smaller|bigger|need|way|such|different|guarantee)\b` +
	`|\bcom(?:e|es|ing) to (?:the|a) (?:conclusion|halt|stop|end)\b|\btells? apart\b|^Likewise,|\bof what (?:is|we)\b|\bwhat pointers\b|\bon those of the underlying\b`)

var habits = []habit{
	{"behind", re(`(?i)\bbehind\b`), `"after" (time), "past" or "following" (position)`},
	{"opener", re(`^(?:What|Who|Whoever|Whose|Whatever|Where)\b[^?]*$|^(?:what|whoever|where) \w+[^?]*$`), "a noun as the subject"},
	{"relative", re(`(?i)\b(?:to|for|from|of|by|than|with|on|in|at|over|until|like) (?:who|whoever)\b|\b(?:for|from|of|by|with|until|like) what\b|\bwhoever\b`), "the caller, the data, the value: a noun"},
	{"noun clause", re(`(?i)\b(?:returns|returned|reports|is|are|was|and|or|has|holds|keeps|takes|gives|drops|changes|counts|lists|finds|shows) what\b|\b(?:returns|is|are) how\b`), `"the number of", "the values that": a noun`},
	{"headless", re(`(?i)\b(?:the ones? (?:before|after|behind|that|of)|those of|that of|those that|those who|another one|the other ones?|of such)\b|, (?:or of|of which)\b`), "repeat the noun"},
	{"genitive", re(`(?i)\b(?:is|are|was|were|be) (?:those )?of (?:it|that|one|another|others|them|these|its own|no|none)\b`), `"belongs to", or a possessive`},
	{"inversion", re(`^(?:Of|of) (?:the|an?|two|three|several|those|these|them|such|what|which|whom|all|each|its|one|calls|items)\b`), "subject first; a field's comment begins with a noun"},
	{"comes to", re(`(?i)\bcom(?:e|es|ing) to (?:the same|an?|no|so|these|it|them|what|other|another|states|nothing)\b|\b(?:came|come|comes|becomes?|became|becoming) of\b`), `"results in", "is"`},
	{"told", re(`(?i)\btold\b|\btells? (?:of|what|why|where|whether|how|who|which|before|when|so|it|them|apart|that)\b`), `"reports", "returns", "logs"`},
	{"beside", re(`(?i)\bbeside\b`), `"next to", "compared with", "companion"`},
	{"old words", re(`(?i)\b(?:anew|likewise|for ever|in vain|thereby)\b`), `"again", "also", "forever", "without effect"`},
	{"negated noun", re(`(?i)\b(?:is|are|was|were|be) (?:no|none) (?:\w+)\b`), `"is not a"`},
	{"but for", re(`(?i)\bbut for (?:the|an?|its|their|that|those|one|each|any|what)\b|\bbut what\b`), `"except"`},
	{"open question", re(`(?i)\b(?:is|are|leaves?|left|was|stays?) open (?:whether|what|which|if|who|how)\b`), `"unknown", "unspecified"`},
	{"and so", re(`(?i)(?:^|, |\band )so (?:do|does|did|is|are|was|were|with|has|have) (?:an?|the|it|they|what|all|those|its|each|[A-Z]\w*)\b`), `"X also does"`},
	{"what there is", re(`(?i)\b(?:all|what|that|everything|whatever|one|none) (?:that )?there (?:is|are|was|were)\b`), "name it"},
	{"goes on", re(`(?i)\b(?:goes|go|going|went|gone) on\b`), `"continues"`},
	{"stands", re(`(?i)\b(?:stands?|stood) (?:still|for|at|there|in)\b|\blies? apart\b`), `"stops", "is", "means"`},
	{"says what", re(`(?i)\bsa(?:y|ys|id|ying) (?:what|who|whether|which|so|how|why|where|nothing|no)\b`), `"returns", "describes", "reports"`},
	{"for it is", re(`, for (?:it|they|there|that|this|an?|no|what|its|each) (?:\w+ )?(?:is|are|has|have|would|may|can|was|were)\b`), `"because"`},
	{"mostly", re(`(?i)\b(?:which|that|they|it) mostly (?:is|are)\b|\bis one\b[.;,]?$|\bat most, or\b`), "say the value"},
	{"a turn", re(`(?i)\b(?:takes?|has|have|took|taking|had) (?:the|a|its|their) turns?\b|\btakes? turns\b`), `"holds the lock"`},
	{"neither verb", re(`(?i)\b(?:does|do|did) (?:so )?(?:likewise|nothing of)\b|\bhas none\b|\bhave none\b|\bhad none\b`), "say the value"},
}

// habitsOf returns the names of the habits in a sentence.
func habitsOf(text string) (names []string) {
	text = innocent.ReplaceAllString(text, "")
	for _, h := range habits {
		if h.find.MatchString(text) {
			names = append(names, h.name)
		}
	}
	return names
}

var (
	sentenceEnd = re(`[.;?!](?:["')\]]*)(?:\s+|$)`)
	listItem    = re(`^\s*(?:[-*+]|\d+\.)\s+`)
	code        = re("`[^`]*`")
	link        = re(`\]\([^)]*\)`)
	directive   = re(`^//(?:go:|nolint|line |export |\s*Output:|\s*Deprecated:|#)`)
)

// A sentence is also a list item or the text of an error.
type sentence struct {
	file string
	line int
	text string
}

// A reader collects the sentences of one file.
type reader struct {
	file      string
	found     []sentence
	paragraph string
	start     int // line of the paragraph
}

// add adds a line to the paragraph. A list item begins a paragraph.
func (r *reader) add(line int, text string) {
	if listItem.MatchString(text) {
		r.end()
		text = listItem.ReplaceAllString(text, "")
	}
	if r.paragraph == "" {
		r.start = line
	}
	r.paragraph += " " + text
}

// end splits the paragraph into sentences of at least four words.
func (r *reader) end() {
	text := r.paragraph
	r.paragraph = ""
	if strings.HasSuffix(r.file, ".md") {
		text = link.ReplaceAllString(code.ReplaceAllString(text, "X"), "]")
	}
	for text = strings.Join(strings.Fields(text), " "); text != ""; {
		n := len(text)
		if at := sentenceEnd.FindStringIndex(text); at != nil {
			n = at[1]
		}
		if s := strings.TrimSpace(text[:n]); strings.Count(s, " ") >= 3 {
			r.found = append(r.found, sentence{r.file, r.start, s})
		}
		text = text[n:]
	}
}

// page reads Markdown without code, tables and headings.
func (r *reader) page(text string) {
	fenced := false
	for i, l := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(l)
		fence := strings.HasPrefix(trimmed, "```")
		if fence {
			fenced = !fenced
		}
		if fence || fenced || trimmed == "" || strings.ContainsAny(trimmed[:1], "|#<") || strings.HasPrefix(l, "    ") && r.paragraph == "" {
			r.end()
			continue
		}
		r.add(i+1, l)
	}
	r.end()
}

// comments reads comments without directives and indented code.
func (r *reader) comments(fset *token.FileSet, f *ast.File) {
	for _, group := range f.Comments {
		for _, c := range group.List {
			text := strings.TrimPrefix(c.Text, "//")
			if block, is := strings.CutPrefix(c.Text, "/*"); is {
				text = strings.TrimSuffix(block, "*/")
			}
			for i, l := range strings.Split(text, "\n") {
				indented := strings.HasPrefix(l, "\t") || strings.HasPrefix(l, "   ") && !listItem.MatchString(l) && r.paragraph == ""
				if directive.MatchString(c.Text) || strings.TrimSpace(l) == "" || indented {
					r.end()
					continue
				}
				r.add(fset.Position(c.Pos()).Line+i, l)
			}
		}
		r.end()
	}
}

// errorTexts reads the literals in the first argument of errors.New, fmt.Errorf
// and panic.
func (r *reader) errorTexts(fset *token.FileSet, f *ast.File) {
	ast.Inspect(f, func(n ast.Node) bool {
		call, is := n.(*ast.CallExpr)
		if !is || len(call.Args) == 0 || !slices.Contains([]string{"errors.New", "fmt.Errorf", "panic"}, types.ExprString(call.Fun)) {
			return true
		}
		text := ""
		ast.Inspect(call.Args[0], func(n ast.Node) bool {
			if lit, is := n.(*ast.BasicLit); is && lit.Kind == token.STRING {
				s, _ := strconv.Unquote(lit.Value)
				text += s
			}
			return true
		})
		if len(strings.Fields(text)) >= 3 {
			r.found = append(r.found, sentence{r.file, fset.Position(call.Pos()).Line, text})
		}
		return true
	})
}

// sentences returns the sentences of a page or Go file that is not generated.
func sentences(t *testing.T, path, text string) []sentence {
	t.Helper()
	r := reader{file: path}
	if strings.HasSuffix(path, ".md") {
		r.page(text)
		return r.found
	}
	if fset, f := parse(t, path, text); !ast.IsGenerated(f) {
		r.comments(fset, f)
		r.errorTexts(fset, f)
	}
	return r.found
}

func (s sentence) String() string {
	return fmt.Sprintf("%s:%d [%s] %s", s.file, s.line, strings.Join(habitsOf(s.text), ", "), s.text)
}
