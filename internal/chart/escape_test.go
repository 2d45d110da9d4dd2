package chart_test

import (
	"encoding/xml"
	"strings"
	"testing"

	"handloom/internal/chart"
)

func TestChart_EscapesText(t *testing.T) {
	const evil = "</svg><script>\"'&\x1b\x00\xff\uffff"
	axis := chart.Axis{Title: evil}
	for _, c := range []chart.Chart{
		chart.Lines{Title: evil, X: axis, Y: axis, Series: []chart.Series{{Name: evil}, {Name: evil, Points: []chart.Point{{X: 1, Y: 2}, {X: 3, Y: 4}}}}},
		chart.Bars{Title: evil, Note: evil, X: axis, Series: []string{evil, evil}, Groups: []chart.Group{{evil, []chart.Value{{At: 1}, {At: 2}}}}},
	} {
		svg := c.Draw()
		if err := xml.Unmarshal([]byte(svg), new(struct{})); err != nil {
			t.Error(err)
		}
		if strings.Contains(svg, "<script") || strings.ContainsAny(svg, "\x1b\x00\uffff") || strings.Count(svg, "</svg>") != 1 {
			t.Errorf("something came through:\n%s", svg)
		}
		if strings.Count(svg, "&lt;/svg&gt;&lt;script&gt;") < 4 {
			t.Errorf("texts are missing:\n%s", svg)
		}
	}
}

func TestFrame_ShowsSystemsByStage(t *testing.T) {
	const explain = "wave 1\n  a\n  b <i> (if its condition holds)\nflush\n    c reads <t>, which a emits\nwave 2\n  c\n    reads <t>, which a emits\n"
	systems := []chart.System{
		{Name: "a", Emits: []string{"<t>", "u"}, Runs: 3, Took: 2_000_000},
		{Name: "b <i>"},
		{Name: "c", Reads: []string{"<t>"}, Writes: []string{"w"}, Runs: 1, Took: 1_000_000},
	}
	const want = `<ol class="frame" tabindex="0">
<li><h3>wave 1</h3>
<div class="system"><span class="took">2 ms</span><b>a</b><span class="track"><span class="bar part20"></span></span><span class="does">emits &lt;t&gt;, u</span></div>
<div class="system"><b>b &lt;i&gt; (if its condition holds)</b></div>
</li>
<li class="flush"><h3>flush</h3>
</li>
<li><h3>wave 2</h3>
<div class="system"><span class="took">1 ms</span><b>c</b><span class="track"><span class="bar part10"></span></span><span class="does">reads &lt;t&gt;</span><span class="does">writes w</span></div>
</li>
</ol>
<ul class="reasons">
<li><b>flush</b> c reads &lt;t&gt;, which a emits</li>
<li><b>c</b> reads &lt;t&gt;, which a emits</li>
</ul>
`
	if got := chart.Frame(explain, systems); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
