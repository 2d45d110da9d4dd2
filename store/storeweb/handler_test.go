package storeweb_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"handloom/store"
	"handloom/store/storeweb"
)

func TestHandler_WorksAtAnyPath(t *testing.T) {
	_, h := newFleet(t, 10)
	mux := http.NewServeMux()
	mux.Handle("/debug/store/", h)
	mux.Handle("GET /one", h)
	mux.Handle("/strip/", http.StripPrefix("/strip", h))
	mux.Handle("GET /of/{player}/{$}", h)
	server := httptest.NewServer(mux)
	defer server.Close()
	links := regexp.MustCompile(`<a href="([^"]*)"`)
	for _, path := range []string{"/debug/store", "/debug/store/", "/debug/store/deeper/down", "/debug/store/../store/", "/one", "/strip/", "/of/argo/"} {
		body := fetch(t, server, path, http.StatusOK)
		says(t, path, body, "<h1>Store of storeweb.test, process ")
		for _, link := range links.FindAllStringSubmatch(body, -1) {
			failIf(t, !strings.HasPrefix(link[1], "?"), "on %s a link leads to %s", path, link[1])
			fetch(t, server, path+html.UnescapeString(link[1]), http.StatusOK)
		}
	}
}

func fetch(t *testing.T, server *httptest.Server, path string, status int) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", server.URL+path, nil)
	noError(t, err)
	answer, err := server.Client().Do(r)
	noError(t, err)
	defer answer.Body.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(answer.Body); err != nil || answer.StatusCode != status {
		t.Errorf("%s: %d, %v", path, answer.StatusCode, err)
	}
	return b.String()
}

func TestPages_DescribeTheStore(t *testing.T) {
	f, h := newFleet(t, 1234)
	noError(t, f.tick(t.Context()))
	for target, wants := range map[string][]string{
		"/": {
			"<title>Store · storeweb.test, process ", `<link rel="icon" href="data:image/svg&#43;xml;base64,`, "1,334 items in 2 tables take ", `<a href="?table=ship">ship</a></th><td>1,234</td><td>-</td>`,
			"The first request has none", "heap of the program", "<h3>wave 2</h3>", "shoot", "reads ship, which steer writes", "<h3>flush</h3>",
			"hit (if its condition holds)", "hit reads shot, which shoot emits", "steer</th><td>",
		},
		"/?refresh=7":                    {`<meta http-equiv="refresh" content="7">`, "again every 7 s"},
		"/?table=ship":                   {"<h1>ship</h1>", "The table has 1,234 items.", "Show them", "created</th><td>1,234</td>", "cancelled out"},
		"/?table=ship&from=1000&count=3": {"Items 1,001 to 1,003 of 1,234.", `<th class="left">Name</th><th>Hull</th><th class="left">Next</th>`, ">Argo</td>"},
		"/?table=shot&from=0":            {"Items 1 to 50 of 100.", "<th>X</th><th>Y</th>"},
	} {
		body := page(t, h, target)
		says(t, target, body, wants...)
		failIf(t, target != "/?table=ship&from=1000&count=3" && strings.Contains(body, "Argo"), "%s shows items that nobody asked for", target)
	}
}

func TestPages_WithoutTables(t *testing.T) {
	s := store.New(store.Options{})
	says(t, "the page", page(t, storeweb.Handler(s), "/"), "The store has no tables.", "0 items in 0 tables")
	a := read(t, storeweb.Handler(s), "/", http.StatusOK)
	failIf(t, a.Store == nil || len(a.Store.Stats) > 0, "got %+v", a)
}

