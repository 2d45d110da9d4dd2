package storeweb

import (
	"context"
	"flag"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"handloom/proof/browser"
	"handloom/store"
)

var screenshots = flag.String("screenshots", "", "a folder for pictures of what the browser shows")

type vessel struct {
	Name   string
	X, Y   float32
	Hull   int
	Target store.Handle[vessel]
	Path   []int
	Seen   time.Duration
}

type wreck struct {
	Of    store.Handle[vessel]
	Since uint64
}

// harbour has large figures, long names and several waves.
func harbour(t *testing.T) http.Handler {
	t.Helper()
	s := store.New(store.Options{})
	t.Cleanup(func() { _, _ = s.Close(context.Background()) })
	vessels := store.Register(s, store.TableOptions[vessel]{Name: "vessel", Shards: 4, Clone: func(dst, src *vessel) { *dst = *src }})
	wrecks := store.RegisterStable(s, store.TableOptions[wreck]{Name: "wreck"})
	marks := store.Register(s, store.TableOptions[uint64]{Name: "a_table_of_a_rather_long_name_that_has_no_space_in_it"})
	qs, err := s.Queues(1)
	noError(t, err)
	path := make([]int, 20)
	for i := range 23_456 {
		p := vessels.Emplace(qs[0], vessel{Name: fmt.Sprintf("vessel %d of the fleet", i), X: float32(i) / 7, Y: -float32(i) / 3, Hull: 1000 * i, Path: path[:i%20], Seen: time.Duration(i) * time.Millisecond})
		if i%3 == 0 {
			wrecks.Emplace(qs[0], wreck{Of: p, Since: uint64(i)})
		}
		marks.Emplace(qs[0], 1<<63+uint64(i))
	}
	type on = []store.Resource
	work := func(ctx context.Context) error {
		return s.Each(ctx, 1, func(int, store.Queue) {})
	}
	frame := store.NewSchedule(s,
		store.System{Name: "input", Writes: on{store.Other("keyboard")}, Run: work},
		store.System{Name: "steer", Reads: on{store.Other("keyboard")}, Writes: on{vessels}, Emits: on{wrecks}, Run: func(ctx context.Context) error {
			return vessels.ForEach(ctx, func(c store.Chunk[vessel]) {
				for i := range c.Items {
					c.Items[i].X += float32(math.Sin(float64(c.Items[i].Y)))
				}
			})
		}},
		store.System{Name: "mark", Writes: on{marks}, Run: work},
		store.System{Name: "salvage", Reads: on{wrecks}, Writes: on{vessels}, If: func() bool { return true }, Run: work},
		store.System{Name: "draw", Reads: on{vessels, wrecks, marks}, After: []string{"salvage"}, Run: work},
	)
	for range 5 {
		noError(t, onlyError(frame.Run(t.Context())))
	}
	h := Handler(s, frame).(*handler)
	flushed, begin := s.Flushed(), time.Now().Add(-time.Minute)
	for i := range 55 { // a minute of requests
		flushed = flushed.Clone()
		flushed.Epoch += 60
		flushed.Apply += time.Duration(60 * (200 + 50*math.Sin(float64(i)/4)) * float64(time.Microsecond))
		flushed.Total.Created += 12_000 + 300*(i%7)
		flushed.Total.Erased += 11_500 + 400*(i%5)
		flushed.Total.Put += 40 * i
		h.history.add(begin.Add(time.Duration(i)*time.Second), s.Stats(), flushed)
	}
	last := *s.Flushed()
	last.Epoch -= min(last.Epoch, 1)
	h.history.marks = [2]mark{{begin, &last}, {time.Now().Add(-2 * time.Second), &last}}
	return h
}

