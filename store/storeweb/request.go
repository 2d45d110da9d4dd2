package storeweb

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// A request is a parsed URL.
type request struct {
	table   string
	ofTable bool
	items   bool // of table
	from    int  // number of skipped items
	count   int
	refresh int // seconds; 0: never
	json    bool
}

const (
	defaultCount = 50
	maxCount     = 100
	maxRefresh   = 3600
)

func parse(r *http.Request) (request, error) {
	q := request{count: defaultCount, json: wantsJSON(r)}
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return q, fmt.Errorf("parse parameters: %w", err)
	}
	for name, all := range values {
		if len(all) > 1 {
			return q, fmt.Errorf("parameter %s appears %d times", strconv.Quote(name), len(all))
		}
	}
	for _, p := range []struct {
		name     string
		low, top int
		value    *int
	}{{"from", 0, math.MaxInt, &q.from}, {"count", 1, maxCount, &q.count}, {"refresh", 1, maxRefresh, &q.refresh}} {
		if values.Has(p.name) {
			n, err := strconv.Atoi(values.Get(p.name))
			if err != nil || n < p.low || n > p.top {
				return q, fmt.Errorf("%s=%s, want a whole number from %d to %d", p.name, strconv.Quote(values.Get(p.name)), p.low, p.top)
			}
			*p.value = n
		}
	}
	q.table, q.ofTable, q.items = values.Get("table"), values.Has("table"), values.Has("from")
	if (q.items || values.Has("count")) && !q.ofTable {
		return q, fmt.Errorf("items need a table: ?table=NAME")
	}
	return q, rest(values)
}

// rest rejects unknown parameters.
func rest(values url.Values) error {
	switch format := values.Get("format"); format {
	case "", "json", "html":
	default:
		return fmt.Errorf("format=%s, want json or html", strconv.Quote(format))
	}
	for _, known := range []string{"table", "from", "count", "refresh", "format"} {
		values.Del(known)
	}
	if len(values) > 0 {
		return fmt.Errorf("unknown parameters %q, want table, from, count, refresh or format", values.Encode())
	}
	return nil
}

func wantsJSON(r *http.Request) bool {
	switch r.URL.Query().Get("format") {
	case "json":
		return true
	case "html":
		return false
	}
	accepted := strings.Join(r.Header.Values("Accept"), ",")
	return strings.Contains(accepted, "application/json") && !strings.Contains(accepted, "text/html")
}

// link returns the relative address of a page.
func link(pairs ...string) string {
	values := make(url.Values)
	for i := 0; i < len(pairs); i += 2 {
		values.Set(pairs[i], pairs[i+1])
	}
	return "?" + values.Encode()
}