func TestHandler_AnswersOnlyGETAndHEAD(t *testing.T) {
	_, h := newFleet(t, 1)
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE", "BREW", "<b>"} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Method = method
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" || strings.Contains(w.Body.String(), "<b>") {
			t.Errorf("%s: %d, Allow %q", method, w.Code, w.Header().Get("Allow"))
		}
	}
	get, head := ask(h, "GET", "/?table=ship", asBrowser), ask(h, "HEAD", "/?table=ship", asBrowser)
	if head.Code != http.StatusOK || head.Body.Len() > 0 || head.Header().Get("Content-Length") != strconv.Itoa(get.Body.Len()) {
		t.Errorf("HEAD: %d with %d bytes, Content-Length %s of %d", head.Code, head.Body.Len(), head.Header().Get("Content-Length"), get.Body.Len())
	}
}

func TestHandler_RefusesBadRequests(t *testing.T) {
	_, h := newFleet(t, 10)
	for target, status := range map[string]int{
		"/?table=ships":                                404,
		"/?table=":                                     404,
		"/?table=../../etc/passwd":                     404,
		"/?table=%3Cscript%3Ealert(1)":                 404,
		"/?table=ship%00":                              404,
		"/?table=ship&table=shot":                      400,
		"/?table=ship&from=-1":                         400,
		"/?table=ship&from=":                           400,
		"/?table=ship&from=1e3":                        400,
		"/?table=ship&from=0x10":                       400,
		"/?table=ship&from=99999999999999999999999999": 400,
		fmt.Sprint("/?table=ship&from=", math.MaxInt):  404,
		"/?table=ship&from=10":                         404,
		"/?table=ship&from=9":                          200,
		"/?table=shot&from=0":                          200, // an empty table
		"/?table=ship&from=0&count=0":                  400,
		"/?table=ship&from=0&count=101":                400,
		"/?table=ship&from=0&count=-5":                 400,
		"/?from=0":                                     400,
		"/?count=5":                                    400,
		"/?refresh=0":                                  400,
		"/?refresh=3601":                               400,
		"/?refresh=1;url=http://elsewhere/":            400,
		"/?format=xml":                                 400,
		"/?tabel=ship":                                 400,
		"/?%zz":                                        400,
		"/?table=ship;from=0":                          400,
		"/..%2f..%2fetc/passwd":                        200, // the path has no meaning
		"//elsewhere/?table=ship":                      200,
	} {
		asHTML := ask(h, "GET", target, asBrowser)
		failIf(t, asHTML.Code != status || strings.Contains(asHTML.Body.String(), "<script"), "%s: %d, want %d", target, asHTML.Code, status)
		equal(t, target+" succeeds", read(t, h, target, status).Error == "", status == 200)
	}
	a := read(t, h, "/?table=ship&from=10", 404)
	failIf(t, a.Table == nil || a.Table.Stats.Live != 10, "beyond the end: got %+v", a)
}

func TestPages_EscapeHTML(t *testing.T) {
	const evil = `<script>alert("1")</script>' onclick=x &amp; ../?a=b#c`
	s := store.New(store.Options{})
	type odd struct{ Text string }
	table := store.Register(s, store.TableOptions[odd]{Name: evil})
	noError(t, s.Write(t.Context(), func(w *store.Writer) { table.Insert(w, odd{"</td><script>" + evil}) }))
	frame := store.NewSchedule(s, store.System{
		Name: evil, Writes: []store.Resource{table, store.Other(evil)}, Run: func(context.Context) error { return nil },
	}, store.System{Name: "second", Reads: []store.Resource{store.Other(evil)}, Run: func(context.Context) error { return nil }})
	h := storeweb.Handler(s, frame)
	overview := page(t, h, "/")
	link := regexp.MustCompile(`href="(\?table=[^"]*)"`).FindStringSubmatch(overview)
	if link == nil {
		t.Fatal("there is no link to the table")
	}
	view := html.UnescapeString(link[1])
	for target, body := range map[string]string{"/": overview, view: page(t, h, "/"+view), "items": page(t, h, "/"+view+"&from=0")} {
		failIf(t, strings.Contains(body, "<script") || strings.Contains(body, "</td><") && strings.Contains(body, "</td><script"), "%s has a script", target)
		if !strings.Contains(body, html.EscapeString(evil)) && !strings.Contains(body, "&lt;script&gt;") {
			t.Errorf("%s does not name the table", target)
		}
	}
	if a := read(t, h, "/"+view+"&from=0", 200); a.Table.Stats.Name != evil || !strings.Contains(string(a.Table.Items[0].Value), "alert") {
		t.Errorf("as JSON it is %+v", a.Table)
	}
}

