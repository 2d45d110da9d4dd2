package chart

import (
	_ "embed"
	"fmt"
	"strings"
	"time"
)

type System struct {
	Name                 string
	Reads, Writes, Emits []string
	Runs                 int           // 0: not run yet
	Took                 time.Duration // typical time of a run
}

//go:embed frame.css
var frameSheet string

// FrameStyle is the style sheet of [Frame]. It uses variables of [Style]:
// --paper, --grid, --faint, --s0 (waves) and --s1 (flushes).
var FrameStyle = frameSheet + bars()

// bars returns the classes of bars by length in twentieths, for pages whose
// policy forbids inline styles.
func bars() string {
	var b strings.Builder
	for i := range 21 {
		fmt.Fprintf(&b, ".frame .part%d { width: %d%%; }\n", i, 5*i)
	}
	return b.String()
}

// Frame draws a frame of a schedule: waves and flushes from left to right, with the data and
// times of the systems, and below them the reasons. explain is the output of Explain: stages
// are not indented, systems by two spaces, reasons by four.
func Frame(explain string, systems []System) string {
	var stages, reasons strings.Builder
	longest := time.Duration(1)
	for i := range systems {
		longest = max(longest, systems[i].Took)
	}
	open, at := "", ""
	for line := range strings.Lines(explain) {
		line = strings.TrimSuffix(line, "\n")
		text := strings.TrimLeft(line, " ")
		switch indent := len(line) - len(text); {
		case indent == 0:
			stages.WriteString(open)
			open, at = "</li>\n", text
			class := ""
			if text == "flush" {
				class = ` class="flush"`
			}
			fmt.Fprintf(&stages, "<li%s><h3>%s</h3>\n", class, Escape(text))
		case indent == 2:
			at = text
			drawSystem(&stages, text, systems, longest)
		default:
			fmt.Fprintf(&reasons, "<li><b>%s</b> %s</li>\n", Escape(at), Escape(text))
		}
	}
	picture := "<ol class=\"frame\" tabindex=\"0\">\n" + stages.String() + open + "</ol>\n"
	if reasons.Len() == 0 {
		return picture
	}
	return picture + "<ul class=\"reasons\">\n" + reasons.String() + "</ul>\n"
}

func drawSystem(b *strings.Builder, line string, systems []System, longest time.Duration) {
	b.WriteString(`<div class="system">`)
	var y System
	for i := range systems {
		if name := systems[i].Name; name == line || strings.HasPrefix(line, name+" (if") {
			y = systems[i]
		}
	}
	if y.Runs > 0 {
		fmt.Fprintf(b, `<span class="took">%s</span>`, Escape(Nanoseconds.Format(float64(y.Took))))
	}
	fmt.Fprintf(b, "<b>%s</b>", Escape(line))
	if y.Runs > 0 {
		fmt.Fprintf(b, `<span class="track"><span class="bar part%d"></span></span>`, 20*y.Took/longest)
	}
	for _, does := range []struct {
		verb string
		to   []string
	}{{"reads", y.Reads}, {"writes", y.Writes}, {"emits", y.Emits}} {
		if len(does.to) > 0 {
			fmt.Fprintf(b, `<span class="does">%s %s</span>`, does.verb, Escape(strings.Join(does.to, ", ")))
		}
	}
	b.WriteString("</div>\n")
}
