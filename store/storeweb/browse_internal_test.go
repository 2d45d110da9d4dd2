package storeweb

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"handloom/proof/browser"
	"handloom/store"
)

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
func TestPages_LeadToEachOther(t *testing.T) {
	b := browser.Open(t)
	server := httptest.NewServer(harbour(t))
	defer server.Close()
	at := server.URL + "/debug/store/"
	for _, query := range []string{"", "?table=vessel", "?table=vessel&from=20000", "?table=none"} {
		b.Show(at+query, 400)
		var wide bool
		if b.Eval(`document.documentElement.scrollWidth > innerWidth`, &wide); wide {
			t.Errorf("%q: the page is wider than a telephone", query)
		}
	}
	walk(t, b, at)
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
