package browser_test

import (
	"strings"
	"testing"

	"handloom/proof/browser"
)

const bad = `data:text/html,<h1>wide</h1><p style="width:2000px">beyond</p><p style="color:rgb(150,150,150)">pale</p>
<svg width="100" height="40"><title>a</title><text x="5" y="20">one</text><text x="8" y="20">two</text><text x="90" y="20">leaves</text><text x="5" y="38" font-size="6">low</text></svg>`

const good = `data:text/html,<p>fine</p><div class="scroll" style="overflow-x:auto"><table style="width:3000px"><tr><td style="padding-left:2900px">far</td></tr></table></div>
<svg width="200" height="40"><title>a</title><text x="5" y="20">one</text><text x="80" y="20">two</text></svg>`

func TestReading_FindsEveryFault(t *testing.T) {
	b := browser.Open(t)
	b.Show(bad, 400)
	faults := strings.Join(b.Read().Faults([]string{"a", "b"}), "\n")
	for _, want := range []string{"wide in a window", `want ["a" "b"]`, "two and one", `"leaves"`, `"beyond"`, `pale: ["pale"]`, "the lowest text is"} {
		if !strings.Contains(faults, want) {
			t.Errorf("the faults do not say %q:\n%s", want, faults)
		}
	}
	b.Show(good, 400)
	if faults := b.Read().Faults([]string{"a"}); len(faults) > 0 {
		t.Errorf("a good page has faults: %q", faults)
	}
}

func TestPicture_IsPNG(t *testing.T) {
	b := browser.Open(t)
	b.Show(good, 400)
	if picture := b.Picture(); !strings.HasPrefix(string(picture), "\x89PNG") {
		t.Errorf("a picture of %d bytes is no PNG", len(picture))
	}
}
