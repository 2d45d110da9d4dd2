package storeweb_test

import (
	"encoding/json"
	"fmt"
	"html"
	"math"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"handloom/store/storeweb"
)

// health has a field of each kind that a status may have.
type health struct {
	Leader  bool          `json:"leader"`
	ID      string        `json:"leader_id"`
	Lag     time.Duration `json:"lag_ns"`
	Age     time.Duration `json:"saved_age_ns"`
	Size    int64         `json:"log_bytes"`
	Room    uint64        `json:"disk_bytes"`
	Tick    uint64        `json:"tick"`
	Off     int           `json:"off"`
	Share   float64       `json:"share"`
	Since   time.Time     `json:"since"`
	Parts   []int         `json:"parts"`
	Named   int
	Cut     string `json:"cut,omitempty"`
	Err     string `json:"save_error,omitempty"`
	Left    int    `json:"left,omitempty"`
	Skipped int    `json:"-"`
	hidden  int
}

var unwell = health{
	Leader: true, ID: "00ab", Lag: 1234567, Age: 26*time.Hour + 499*time.Millisecond, Size: 3 << 20, Room: 1 << 40, Tick: math.MaxUint64, Off: -12345,
	Share: 0.5, Since: time.Unix(0, 0).UTC(), Parts: []int{1, 2}, Named: 7, Cut: `<script>alert("1")</script>`, Skipped: 99, hidden: 98,
}

// rowsOf returns the figures of a page, and its problems.
func rowsOf(body string) (rows map[string][2]string, problems []string) {
	rows = make(map[string][2]string)
	for _, m := range regexp.MustCompile(`<dt>([^<]*)</dt><dd(?: title="([^"]*)")?>([^<]*)</dd>`).FindAllStringSubmatch(body, -1) {
		rows[m[1]] = [2]string{html.UnescapeString(m[3]), m[2]}
	}
	for _, m := range regexp.MustCompile(`<p class="error">([^<]*)</p>`).FindAllStringSubmatch(body, -1) {
		problems = append(problems, html.UnescapeString(m[1]))
	}
	return rows, problems
}

func TestStatus_ShowsFiguresOfJSON(t *testing.T) {
	h := storeweb.Status("Cell 7 & co", func() any { return unwell })
	w := ask(h, "GET", "/", asProgram)
	want, err := json.Marshal(unwell)
	noError(t, err)
	equal(t, "JSON", strings.TrimSpace(w.Body.String()), string(want))
	body := page(t, h, "/?refresh=2")
	says(t, "the page", body, "<title>Cell 7 &amp; co · storeweb.test, process ", "again every 2 s", `content="2"`)
	failIf(t, strings.Contains(body, "<script"), "the page has a script")
	rows, problems := rowsOf(body)
	equal(t, "problems", fmt.Sprint(problems), fmt.Sprint([]string{"cut: " + unwell.Cut}))
	for name, want := range map[string][2]string{
		"leader": {"yes", ""}, "leader id": {"00ab", ""}, "lag": {"1.23 ms", "1234567"}, "saved age": {"26h0m0s", "93600499000000"},
		"log size": {"3.00 MiB", "3145728"}, "disk size": {"1.00 TiB", "1099511627776"}, "tick": {"18,446,744,073,709,551,615", "18446744073709551615"},
		"off": {"-12,345", "-12345"}, "share": {"0.5", "0.5"}, "since": {`"1970-01-01T00:00:00Z"`, ""}, "parts": {"[1,2]", ""}, "Named": {"7", "7"},
	} {
		equal(t, name, rows[name], want)
		delete(rows, name)
	}
	equal(t, "other rows", len(rows), 0)
}

func TestStatus_ShowsStatusOfEachRequest(t *testing.T) {
	n := 0
	h := storeweb.Status("n", func() any { n++; return &struct{ N int }{n} })
	for want := 1; want <= 3; want++ {
		says(t, "the page", page(t, h, "/"), fmt.Sprintf("<dt>N</dt><dd title=\"%d\">%d</dd>", want, want))
	}
	says(t, "a number", page(t, storeweb.Status("n", func() any { return 5 }), "/"), ">5</dd>")
}

func TestStatus_RefusesBadRequests(t *testing.T) {
	h := storeweb.Status("status", func() any { return unwell })
	for target, status := range map[string]int{"/": 200, "/?format=json": 200, "/?table=ship": 400, "/?from=1": 400, "/?refresh=0": 400, "/?bad": 400} {
		equal(t, target, ask(h, "GET", target, asBrowser).Code, status)
		equal(t, target+" as JSON", ask(h, "GET", target, asProgram).Code, status)
	}
	w := ask(h, "POST", "/", asBrowser)
	failIf(t, w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD", "POST: %d, Allow %q", w.Code, w.Header().Get("Allow"))
	bad := storeweb.Status("status", func() any { return struct{ F func() }{} })
	equal(t, "a status without JSON", ask(bad, "GET", "/", asProgram).Code, http.StatusInternalServerError)
}
