package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/png"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"handloom/guide/internal/swarm"
	"handloom/proof/browser"
)

var picture = flag.String("picture", "", "a file to write a picture of the playground into")

// acts returns the actions of a person in a tick, here and in the browser.
func acts(tick int) []swarm.Act {
	switch {
	case tick%50 == 7:
		return []swarm.Act{{X: tick, Y: 100}, {X: 300, Y: 200}}
	case tick%50 == 31:
		return []swarm.Act{{Kill: true, X: tick, Y: 120}}
	}
	return nil
}

const actsInBrowser = `tick => tick % 50 === 7 ? [{x: tick, y: 100}, {x: 300, y: 200}] : tick % 50 === 31 ? [{x: tick, y: 120, kill: true}] : []`

// The program reaches the same states in a browser as here, tick by tick.
func TestPlayground_MatchesInABrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles for the browser")
	}
	files, err := build()
	noError(t, err)
	compile := sync.OnceValues(func() (map[string][]byte, error) { return compilePlay(t.Context()) })
	compiled, err := compile() // before a browser starts, which must end within a minute
	noError(t, err)
	t.Logf("play.wasm has %d bytes, %d compressed", len(compiled["play.wasm"]), compressed(t, compiled["play.wasm"]))
	web := httptest.NewServer(handler(files, compile))
	defer web.Close()

	for _, width := range []int{400, 1280} {
		t.Run(fmt.Sprintf("width=%d", width), func(t *testing.T) {
			b := browser.Open(t)
			b.Show(web.URL+"/play.html", width)
			b.Until(`typeof digests !== "undefined" && digests.length > 1`)
			goesBack(t, b)
			staysItself(t, b)
			erasesARow(t, b)
			showsPhases(t, b)
		})
	}
	t.Run("picture", func(t *testing.T) {
		b := openPlayground(t, web.URL)
		enough := 20
		if *picture != "" {
			enough = 90
		}
		b.Until(fmt.Sprintf(`frames > %d`, enough))
		var took struct{ First, Frames float64 }
		b.Eval(`({first: begun, frames: 1000 * frames / (performance.now() - begun)})`, &took)
		t.Logf("first picture after %.0f ms, then %.0f a second", took.First, took.Frames)
		if *picture != "" {
			b.Eval(`document.getElementById("pause").click() || true`, new(bool))
			noError(t, os.WriteFile(*picture, upper(t, b), 0o644))
		}
	})
	t.Run("native", func(t *testing.T) { sameAsHere(t, openPlayground(t, web.URL)) })
}

// openPlayground returns a browser with a running playground.
func openPlayground(t *testing.T, url string) *browser.Browser {
	t.Helper()
	b := browser.Open(t)
	b.Show(url+"/play.html", 1280)
	b.Until(`typeof digests !== "undefined" && digests.length > 1`)
	return b
}

// compressed returns the size of b after compression.
func compressed(t *testing.T, b []byte) int {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(b)
	noError(t, errors.Join(err, w.Close()))
	return out.Len()
}

// upper returns a picture of the page from the top to the digests.
func upper(t *testing.T, b *browser.Browser) []byte {
	t.Helper()
	var box struct{ Left, Right, Bottom int }
	b.Eval(`(() => {
		const main = document.querySelector("main").getBoundingClientRect();
		return {left: Math.floor(main.left), right: Math.ceil(main.right), bottom: Math.ceil(document.getElementById("verdict").getBoundingClientRect().bottom + scrollY)};
	})()`, &box)
	whole, err := png.Decode(bytes.NewReader(b.Picture()))
	noError(t, err)
	part, ok := whole.(interface {
		SubImage(r image.Rectangle) image.Image
	})
	if !ok {
		t.Fatalf("a part of a %T cannot be taken", whole)
	}
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	noError(t, encoder.Encode(&out, part.SubImage(image.Rect(box.Left, 60, box.Right, box.Bottom+12))))
	return out.Bytes()
}