func TestPages_LoadNothing(t *testing.T) {
	_, h := newFleet(t, 10)
	outside := regexp.MustCompile(`(?i)https?:|//|<script|<link|<img|<iframe|<object|@import|url\(| style=| on[a-z]+=|javascript:`)
	for _, target := range []string{"/", "/?table=ship", "/?table=ship&from=0", "/?table=none", "/?bad", "/?format=json"} {
		w := ask(h, "GET", target, asBrowser)
		body := w.Body.String()
		policy := w.Header().Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'; style-src 'sha256-") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "script-src") {
			t.Errorf("%s: the policy is %q", target, policy)
		}
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "Vary": "Accept"} {
			equal(t, target+": "+name, w.Header().Get(name), want)
		}
		if target == "/?format=json" {
			continue
		}
		_, rest, _ := strings.Cut(body, "<style>")
		style, rest, found := strings.Cut(rest, "</style>")
		sum := sha256.Sum256([]byte(style))
		failIf(t, !found || !strings.Contains(policy, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'"), "%s: the policy refuses the style sheet", target)
		failIf(t, strings.Contains(rest, "<style") || outside.MatchString(style), "%s has more than one style sheet, or one that loads something", target)
		equal(t, target+": forbidden text", outside.FindString(rest), "")
	}
}

func TestFormat_FollowsRequest(t *testing.T) {
	_, h := newFleet(t, 10)
	for _, c := range []struct {
		target, accept string
		json           bool
	}{
		{"/", "", false},
		{"/", "*/*", false},
		{"/", asBrowser, false},
		{"/", asProgram, true},
		{"/", asBrowser + ",application/json", false},
		{"/?format=json", asBrowser, true},
		{"/?format=html", asProgram, false},
		{"/?table=none", asProgram, true},
		{"/?format=json&bad", "", true},
	} {
		w := ask(h, "GET", c.target, c.accept)
		if got := json.Valid(w.Body.Bytes()); got != c.json || strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") != c.json {
			t.Errorf("%s for %q is JSON: %t, as %s", c.target, c.accept, got, w.Header().Get("Content-Type"))
		}
	}
}

func TestJSON_EqualsStats(t *testing.T) {
	f, h := newFleet(t, 10)
	noError(t, f.tick(t.Context()))
	a := read(t, h, "/", http.StatusOK).Store
	if a.Epoch != 2 || !slices.Equal(a.Stats, f.Stats()) || !slices.Equal(a.Flushed.Tables, f.Flushed().Tables) || !slices.Equal(a.Flushed.Columns, f.Flushed().Columns) || a.Flushed.Total != f.Flushed().Total || a.Flushed.Epoch != 2 || a.Recent != nil || a.Heap == 0 {
		t.Errorf("got %+v", a)
	}
	if len(a.Schedules) != 1 || a.Schedules[0].Explain != f.frame.Explain() || len(a.Schedules[0].Systems) != 3 ||
		a.Schedules[0].Systems[1].System != "shoot" || a.Schedules[0].Systems[1].Runs != 1 || a.Schedules[0].Systems[1].P50 <= 0 ||
		!slices.Equal(a.Schedules[0].Systems[1].Reads, []string{"ship", "shot"}) || !slices.Equal(a.Schedules[0].Systems[1].Emits, []string{"shot"}) {
		t.Errorf("schedules: got %+v", a.Schedules)
	}
	view := read(t, h, "/?table=ship&from=4&count=2", http.StatusOK).Table
	if view.Stats != f.Stats()[0] || view.Flushed.Created != 10 || view.From != 4 || len(view.Items) != 2 {
		t.Fatalf("a table: got %+v", view)
	}
	var all []store.Handle[ship]
	for h := range f.ships.All() {
		all = append(all, h)
	}
	for i, got := range view.Items {
		var s ship
		h := all[4+i]
		err := json.Unmarshal(got.Value, &s)
		failIf(t, err != nil || got.Handle != h.ID || s != *f.ships.At(h), "item %d is %v %s, %v", i, got.Handle, got.Value, err)
	}
	equal(t, "items that were not requested", len(read(t, h, "/?table=ship", http.StatusOK).Table.Items), 0)
}

