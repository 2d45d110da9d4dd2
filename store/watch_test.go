package store_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"handloom/store"
)

func busyReport(t *testing.T) (*store.Store, *store.Report) {
	t.Helper()
	s := newStore(t, store.Options{})
	ships := register(t, s, store.TableOptions[item]{Name: "ships", Shards: 2})
	shots := register(t, s, store.TableOptions[item]{Name: "shots"})
	hs := fill(t, s, ships, 1000)
	q := queues(t, s, 1)[0]
	p := ships.Emplace(q, item{Value: 1})
	shots.Emplace(q, item{Links: [2]store.ID{p.ID}})
	ships.Erase(q, p)
	ships.EraseItems(q, hs[:10])
	ships.EraseItems(q, hs[:3])
	ships.Put(q, hs[0], item{})
	ships.Put(q, hs[20], item{Value: 1})
	ships.Put(q, hs[20], item{Value: 2})
	shots.Put(q, handleOf(compose(3, 9, 1)), item{})
	q.Erase(compose(77, 1, 1))
	q.Erase(store.ID(1<<63 | 7)) // provisional, of no batch
	report := flush(t, s)
	report.Plan, report.Apply = 41_200*time.Nanosecond, 7*time.Millisecond
	return s, report
}

func TestReport_String(t *testing.T) {
	_, report := busyReport(t)
	for got, want := range map[fmt.Stringer]string{
		report:            "epoch 2: 1 created 10 erased 1 put 1 superseded 1 dropped 3 redundant 3 stale 2 cancelled out 1 dangling",
		&report.Tables[0]: "ships: 10 erased 1 put 1 superseded 1 dropped 3 redundant 2 cancelled out",
		&report.Tables[1]: "shots: 1 created 1 stale 1 dangling",
		new(store.Report): "epoch 0: nothing",
	} {
		equal(t, "the report", got.String(), want)
	}
}

func TestReport_JSONRoundTrips(t *testing.T) {
	s, report := busyReport(t)
	for _, report := range []*store.Report{report, {Epoch: 1<<64 - 1}} {
		var back store.Report
		text := inJSON(t, report, &back)
		if !reflect.DeepEqual(&back, report) && len(report.Tables) > 0 || !back.Equal(report) || strings.Contains(text, "null") {
			t.Errorf("%s reads back as\n%#v, want\n%#v", text, &back, report)
		}
	}
	for _, stats := range []store.Stats{s.Stats(), {Epoch: 3}} {
		var back store.Stats
		if text := inJSON(t, stats, &back); !reflect.DeepEqual(back, stats) {
			t.Errorf("%s reads back as %+v, want %+v", text, back, stats)
		}
	}
	for part, v := range map[string]any{
		`{"epoch":2,"total":{"created":1,"erased":10,`:                           report,
		`"cancelled_out":2,`:                                                     report,
		`"tables":[{"name":"ships","created":0,"erased":10,`:                     report,
		`"stale_samples":[{"handle":"~0:7.0","type_id":0,"kind":"erase","pass":`: report,
		`"plan_ns":41200,"apply_ns":7000000}`:                                    report,
		`{"epoch":2,"tables":[{"name":"ships","shards":2,"live":990,"vacant":10,"depleted":0,"slots":1000,"bytes":`: s.Stats(),
	} {
		wantIn(t, "the JSON", inJSON(t, v, nil), part)
	}
}

// inJSON returns v in JSON, and decodes it into back unless that is nil.
func inJSON(t *testing.T, v, back any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err == nil && back != nil {
		err = json.Unmarshal(text, back)
	}
	noError(t, err)
	return string(text)
}

func TestFlushed_SumsReports(t *testing.T) {
	s := newStore(t, store.Options{})
	ships := register(t, s, store.TableOptions[item]{Name: "ships", Shards: 2, TypeID: 7})
	shots := register(t, s, store.TableOptions[item]{Name: "shots", TypeID: 3})
	addColumn(t, ships, store.ColumnOptions[int]{Name: "crew"})
	speed := addColumn(t, ships, store.ColumnOptions[int]{Name: "speed"})
	want := &store.Report{
		Tables:  []store.TableReport{{Name: "ships"}, {Name: "shots"}},
		Columns: []store.TableReport{{Name: "ships.crew"}, {Name: "ships.speed"}},
	}
	check := func(flushed *store.Report) {
		t.Helper()
		if flushed.Total.Commands() > 0 {
			want.Epoch++
		}
		want.Total.Add(flushed.Total)
		want.Plan += flushed.Plan
		want.Apply += flushed.Apply
		for _, table := range flushed.Tables {
			at := slices.IndexFunc(want.Tables, func(r store.TableReport) bool { return r.Name == table.Name })
			want.Tables[at].Add(table.Counts)
		}
		for _, column := range flushed.Columns {
			at := slices.IndexFunc(want.Columns, func(r store.TableReport) bool { return r.Name == column.Name })
			want.Columns[at].Add(column.Counts)
		}
		got := s.Flushed()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("the sum is\n%+v, want\n%+v", got, want)
		}
		got.Tables[0].Created = 77
	}
	check(&store.Report{})
	q := queues(t, s, 1)[0]
	hs := ships.EmplaceItems(q, make([]item, 9), nil)
	speed.Set(q, hs[0], 7)
	shots.Emplace(q, item{})
	check(flush(t, s))
	var before store.Checkpoint
	checkpoint(t, s, &before)
	q = queues(t, s, 1)[0]
	ships.Erase(q, resolve(t, ships, hs[3]))
	q.Erase(compose(77, 1, 1))
	check(flush(t, s))
	check(flush(t, s))
	noError(t, s.Rollback(t.Context(), &before))
	shots.Emplace(queues(t, s, 1)[0], item{})
	check(flush(t, s))
}