// goesBack drags the slider of time to the beginning.
func goesBack(t *testing.T, b *browser.Browser) {
	t.Helper()
	b.Until(`+document.getElementById("time").value > 3`)
	b.Eval(`(() => {
		const slider = document.getElementById("time");
		slider.value = 2;
		slider.dispatchEvent(new Event("input"));
		return true;
	})()`, new(bool))
	b.Until(`document.getElementById("timeIs").textContent.startsWith("tick 2,") && paused`)
	b.Until(`document.getElementById("verdict").textContent.endsWith("all equal.")`)
}

// staysItself picks a handle by keyboard and kills its mote.
func staysItself(t *testing.T, b *browser.Browser) {
	t.Helper()
	b.Eval(`(() => {
		const choose = kind => document.querySelector("input[value=" + kind + "]").checked = true;
		const plane = document.getElementById("plane");
		const key = key => plane.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
		choose("pick");
		key("Enter");
		const at = ask("look", taken[0]);
		hand = {x: at.x, y: at.y};
		choose("kill");
		key("Enter");
		document.getElementById("pause").click();
		return true;
	})()`, new(bool))
	b.Until(`document.getElementById("handles").textContent.includes("names no item")`)
}

// erasesARow clicks the handle in the first row: another mote takes the row, and the
// handle is stale.
func erasesARow(t *testing.T, b *browser.Browser) {
	t.Helper()
	b.Eval(`(() => {
		document.getElementById("pause").click();
		showRows();
		clicked = document.querySelector("#rows button").textContent;
		document.querySelector("#rows button").click();
		document.getElementById("step").click();
		return true;
	})()`, new(bool))
	b.Until(`document.querySelector("#rows button").textContent !== clicked`)
	b.Until(`document.querySelector("#handles li").textContent.includes(clicked + " is stale") || document.querySelector("#handles li").textContent.includes("names no item")`)
}

// showsPhases plays slowly: the graph and the list mark one phase after another.
func showsPhases(t *testing.T, b *browser.Browser) {
	t.Helper()
	b.Eval(`document.getElementById("slow").click() || true`, new(bool))
	b.Eval(`(() => {
		$("shuffle").value = 42;
		$("shuffle").dispatchEvent(new Event("input"));
		return true;
	})()`, new(bool))
	for _, stage := range []string{"wave 1", "flush", "wave 2"} {
		b.Until(fmt.Sprintf(`document.querySelector("#graph .now h3")?.textContent === %q && document.querySelector("#phases .now")?.textContent.startsWith(%[1]q)`, stage))
	}
	b.Until(`document.getElementById("phase").textContent.includes("gather")`)
	b.Until(`document.getElementById("verdict").textContent.endsWith("all equal.")`)
}

// sameAsHere plays 600 ticks in the browser and here.
func sameAsHere(t *testing.T, b *browser.Browser) {
	t.Helper()
	const motes, ticks = 1000, 600
	h, err := swarm.NewHistory(t.Context(), motes)
	noError(t, err)
	var start struct{ Tick int }
	b.Eval(fmt.Sprintf(`(() => { paused = true; return handloom.start(%d); })()`, motes), &start)
	for h.Now < ticks {
		var there []string
		b.Eval(fmt.Sprintf(`(() => {
			const acts = %s, out = [];
			for (let tick = %d; tick < %d; tick++) {
				const state = handloom.play(1 + tick %% 16, acts(tick));
				out.push(state.one, state.many);
			}
			return out;
		})()`, actsInBrowser, h.Now, h.Now+100), &there)
		noError(t, compare(t.Context(), h, there))
	}
	if h.Motes.Len() == motes {
		t.Error("no mote was born or killed")
	}
}

// compare plays a tick for each pair of digests.
func compare(ctx context.Context, h *swarm.History, there []string) error {
	if len(there) == 0 {
		return errors.New("the browser played no tick")
	}
	for i := 0; i < len(there); i += 2 {
		digest, err := h.Play(ctx, 2, acts(h.Now))
		if here := fmt.Sprintf("%016x", digest); err != nil || here != there[i] || here != there[i+1] {
			return fmt.Errorf("tick %d: %s here, %s in the browser, %v", h.Now, here, strings.Join(there[i:i+2], " and "), err)
		}
	}
	return nil
}
