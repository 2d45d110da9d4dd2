package chart

import (
	_ "embed"
	"fmt"
	"strings"
	"time"
)

// System is a system of a schedule, as [Frame] draws it.
type System struct {
	Name                 string
	Reads, Writes, Emits []string
	Runs                 int           // 0: it has not run
	Took                 time.Duration // a run, as a rule
}

//go:embed frame.css
var frameSheet string

// FrameStyle is the style sheet of [Frame]. It takes its colours from variables of
// [Style]: --paper, --grid, --faint, --s0 for waves and --s1 for flushes.
var FrameStyle = frameSheet + bars()

// bars are the classes of bars by their length in twentieths, for pages whose policy
// allows no style but a sheet's.
func bars() string {
	var b strings.Builder
	for i := range 21 {
		fmt.Fprintf(&b, ".frame .part%d { width: %d%%; }\n", i, 5*i)
	}
	return b.String()
}

// Frame draws what a schedule does in a frame, as a list: waves and flushes in their
// order, and in each wave its systems, with what they touch and how long they took.
// explain is what the schedule says of itself: a stage is not indented, a system is by
// two spaces, and a reason by four.
func Frame(explain string, systems []System) string {
	var b strings.Builder
	longest := time.Duration(1)
	for i := range systems {
		longest = max(longest, systems[i].Took)
	}
	open := ""
	for line := range strings.Lines(explain) {
		line = strings.TrimSuffix(line, "\n")
		text := strings.TrimLeft(line, " ")
		switch indent := len(line) - len(text); {
		case indent == 0:
			b.WriteString(open)
			open = "</li>\n"
			class := ""
			if text == "flush" {
				class = ` class="flush"`
			}
			fmt.Fprintf(&b, "<li%s><h3>%s</h3>\n", class, escape(text))
		case indent == 2:
			drawSystem(&b, text, systems, longest)
		default:
			fmt.Fprintf(&b, "<span class=\"why\">%s</span>\n", escape(text))
		}
	}
	return "<ol class=\"frame\">\n" + b.String() + open + "</ol>\n"
}

// drawSystem draws the system that a line names, perhaps with its condition behind.
func drawSystem(b *strings.Builder, line string, systems []System, longest time.Duration) {
	b.WriteString(`<div class="system">`)
	var y System
	for i := range systems {
		if name := systems[i].Name; name == line || strings.HasPrefix(line, name+" (if") {
			y = systems[i]
		}
	}
	if y.Runs > 0 {
		fmt.Fprintf(b, `<span class="took">%s</span>`, escape(Nanoseconds.Format(float64(y.Took))))
	}
	fmt.Fprintf(b, "<b>%s</b>", escape(line))
	if y.Runs > 0 {
		fmt.Fprintf(b, `<span class="track"><span class="bar part%d"></span></span>`, 20*y.Took/longest)
	}
	for _, does := range []struct {
		verb string
		to   []string
	}{{"reads", y.Reads}, {"writes", y.Writes}, {"emits", y.Emits}} {
		if len(does.to) > 0 {
			fmt.Fprintf(b, `<span class="does">%s %s</span>`, does.verb, escape(strings.Join(does.to, ", ")))
		}
	}
	b.WriteString("</div>\n")
}
