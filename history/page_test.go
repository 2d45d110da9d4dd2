package history_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"handloom/history"
	"handloom/store"
	"handloom/world"
)

// An element is a part of a page.
type element struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Text     string     `xml:",chardata"`
	Children []element  `xml:",any"`
}

func (e *element) attr(name string) string {
	i := slices.IndexFunc(e.Attrs, func(a xml.Attr) bool { return a.Name.Local == name })
	if i < 0 {
		return ""
	}
	return e.Attrs[i].Value
}

// all returns the elements with a name, or with a class if name is "." and the class.
func (e *element) all(name string) (found []*element) {
	class, isClass := strings.CutPrefix(name, ".")
	if e.XMLName.Local == name || isClass && slices.Contains(strings.Fields(e.attr("class")), class) {
		found = append(found, e)
	}
	for i := range e.Children {
		found = append(found, e.Children[i].all(name)...)
	}
	return found
}

// text returns the text of e, and then the texts of its children.
func (e *element) text() string {
	parts := strings.Fields(e.Text)
	for i := range e.Children {
		parts = append(parts, strings.Fields(e.Children[i].text())...)
	}
	return strings.Join(parts, " ")
}

// ask returns the status and the parsed page of a query.
func ask(t *testing.T, h http.Handler, query string) (int, *element) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/"+query, nil)
	r.Host = "127.0.0.1"
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code, parsePage(t, query, w.Body)
}

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func parsePage(t *testing.T, query string, body io.Reader) *element {
	t.Helper()
	d := xml.NewDecoder(body)
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	var root element
	if err := d.Decode(&root); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return &root
}

// items returns the texts of items after a tick: encodings of the item and its components.
func items(t *testing.T, h *history.History, tick uint64, table string) map[string]string {
	t.Helper()
	s, _, err := h.Seek(t.Context(), tick)
	noError(t, err)
	all := map[string]string{}
	for id, item := range s.DumpTable(table, 0) {
		texts := []string{fmt.Sprintf("%+v", item)}
		for name, element := range s.DumpColumns(id) {
			texts = append(texts, name, fmt.Sprintf("%+v", reflect.ValueOf(element).Elem()))
		}
		all[id.String()] = strings.Join(texts, " ")
	}
	return all
}

// Each number of a page equals the API's.
func TestPage_TickEqualsAPI(t *testing.T) {
	if testing.Short() {
		t.Skip("plays one tick after another")
	}
	for _, r := range []*recording{inArena(t, "put", 70), record(t, fault{name: "two calls", calls: 2}, "arena"), record(t, fault{name: "unset"}, "colony")} {
		page, api := history.PageHandler(mustOpen(t, r), time.Hour), mustOpen(t, r)
		for _, tick := range []uint64{1, 7, faultTick - 1, r.tick} {
			status, root := ask(t, page, fmt.Sprintf("?tick=%d", tick))
			s, at, err := api.Seek(t.Context(), tick)
			noError(t, err)
			equal(t, "status", status, 200)
			equal(t, "time", root.all("time")[0].text(), at.Time.UTC().Format("2006-01-02 15:04:05.000 MST"))
			tables := root.all("section")
			rows := tables[len(tables)-1].all("tr")[1:]
			sum := make([]int, 3)
			for i, stats := range s.Stats().Tables {
				before, after := items(t, api, tick-1, stats.Name), items(t, api, tick, stats.Name)
				want := make([]int, 3)
				for id, text := range after {
					switch had, lived := before[id]; {
					case !lived:
						want[0]++
					case had != text:
						want[1]++
					}
					delete(before, id)
				}
				want[2] = len(before)
				equal(t, fmt.Sprintf("%s: tick %d", r.name, tick), rows[i].text(), fmt.Sprint(stats.Name, " ", len(after), " ", want[0], " ", want[1], " ", want[2]))
				for k := range sum {
					sum[k] += want[k]
				}
			}
			calls := "0 calls"
			if tick == r.tick && r.name == "two calls" {
				calls = "2 calls"
				script := root.all("pre")[0].text()
				begin := fmt.Sprintf("tick %d seed %#x time %s call put fighter %v {Team: ", tick, at.Seed, at.Time.UTC().Format(time.RFC3339Nano), r.item)
				equal(t, script, strings.HasPrefix(script, begin) && strings.Count(script, "call put fighter") == 2, true)
			}
			equal(t, "says", root.all(".says")[0].text(), fmt.Sprintf("The tick had %s and created %d, changed %d and erased %d items.", calls, sum[0], sum[1], sum[2]))
			for _, form := range root.all(".checks") {
				found, err := api.First(t.Context(), "rules", tick, tick)
				noError(t, err)
				equal(t, "check holds", strings.Contains(form.text(), "holds ✓ rules"), found.Err == nil)
			}
		}
	}
}

