package browser

import (
	_ "embed"
	"fmt"
	"slices"
)

// Reading is what a page looks like to somebody who reads it.
type Reading struct {
	Window, Content int      // widths
	Charts          []string // titles of the drawings that are visible
	Texts           []string // in them
	Smallest        float64  // height of the lowest of these, in pixels
	Overlaps        []string // texts of one drawing that cover one another
	Pale            []string // texts whose contrast with what is behind them is below 4.5 (WCAG AA)
	Outside         []string // texts that leave their drawing, or the window unless they can be scrolled to
}

//go:embed reading.js
var read string

// Read reads the page that is shown.
func (b *Browser) Read() Reading {
	b.t.Helper()
	var r Reading
	b.Eval(read, &r)
	return r
}

// lowest is the height of a line of text that is still easy to read.
const lowest = 11

// Faults returns what is wrong with the page, charts in the order in which they
// should be seen.
func (r Reading) Faults(charts []string) (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if r.Content > r.Window {
		fault("the page is %d wide in a window of %d", r.Content, r.Window)
	}
	if !slices.Equal(r.Charts, charts) {
		fault("the charts are %q; want %q", r.Charts, charts)
	}
	if len(r.Overlaps) > 0 {
		fault("texts overlap: %q", r.Overlaps)
	}
	if len(r.Pale) > 0 {
		fault("texts are pale: %q", r.Pale)
	}
	if len(r.Outside) > 0 {
		fault("texts leave their place: %q", r.Outside)
	}
	if len(r.Texts) > 0 && r.Smallest < lowest {
		fault("the lowest text is %.1f pixels", r.Smallest)
	}
	return faults
}
