package history_test

import (
	"context"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"handloom/history"
	"handloom/proof/browser"
)

var screenshots = flag.String("screenshots", "", "a folder for pictures of what the browser shows")

// One test, because a browser starts slowly.
func TestPage_InBrowser(t *testing.T) {
	b := browser.Open(t)
	r := inArena(t, "put", 100)
	h := mustOpen(t, r)
	server := httptest.NewServer(history.PageHandler(h, time.Second))
	defer server.Close()
	lanes := []string{"Ticks 0 to 100", "Check broken", "Check rules", "Check teams"}
	pages := map[string]string{
		"tick": "?tick=60", "table": "?tick=60&table=bullet", "item": "?tick=60&item=1:1.1", "cause": "?tick=90&item=1:1.1&field=Team&last=1",
		"found": "?check=teams", "unborn": "?tick=5&item=3:400.1", "unkept": "?tick=500", "unknown": "?tick=60&item=9:9.9", "wrong": "?tick=x",
	}
	for _, view := range []struct {
		name   string
		width  int
		script bool
	}{{"wide", 1280, true}, {"narrow", 400, true}, {"wide-plain", 1280, false}, {"narrow-plain", 400, false}} {
		b.Script(view.script)
		for name, query := range pages {
			if !view.script && name != "tick" && name != "item" {
				continue
			}
			b.Show(server.URL+"/"+query, view.width)
			want := lanes
			if name == "unkept" || name == "wrong" {
				want = lanes[:1] // no state, no checks
			}
			for _, scheme := range []string{"light", "dark"} {
				b.Scheme(scheme == "dark")
				for _, fault := range b.Read().Faults(want) {
					t.Errorf("%s, %s, %s: %s", name, view.name, scheme, fault)
				}
				if *screenshots != "" {
					file := fmt.Sprintf("%s-%s-%s.png", name, view.name, scheme)
					noError(t, os.WriteFile(filepath.Join(*screenshots, file), b.Picture(false), 0o644))
				}
			}
		}
	}
	b.Script(true)
	slides(t, b, server.URL, bornLate(t, h, r))
	types(t, b, server.URL)
	follows(t, b, server.URL)
}

// bornLate returns a bullet that is created in tick 60.
func bornLate(t *testing.T, h *history.History, r *recording) string {
	t.Helper()
	alive := func(tick uint64) (all []string) {
		s, _, err := h.Seek(t.Context(), tick)
		noError(t, err)
		for id := range s.DumpTable("bullet", 0) {
			all = append(all, id.String())
		}
		return all
	}
	before := alive(r.tick - 1)
	for _, id := range alive(r.tick) {
		if !slices.Contains(before, id) {
			return id
		}
	}
	t.Fatal("no bullet is created in the tick")
	return ""
}

// slides moves the slider over the birth of an item, and back, without a reload.
func slides(t *testing.T, b *browser.Browser, url, item string) {
	b.Show(url+"/?tick=60&item="+item, 1280)
	b.Eval(`(window.same = 1, window.faults = [], addEventListener("error", e => faults.push(e.message)), console.error = e => faults.push(String(e)), true)`, new(bool))
	is := func(tick int, says string) {
		t.Helper()
		b.Until(fmt.Sprintf(`document.getElementById("state").dataset.tick === "%d" && document.getElementById("tick").value === "%d" &&
			document.getElementById("state").innerText.includes(%q) && location.search.includes("tick=%d&") !== location.search.endsWith("tick=%d")`, tick, tick, says, tick, tick))
	}
	slide := func(tick int) {
		b.Eval(fmt.Sprintf(`(() => {
			const slider = document.getElementById("slider");
			slider.value = %d;
			return slider.dispatchEvent(new Event("input"));
		})()`, tick), new(bool))
	}
	is(60, "Created in this tick.")
	slide(59)
	is(59, "Does not exist after tick 59.")
	slide(61)
	is(61, "bullet "+item)
	b.Eval(`document.getElementById("previous").click() ?? true`, new(bool))
	is(60, "Created in this tick.")
	for tick := range 100 { // faster than the answers
		slide(tick)
	}
	slide(62)
	is(62, "bullet "+item)
	b.Eval(`document.getElementById("play").click() ?? true`, new(bool))
	b.Until(`+document.getElementById("state").dataset.tick > 64`)
	b.Eval(`document.getElementById("play").click() ?? true`, new(bool))
	var same int
	b.Eval("window.same ?? 0", &same)
	if same != 1 {
		t.Error("the page was loaded again")
	}
	var faults []string
	b.Eval("faults", &faults)
	if len(faults) > 0 {
		t.Errorf("errors of the script: %q", faults)
	}
}

// types uses the form of the tick, and the keys of the slider.
func types(t *testing.T, b *browser.Browser, url string) {
	b.Show(url+"/?tick=60&table=fighter", 400)
	b.Eval(`(document.getElementById("tick").value = "42", document.querySelector("nav button").click(), true)`, new(bool))
	b.Until(`document.title.startsWith("Table fighter, tick 42 ")`)
	var reachable []string
	b.Eval(`[...document.querySelectorAll("header a, header input:not([type=hidden]), header button, summary")].filter(e => e.tabIndex < 0).map(e => e.outerHTML)`, &reachable)
	if len(reachable) > 0 {
		t.Errorf("not reachable by keyboard: %q", reachable)
	}
	b.Eval(`(document.getElementById("next").focus(), document.activeElement.click(), true)`, new(bool))
	b.Until(`document.getElementById("state").dataset.tick === "43" && document.activeElement.id === "next"`)
}

// follows walks by links and forms only, as without script.
func follows(t *testing.T, b *browser.Browser, url string) {
	click := func(selector string) {
		t.Helper()
		b.Until(fmt.Sprintf("document.readyState === 'complete' && !!document.querySelector(%q)", selector))
		b.Eval(fmt.Sprintf("document.querySelector(%q).click() ?? true", selector), new(bool))
	}
	b.Script(false)
	defer b.Script(true)
	b.Show(url, 1280)
	b.Until(`!document.documentElement.classList.contains("script") && getComputedStyle(document.querySelector(".plain")).display !== "none"`)
	click("form:has(input[value=teams]) button")
	b.Until(`!!document.querySelector(".found")?.innerText.includes("fails after tick 60 for the first time")`)
	click(`a[href*="field=Team"]`)
	b.Until(`!!document.querySelector(".cause")?.innerText.includes("system \"mend\"")`)
	b.Eval(`(document.getElementById("slider").value = 20, document.querySelector(".plain").click(), true)`, new(bool))
	b.Until(`document.title.includes("tick 20 ")`)
	click("#previous")
	b.Until(`document.title.includes("tick 19 ")`)
}

func mustOpen(t testing.TB, r *recording) *history.History {
	t.Helper()
	h, err := history.Open(context.Background(), r.dir, r.game(), history.Options{})
	noError(t, err)
	t.Cleanup(func() { noError(t, h.Close()) })
	return h
}