func newColonyGame(workers int, p plant) planted { return newColony(workers, p) }

// The items of a table, 100 a page, are the items of the store, with the changes of the tick.
func TestPage_TableEqualsAPI(t *testing.T) {
	r := inArena(t, "put", 70)
	page, api := history.PageHandler(mustOpen(t, r), time.Hour), mustOpen(t, r)
	before := items(t, api, 59, "bullet")
	var shown []string
	_, root := ask(t, page, "?tick=60&table=bullet")
	for _, row := range root.all("tr")[1:] {
		id := row.all("a")[0].text()
		shown = append(shown, id)
		_, lived := before[id]
		equal(t, id+" is created", row.attr("class") == "created", !lived)
	}
	s, _, err := api.Seek(t.Context(), 60)
	noError(t, err)
	i := 0
	for id, item := range s.DumpTable("bullet", 0) {
		equal(t, "handle", shown[i], id.String())
		b := item.(*bullet)
		cells := root.all("tr")[i+1].all("td")
		for k, want := range []any{b.Owner, b.X, b.DX, b.Life} {
			text := strings.Fields(cells[k].text())
			equal(t, fmt.Sprint(id, " cell ", k), text[len(text)-1], fmt.Sprint(want))
		}
		link, _ := url.ParseQuery(strings.TrimPrefix(cells[0].all("a")[0].attr("href"), "?"))
		equal(t, "link of a handle", link.Get("item"), b.Owner.String())
		i++
	}
	equal(t, "items", len(shown), i)
	_, root = ask(t, page, "?tick=60&table=bullet&from=20")
	equal(t, "first item after 20", root.all("tr")[1].all("a")[0].text(), shown[20])
}

// Changes and causes are texts of Changes and Why.
func TestPage_ItemEqualsAPI(t *testing.T) {
	r := inArena(t, "put", 70)
	page, api := history.PageHandler(mustOpen(t, r), time.Hour), mustOpen(t, r)
	for _, c := range []struct {
		id    store.ID
		field string
		tick  uint64
	}{{r.item, "", 60}, {r.item, "Team", 60}, {r.item, "hull.Hit", 65}, {r.item, "hull", 20}, {r.item, "", 3}} {
		query := fmt.Sprintf("?tick=%d&item=%v&field=%s", c.tick, c.id, c.field)
		status, root := ask(t, page, query)
		equal(t, query, status, 200)
		all, err := api.Changes(t.Context(), c.id, c.field, c.tick-min(c.tick, 16)+1, c.tick)
		noError(t, err)
		slices.Reverse(all)
		equal(t, query+": changes", texts(root.all(".change")), changeTexts(all))
		why, err := api.Why(t.Context(), c.id, c.field, c.tick)
		_, root = ask(t, page, query+"&last=1")
		if err != nil {
			equal(t, query+": error", root.all(".error")[0].text(), err.Error())
		} else {
			equal(t, query+": cause", texts(root.all(".cause")[0].all(".change")), changeTexts([]history.Change{why}))
		}
	}
}