// One test, because a browser starts slowly.
func TestPages_AreReadable(t *testing.T) {
	b := browser.Open(t)
	mux := http.NewServeMux()
	mux.Handle("/debug/store/", harbour(t))
	mux.Handle("/debug/store/status", Status("Status of a cell with a rather long name", func() any {
		return struct {
			Leader bool          `json:"leader"`
			ID     string        `json:"leader_id"`
			Tick   uint64        `json:"tick"`
			Age    time.Duration `json:"the_age_of_the_newest_snapshot_ns"`
			Disk   int64         `json:"disk_bytes"`
			Err    string        `json:"append_error,omitempty"`
		}{true, "0123456789abcdef", math.MaxUint64, 100 * time.Hour, 1 << 40, "write /srv/" + strings.Repeat("folder/", 40) + ": no space left on device"}
	}))
	server := httptest.NewServer(mux)
	defer server.Close()
	at := server.URL + "/debug/store/"
	charts := []string{"Commands applied", "Time of a flush, mean"} // the items did not change
	for _, width := range []int{1280, 400} {
		for _, dark := range []bool{false, true} {
			b.Scheme(dark)
			for name, p := range map[string]struct {
				query  string
				charts []string
			}{
				"overview": {"", charts}, "table": {"?table=vessel", nil}, "items": {"?table=vessel&from=20000", nil},
				"values": {"?table=a_table_of_a_rather_long_name_that_has_no_space_in_it&from=0&count=5", nil}, "none": {"?table=none", nil}, "status": {"status", nil},
			} {
				b.Show(at+p.query, width)
				readsWell(t, b, fmt.Sprintf("%s-%d-dark=%t", name, width, dark), width, dark, p.charts)
			}
		}
	}
	walk(t, b, at)
}

// readsWell checks the readability of a page. A flag saves a picture.
func readsWell(t *testing.T, b *browser.Browser, name string, width int, dark bool, charts []string) {
	t.Helper()
	for _, fault := range b.Read().Faults(charts) {
		t.Errorf("%s: %s", name, fault)
	}
	var window int
	b.Eval("innerWidth", &window)
	equal(t, name+": window width", window, width)
	var back string // the policy allows the style sheet
	b.Eval("getComputedStyle(document.body).backgroundColor", &back)
	want := "rgb(243, 243, 241)"
	if dark {
		want = "rgb(19, 20, 22)"
	}
	equal(t, name+": background", back, want)
	var uneven []string // figures with digits of different widths
	b.Eval(`[...document.querySelectorAll("td")].filter(e => !getComputedStyle(e).fontVariantNumeric.includes("tabular-nums")).map(e => e.textContent)`, &uneven)
	failIf(t, len(uneven) > 0, "%s: figures do not line up: %q", name, uneven)
	if *screenshots != "" {
		noError(t, os.WriteFile(filepath.Join(*screenshots, name+".png"), b.Picture(), 0o644))
	}
}

func walk(t *testing.T, b *browser.Browser, at string) {
	t.Helper()
	click := func(text string) {
		b.Until(`document.readyState === "complete"`)
		b.Eval(fmt.Sprintf(`[...document.querySelectorAll("a, button")].find(e => e.textContent === %q).click() ?? true`, text), new(bool))
	}
	b.Show(at, 1280)
	click("wreck")
	b.Until(`document.title.startsWith("Table wreck · ")`)
	click("Show them")
	b.Until(`!!document.querySelector(".pager")?.textContent.includes("Items 1 to 50 of 7,819.")`)
	b.Eval(`document.querySelector("input[name=from]").value = "7800"`, new(string))
	click("Show")
	b.Until(`!!document.querySelector(".pager")?.textContent.includes("Items 7,801 to 7,819 of 7,819.")`)
	click("Previous")
	b.Until(`!!document.querySelector(".pager")?.textContent.includes("Items 7,751 to 7,800 of 7,819.")`)
	click("All tables")
	b.Until(`document.title.startsWith("Store · ")`)
	click("Again every 2 s")
	b.Until(`!!document.body?.textContent.includes("again every 2 s")`)
	var url string
	if b.Eval("location.href", &url); !strings.HasPrefix(url, at+"?") {
		t.Errorf("the walk ends at %s", url)
	}
}
