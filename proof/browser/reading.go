package browser

import (
	_ "embed"
	"fmt"
	"slices"
)

// Reading describes the visible content of a page.
type Reading struct {
	Window, Content int // widths in pixels
	Charts          []string
	Texts           []string
	Smallest        float64 // height of the smallest chart text, in pixels
	Overlaps        []string
	Pale            []string // texts with a contrast below 4.5 (WCAG AA)
	Outside         []string // texts that leave their chart, or leave the window without a scrollbar
}

//go:embed reading.js
var read string

// Read measures the page as it is now.
func (b *Browser) Read() Reading {
	b.t.Helper()
	var r Reading
	b.Eval(read, &r)
	return r
}

// lowest is the smallest readable line height, in pixels.
const lowest = 11

// Faults returns the faults of the page. charts are the titles of its charts,
// in order.
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