// The page names the calls that Calls returns.
func TestPage_CallsEqualAPI(t *testing.T) {
	if testing.Short() {
		t.Skip("plays one tick after another")
	}
	r := record(t, fault{name: "two calls", calls: 2}, "arena")
	page, api := history.PageHandler(mustOpen(t, r), time.Hour), mustOpen(t, r)
	for field, want := range map[string]string{"Team": "", "hull.Hit": history.ErrFixed.Error()} {
		_, root := ask(t, page, fmt.Sprintf("?tick=%d&item=%v&field=%s&last=1&calls=1", r.tick, r.item, field))
		if want == "" {
			why, err := api.Why(t.Context(), r.item, field, r.tick)
			noError(t, err)
			calls, err := api.Calls(t.Context(), why)
			noError(t, err)
			for _, call := range calls {
				want += fmt.Sprintf("Needs call %d of . tick %d", call.Number, call.Tick)
			}
		}
		if got := root.all(".needs")[0].text(); !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q", field, got, want)
		}
	}
}

func tableTexts(root *element) (found []string) {
	for _, e := range root.all("table") {
		found = append(found, e.text())
	}
	return found
}

func texts(all []*element) string {
	var found []string
	for _, e := range all {
		found = append(found, e.all("a")[0].text(), e.all("del")[0].text(), e.all("ins")[0].text())
		for _, by := range e.all(".by") {
			found = append(found, by.text())
		}
	}
	return strings.Join(found, " ")
}

func changeTexts(all []history.Change) string {
	var found []string
	for _, c := range all {
		found = append(found, fmt.Sprintf("tick %d %s %s %v", c.Tick, cmp.Or(c.From, "nothing"), cmp.Or(c.To, "nothing"), c.By))
		for _, lost := range c.By.Lost {
			found = append(found, fmt.Sprint("without effect: ", lost))
		}
	}
	return strings.Join(found, " ")
}

// A search shows its result, and its strip has only ticks that it proved.
func TestPage_SearchEqualsAPI(t *testing.T) {
	r := inArena(t, "put", 100)
	for query, want := range map[string]struct {
		says string
		bars []string
	}{
		"?tick=3&check=teams":        {"Check teams fails after tick for the first time. 60", []string{"holds 0 59", "fails 60 60"}},
		"?tick=3&check=teams&turn=1": {"Check teams fails after tick and holds after the tick before it. 60", []string{"holds 59 59", "fails 60 60"}},
	} {
		_, root := ask(t, history.PageHandler(mustOpen(t, r), time.Hour), query)
		equal(t, query, root.all(".found")[0].text(), want.says)
		equal(t, query, root.all("main")[0].attr("data-tick"), "60")
		var bars []string
		for _, lane := range root.all("svg") {
			if lane.all("title")[0].text() != "Check teams" {
				continue
			}
			for _, bar := range lane.all("rect")[1:] {
				x, _ := strconv.ParseFloat(bar.attr("x"), 64)
				width, _ := strconv.ParseFloat(bar.attr("width"), 64)
				const each = 10 // thousandths of the width
				half := max(each, 6) / 2.0
				bars = append(bars, fmt.Sprintf("%s %.0f %.0f", bar.attr("class"), (x+half)/each, (x+width-half)/each))
			}
		}
		equal(t, query+": strip", fmt.Sprint(bars), fmt.Sprint(want.bars))
	}
}

