package browser_test

import (
	"strings"
	"testing"

	"handloom/proof/browser"
)

func TestPicture_IsPNG(t *testing.T) {
	b := browser.Open(t)
	b.Show("data:text/html,<p>fine</p>", 400)
	if picture := b.Picture(); !strings.HasPrefix(string(picture), "\x89PNG") {
		t.Errorf("a picture of %d bytes is no PNG", len(picture))
	}
}
