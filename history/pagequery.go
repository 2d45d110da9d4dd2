package history

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"handloom/store"
)

// A query is a parsed address of the page.
type query struct {
	Tick  uint64
	Table string
	From  int // number of skipped items of Table
	Item  store.ID
	Field string
	Ticks uint64 // number of ticks whose changes of Item are shown
	Last  bool   // the last change of Item is wanted
	Calls bool   // and the calls that it needs
	Check string // to search its first failure
	Turn  bool   // by bisection
}

const (
	pageItems   = 100
	changeTicks = 16
	maxTicks    = 1 << 20
	maxName     = 200 // bytes of a parameter
)

// parseQuery parses the parameters of an address. newest is the tick of an address without one.
func parseQuery(raw string, newest uint64) (q query, err error) {
	q = query{Tick: newest, Ticks: changeTicks}
	values, err := url.ParseQuery(raw)
	if err != nil {
		return q, fmt.Errorf("parse parameters: %w", err)
	}
	names := []string{"tick", "table", "from", "item", "field", "ticks", "last", "calls", "check", "turn"}
	for name, all := range values {
		switch {
		case !slices.Contains(names, name):
			return q, fmt.Errorf("parameter: got %q, want one of %s", name, strings.Join(names, ", "))
		case len(all) > 1, len(all[0]) > maxName:
			return q, fmt.Errorf("parameter %s: got %d of up to %d bytes, want 1 of at most %d", name, len(all), len(all[0]), maxName)
		}
	}
	whole := func(name string, most, value uint64) uint64 {
		if !values.Has(name) {
			return value
		}
		n, e := strconv.ParseUint(values.Get(name), 10, 64)
		if e != nil || n > most {
			err = fmt.Errorf("%s: got %q, want a whole number of at most %d", name, values.Get(name), most)
		}
		return n
	}
	q.Tick = whole("tick", 1<<63, newest)
	q.From = int(whole("from", 1<<40, 0))
	q.Ticks = max(whole("ticks", maxTicks, changeTicks), 1)
	q.Table, q.Field, q.Check = values.Get("table"), values.Get("field"), values.Get("check")
	q.Last, q.Calls, q.Turn = values.Has("last"), values.Has("calls"), values.Has("turn")
	if text := strings.TrimSpace(values.Get("item")); text != "" {
		if q.Item, err = store.ParseID(text); err != nil || q.Item.IsZero() {
			return q, fmt.Errorf("item: got %q, want a handle such as 3:17.2", text)
		}
	}
	return q, err
}

// String returns the address of q.
func (q query) String() string {
	values := url.Values{"tick": {strconv.FormatUint(q.Tick, 10)}}
	set := func(name, value string, given bool) {
		if given {
			values.Set(name, value)
		}
	}
	set("table", q.Table, q.Table != "")
	set("from", strconv.Itoa(q.From), q.From > 0)
	set("item", q.Item.String(), q.Item != 0)
	set("field", q.Field, q.Field != "")
	set("ticks", strconv.FormatUint(q.Ticks, 10), q.Ticks != changeTicks)
	set("last", "1", q.Last)
	set("calls", "1", q.Calls)
	set("check", q.Check, q.Check != "")
	set("turn", "1", q.Turn)
	return "?" + values.Encode()
}

// The following return the address of a page near q.

// At is the same content of another tick.
func (q query) At(tick uint64) string {
	q.Tick, q.Last, q.Calls, q.Check, q.Turn, q.Ticks = tick, false, false, "", false, changeTicks
	return q.String()
}

func (q query) OfTick(tick uint64) string { return query{Tick: tick, Ticks: changeTicks}.String() }

func (q query) OfTable(table string, from int) string {
	return query{Tick: q.Tick, Table: table, From: from, Ticks: changeTicks}.String()
}

func (q query) OfItem(id store.ID) string {
	return query{Tick: q.Tick, Item: id, Ticks: changeTicks}.String()
}

// OfField is an item's field, with its last change.
func (q query) OfField(id store.ID, field string) string {
	return query{Tick: q.Tick, Item: id, Field: field, Ticks: changeTicks, Last: true}.String()
}

// OfCalls is the same content, with the calls that the last change needs.
func (q query) OfCalls() string {
	q.Calls = true
	return q.String()
}

// Further is the changes in more ticks.
func (q query) Further() string {
	q.Ticks = min(q.Ticks*16, maxTicks)
	return q.String()
}