func TestPage_BadInput(t *testing.T) {
	if testing.Short() {
		t.Skip("plays one tick after another")
	}
	good, failed := inArena(t, "put", 70), inArena(t, "panic", 70)
	late, two := trimmed(t), handedOver(t)
	for _, c := range []struct {
		from   *recording
		query  string
		status int
		want   []string
	}{
		{good, "?tick=500", 404, []string{"tick 500: the tick is not kept, nearest 70", "nearest tick that can be shown is . 70"}},
		{good, "?tick=60&item=1:99.1", 200, []string{"Does not exist after tick 60.", "item 1:99.1 does not exist in ticks 45 to 60"}},
		{good, "?tick=60&item=1:99.1&last=1", 200, []string{"Why: item 1:99.1 does not exist in ticks 0 to 60"}},
		{good, "?tick=60&item=9:1.1", 404, []string{"no table has an item 9:1.1"}},
		{good, "?tick=60&item=1:1.1&field=Gold", 404, []string{`unknown field "Gold" of table "fighter"`, `"hull.Left"`}},
		{good, "?tick=50&item=1:1.1&field=Team&last=1", 200, []string{"changed at or before tick 0: the tick is not kept"}},
		{good, "?tick=0", 200, []string{"The first tick that is kept"}},
		{good, "?tick=60&table=none", 404, []string{`table "none": not found`}},
		{good, "?tick=60&table=fighter&from=900", 200, []string{"None of 12 items"}},
		{good, "?tick=60&check=none", 500, []string{`got check "none", want one of broken, rules, teams`}},
		{good, "?check=broken", 200, []string{"Check broken fails after tick for the first time. 0", "a broken check", "arena_test.go:"}},
		{good, "?tick=one", 400, []string{`tick: got "one", want a whole number`}},
		{good, "?item=1", 400, []string{`item: got "1", want a handle such as 3:17.2`}},
		{good, "?tick=1&tick=2", 400, []string{"parameter tick: got 2"}},
		{good, "?tock=1", 400, []string{`parameter: got "tock", want one of tick, `}},
		{good, "?field=" + strings.Repeat("x", 201), 400, []string{"want 1 of at most 200"}},
		{failed, "", 200, []string{"tick 60 ", "the roof falls in", "arena_test.go", "nearest tick that can be shown is . 59"}},
		{failed, "?tick=3&check=teams", 200, []string{"Check teams holds after every tick from 0 to 59."}},
		{late, "?tick=5", 404, []string{"tick 5: the tick is not kept, nearest 60"}},
		{two, "?tick=20", 404, []string{`got "arena 1", want "arena 2"`, "needs -any"}},
		{two, "?tick=45", 200, []string{"The tick had 0 calls"}},
	} {
		t.Run(c.query, func(t *testing.T) {
			status, root := ask(t, history.PageHandler(mustOpen(t, c.from), time.Hour), c.query)
			equal(t, "status", status, c.status)
			for _, want := range c.want {
				if text := root.text(); !strings.Contains(text, want) {
					t.Errorf("the page lacks %q:\n%s", want, text)
				}
			}
		})
	}
}

func TestPage_AnswersOnlyItsHost(t *testing.T) {
	page := history.PageHandler(mustOpen(t, inArena(t, "none", 5)), time.Hour)
	for _, c := range []struct {
		method, host, site string
		status             int
	}{
		{"GET", "127.0.0.1:80", "", 200},
		{"HEAD", "localhost:80", "same-origin", 200},
		{"GET", "[::1]:80", "none", 200},
		{"GET", "evil.example", "", 403},
		{"GET", "127.0.0.1.evil.example:80", "", 403},
		{"GET", "", "", 403},
		{"GET", "127.0.0.1", "cross-site", 403},
		{"GET", "127.0.0.1", "same-site", 403},
		{"POST", "127.0.0.1", "", 405},
	} {
		r := httptest.NewRequestWithContext(t.Context(), c.method, "/", nil)
		r.Host = c.host
		if c.site != "" {
			r.Header.Set("Sec-Fetch-Site", c.site)
		}
		w := httptest.NewRecorder()
		page.ServeHTTP(w, r)
		equal(t, fmt.Sprint(c), w.Code, c.status)
		equal(t, "policy", strings.Contains(w.Header().Get("Content-Security-Policy"), "script-src 'self'"), true)
	}
}

