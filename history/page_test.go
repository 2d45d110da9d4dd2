package history

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"handloom/store/storeweb"
	"handloom/world"
)

// get returns the answer to a request for an address such as http://127.0.0.1/60.
func get(h http.Handler, method, address string) (int, string, http.Header) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, address, nil))
	return w.Code, w.Body.String(), w.Header()
}

func openPage(t *testing.T, m *match) (*History, http.Handler) {
	t.Helper()
	h := mustOpen(t, m.dir, m.game(), Options{})
	return h, newPage(h).handler("127.0.0.1:0")
}

// Tabs that ask at the same time have the items of their ticks.
func TestPage_ShowsItemsOfTheTick(t *testing.T) {
	const query = "?table=fighter&from=0&format=json"
	itemsOf := func(json string) string { return json[strings.Index(json, `"items":`)+1:] } // all, without items
	h, page := openPage(t, inArena(t, "put", 70))
	want := map[uint64]string{}
	for _, tick := range []uint64{60, 59, 70, 3, 58, 0, 61} {
		s, _, err := h.Seek(t.Context(), tick)
		noError(t, err)
		_, json, _ := get(storeweb.Handler(s), "GET", "/"+query)
		want[tick] = itemsOf(json)
	}
	var tabs sync.WaitGroup
	for tick, want := range want {
		for range 3 {
			tabs.Go(func() {
				status, json, _ := get(page, "GET", fmt.Sprintf("http://127.0.0.1/%d%s", tick, query))
				if status != 200 || json[0] != '{' || itemsOf(json) != want {
					t.Errorf("tick %d: got status %d and %s, want %s", tick, status, json, want)
				}
			})
		}
	}
	tabs.Wait()
}

func TestPage_Answers(t *testing.T) {
	good, failed, two := inArena(t, "put", 70), inArena(t, "panic", 70), handedOver(t)
	for _, c := range []struct {
		from            *match
		method, address string
		status          int
		location        string
		want            []string
	}{
		{good, "GET", "/70", 200, "", []string{"<h1>Store of ", `name="tick" value="70"`, `<a href="/69">Previous`, "ticks 0 to 70: version &#34;arena 1&#34;"}},
		{good, "GET", "/60?table=fighter&from=0", 200, "", []string{">1,000</td>", `<a href="/61?from=0&amp;table=fighter">Next`, `<form action="/"><input type="hidden" name="from" value="0"><input type="hidden" name="table" value="fighter">`}},
		{good, "GET", "/60?table=none", 404, "", []string{"no table is called none", `name="tick" value="60"`}},
		{good, "GET", "/60?item=1:1.1", 400, "", []string{"unknown parameters", `name="tick" value="60"`}},
		{good, "GET", "/500", 404, "", []string{"tick 500: the tick is not kept, nearest 70", "ticks 0 to 70"}},
		{good, "GET", "/%3Cb%3E", 400, "", []string{"tick: got &#34;&lt;b&gt;&#34;, want a whole number", "ticks 0 to 70"}},
		{failed, "GET", "/60", 500, "", []string{"tick 60 ", "the roof falls in", `<a href="/59">Previous`}},
		{two, "GET", "/20", 404, "", []string{"got &#34;arena 1&#34;, want &#34;arena 2&#34;", "needs -any"}},
		{two, "GET", "/", 303, "/60", nil},
		{good, "GET", "/?tick=+3+&table=fighter", 303, "/3?table=fighter", nil},
		{good, "GET", "/?tick=/evil.example", 303, "/%2Fevil.example", nil},
		{good, "HEAD", "/3", 200, "", nil},
		{good, "POST", "/3", 405, "", nil},
		{good, "GET", "http://evil.example/3", 403, "", nil},
	} {
		if c.address[0] == '/' {
			c.address = "http://127.0.0.1" + c.address
		}
		_, page := openPage(t, c.from)
		status, body, head := get(page, c.method, c.address)
		if status != c.status || head.Get("Location") != c.location || head.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s %s: got %d %v, want %d %q", c.method, c.address, status, head, c.status, c.location)
		}
		for _, want := range c.want {
			if !strings.Contains(body, want) {
				t.Errorf("%s: got %s, want %q", c.address, body, want)
			}
		}
	}
}

// The end also ends a seek, after the tick that it plays.
func TestServe_EndsWithItsContext(t *testing.T) {
	m := inArena(t, "put", 70)
	reached, resume, armed := make(chan struct{}), make(chan struct{}), make(chan bool, 1)
	held := beforeTicks(m.game(), func(at world.Tick) {
		if len(armed) > 0 && at.Number == 40 {
			close(reached)
			<-resume
		}
	})
	ctx, end := context.WithCancel(t.Context())
	out, in := io.Pipe()
	exit := make(chan int, 1)
	go func() { exit <- run(ctx, held, []string{"serve", m.dir}, in, io.Discard) }()
	line, err := bufio.NewReader(out).ReadString('\n')
	noError(t, err)
	address, _, _ := strings.Cut(line, " ")
	if body := fetch(address + "/?tick=30&table=fighter"); !strings.Contains(body, "<h1>fighter</h1>") {
		t.Errorf("got %s", body)
	}
	armed <- true
	var last sync.WaitGroup
	last.Go(func() { fetch(address + "/60") })
	<-reached
	end()
	last.Wait()
	if len(exit) > 0 {
		t.Error("serve ends while a tick plays")
	}
	close(resume)
	if got := <-exit; got != 0 {
		t.Errorf("got exit code %d, want 0", got)
	}
	http.DefaultClient.CloseIdleConnections()
}

// fetch returns the body of an answer, or the error.
func fetch(address string) string {
	answer, err := http.Get(address)
	if err != nil {
		return err.Error()
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(answer.Body)
	return string(body)
}
