package chart_test

import (
	"testing"

	"handloom/internal/chart"
)

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