func TestPager_LinksReachAllItems(t *testing.T) {
	f, h := newFleet(t, 237)
	noError(t, f.tick(t.Context()))
	handle := regexp.MustCompile(`<th scope="row">(\d+:\d+\.\d+)</th>`)
	follow := func(target, name string) (handles []string, pages int) {
		for target != "" {
			body := page(t, h, "/"+target)
			var here []string
			for _, found := range handle.FindAllStringSubmatch(body, -1) {
				here = append(here, found[1])
			}
			if name == "Previous" {
				handles = append(here, handles...)
			} else {
				handles = append(handles, here...)
			}
			target = ""
			if next := regexp.MustCompile(`<a href="([^"]*)">` + name + `</a>`).FindStringSubmatch(body); next != nil {
				target = html.UnescapeString(next[1])
			}
			if pages++; pages > 20 {
				t.Fatal("there is no end of it")
			}
		}
		return handles, pages
	}
	for table, n := range map[string]int{"ship": 237, "shot": 100} {
		var all []string
		for id := range f.DumpTable(table, 0) {
			all = append(all, id.String())
		}
		for _, start := range []string{"?table=" + table + "&from=0&count=30", "?table=" + table + "&from=0"} {
			if got, _ := follow(start, "Next"); !slices.Equal(got, all) || len(all) != n {
				t.Errorf("%s leads to %d items, of %d", start, len(got), n)
			}
		}
		if got, pages := follow(fmt.Sprintf("?table=%s&from=%d&count=30", table, (n-1)/30*30), "Previous"); !slices.Equal(got, all) || pages != (n-1)/30+1 {
			t.Errorf("back it are %d items on %d pages", len(got), pages)
		}
	}
}

// A tick of this store replaces all ships in two flushes; after the first there are none.
func TestHandler_ShowsWholeTicks(t *testing.T) {
	f, h := newFleet(t, 100)
	ticks := 60
	if testing.Short() {
		ticks = 20
	}
	tick := func(ctx context.Context, _ *store.Writer) error {
		for flush := range 2 {
			err := f.Do(ctx, func(q store.Queue) {
				if flush == 0 {
					f.ships.EraseAll(q)
				} else {
					f.ships.EmplaceItems(q, make([]ship, 100), nil)
				}
			})
			if err == nil {
				_, err = f.Flush(ctx)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	done := make(chan struct{})
	var readers sync.WaitGroup
	targets := []string{"/?format=json", "/", "/?table=ship", "/?table=ship&from=0&count=100&format=json", "/?table=shot&from=10", "/?table=none", "/?bad"}
	for i := range 2 * len(targets) {
		readers.Go(func() {
			for target := targets[i%len(targets)]; ; {
				select {
				case <-done:
					return
				default:
				}
				body := ask(h, "GET", target, "").Body.String()
				if strings.Contains(target, "json") && !strings.Contains(body, `"name":"ship","shards":3,"live":100,`) {
					t.Errorf("%s shows a half tick:\n%s", target, body)
					return
				}
			}
		})
	}
	for range ticks {
		noError(t, onlyError(f.Frame(t.Context(), tick)))
	}
	close(done)
	readers.Wait()
}