// Tabs that ask at the same time have the answers of one tab.
func TestPage_ServesTabsInTurn(t *testing.T) {
	page := history.PageHandler(mustOpen(t, inArena(t, "put", 70)), time.Hour)
	queries := []string{"?tick=60", "?tick=61&table=bullet", "?tick=30&item=1:1.1", "?tick=9", "?tick=69&item=1:1.1&field=Team&last=1"}
	alone := map[string]string{}
	state := func(query string) string {
		_, root := ask(t, page, query)
		return fmt.Sprint(texts(root.all(".change")), tableTexts(root))
	}
	for _, query := range queries {
		alone[query] = state(query)
	}
	var tabs sync.WaitGroup
	for tab := range 3 {
		tabs.Go(func() {
			for i := range queries {
				query := queries[(i+tab)%len(queries)]
				if got := state(query); got != alone[query] {
					t.Errorf("%s: got %s, want %s", query, got, alone[query])
				}
			}
		})
	}
	tabs.Wait()
}

// An answer that takes long shows its progress. If its client leaves, its work ends, and the next
// request has the History.
func TestPage_EndsWithItsRequest(t *testing.T) {
	r := inArena(t, "none", 70)
	reached, resume := make(chan struct{}), make(chan struct{})
	var armed sync.Once
	hold := make(chan bool, 1)
	game := r.game()
	held := history.Game{New: func(workers int) (*store.Store, world.Options, history.Checks, error) {
		s, o, checks, err := game.New(workers)
		tick := o.Tick
		o.Tick = func(ctx context.Context, w *store.Writer, at world.Tick) error {
			if len(hold) > 0 && at.Number == 40 {
				armed.Do(func() { close(reached) })
				<-resume
			}
			return tick(ctx, w, at)
		}
		return s, o, checks, err
	}}
	h, err := history.Open(t.Context(), r.dir, held, history.Options{})
	noError(t, err)
	t.Cleanup(func() { noError(t, h.Close()) })
	server := httptest.NewServer(history.PageHandler(h, time.Millisecond))
	defer server.Close()

	hold <- true
	ctx, leave := context.WithCancel(t.Context())
	answer := get(ctx, t, server, "?tick=60")
	<-reached
	body := bufio.NewScanner(answer.Body)
	for body.Scan() && !strings.Contains(body.Text(), "Played 39 ticks") {
	}
	if !strings.Contains(body.Text(), `href="?tick=70"`) {
		t.Errorf("got %q, want progress with a link to leave", body.Text())
	}
	leave()
	_ = answer.Body.Close()
	<-hold
	close(resume)

	next := get(t.Context(), t, server, "?tick=60&table=fighter")
	defer next.Body.Close()
	equal(t, "main of the next answer", parsePage(t, "next", next.Body).all("main")[0].attr("data-tick"), "60")
}

func get(ctx context.Context, t *testing.T, server *httptest.Server, query string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, "GET", server.URL+"/"+query, nil)
	noError(t, err)
	answer, err := server.Client().Do(r)
	noError(t, err)
	return answer
}

func TestMain_ServesUntilItsContextEnds(t *testing.T) {
	r := inArena(t, "put", 70)
	ctx, end := context.WithCancel(t.Context())
	out, in := io.Pipe()
	exit := make(chan int, 1)
	go func() { exit <- history.Run(ctx, r.game(), []string{"serve", r.dir}, in, io.Discard) }()
	line, err := bufio.NewReader(out).ReadString('\n')
	noError(t, err)
	address, _, _ := strings.Cut(line, " ")
	for path, want := range map[string]string{"/?tick=60": "got team 1000", "/page.js": "use strict", "/page.css": "--ink", "/icon.svg": "<svg"} {
		answer, err := http.Get(address + path)
		noError(t, err)
		body, err := io.ReadAll(answer.Body)
		noError(t, err)
		_ = answer.Body.Close()
		equal(t, path, strings.Contains(string(body), want), true)
	}
	http.DefaultClient.CloseIdleConnections()
	end()
	equal(t, "exit code", <-exit, 0)
}
