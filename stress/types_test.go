package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"handloom/internal/trace"
)

// named are the lives of three ships and a shot: two ships live from tick 1, one of
// them to the end; one lives in tick 3 alone, as the shot does in tick 2.
func named() []byte {
	text := string(lines("C 0 1 C 0 2 T C 5 1 E 5 1 U 0 1 T C 0 3 E 0 3 T T E 0 2 T"))
	return []byte(strings.Replace(text, "\n", "\n# table 0: ship\n# table 5: shot\n", 1))
}

func TestAReplayTellsOfTheObjectsOfEachType(t *testing.T) {
	p := command{stdin: bytes.NewReader(named())}
	got := p.stress(t.Context(), "replay", "-", "-workers", "1,2", "-json", "-")
	var d document
	if err := json.Unmarshal([]byte(got.stdout), &d); err != nil {
		t.Fatalf("%v:\n%s", err, got.stdout)
	}
	want := []typeRow{
		{
			Table: -1, Name: "all types", Created: 4, Updated: 1, Erased: 3, Live: 1, Peak: 2, PeakTick: 1,
			Births: 0.8, MostBirths: 2, Deaths: 0.6, MostDeaths: 1, P50: 1, P90: 5, P99: 5, Longest: 5,
		},
		{
			Table: 0, Name: "ship", Created: 3, Updated: 1, Erased: 2, Live: 1, Peak: 2, PeakTick: 1,
			Births: 0.6, MostBirths: 2, Deaths: 0.4, MostDeaths: 1, P50: 1, P90: 5, P99: 5, Longest: 5,
		},
		{
			Table: 5, Name: "shot", Created: 1, Erased: 1,
			Births: 0.2, MostBirths: 1, Deaths: 0.2, MostDeaths: 1, P50: 1, P90: 1, P99: 1, Longest: 1,
		},
	}
	if diff := cmp.Diff(want, d.Types); diff != "" {
		t.Errorf("the types are (-want, +got):\n%s", diff)
	}
	if !strings.Contains(got.stderr, "\nship ") || !strings.Contains(got.stderr, "\nshot ") {
		t.Errorf("the types are not in the text:\n%s", got.stderr)
	}
}

func TestReplay_ComparesTablesWithPlainMaps(t *testing.T) {
	p := command{stdin: bytes.NewReader(generate(t, 1, 100))}
	got := p.stress(t.Context(), "replay", "-", "-workers", "1,2", "-json", "-")
	var d document
	if err := json.Unmarshal([]byte(got.stdout), &d); err != nil {
		t.Fatalf("%v:\n%s", err, got.stdout)
	}
	m := d.PlainMaps
	if m.Seconds <= m.ChangeSeconds || m.ChangeSeconds <= 0 || m.Bytes <= 0 {
		t.Errorf("the maps take %+v", m)
	}
	for _, r := range d.Rows {
		if b := r.Beside; b.Time <= 0 || b.Passes <= 0 || b.Changes <= 0 || b.Memory <= 0 {
			t.Errorf("workers %d, beside the maps: %+v", r.Workers, b)
		}
	}
	if !strings.Contains(got.stderr, "\ntables beside plain Go maps, which take ") {
		t.Errorf("the maps are not in the text:\n%s", got.stderr)
	}
}

// The clock of a tick is read before anything is done, around the events, and after all,
// so that ageing and sums count as time of the tick, and events as time of changes.
func TestModel_TimesTheWholeTick(t *testing.T) {
	m := newModel()
	m.register(3)
	tick := func(events ...trace.Event) {
		m.begin(events)
		m.play(events)
	}
	tick(trace.Event{Kind: trace.Create, Table: 3, Key: 1}, trace.Event{Kind: trace.Create, Table: 3, Key: 2})

	type seen struct {
		items int
		age   uint32 // of item 1
		sums  uint64 // of items, by the last tick
	}
	want := []seen{{2, 0, 2}, {2, 1, 2}, {1, 1, 2}, {1, 1, 1}}
	var got []seen
	at := time.Unix(0, 0)
	m.busy, m.changing = 0, 0
	m.now = func() time.Time {
		of := m.tables[0]
		got = append(got, seen{len(of.items), of.items[1].Age, of.sums.Items})
		at = at.Add(time.Second << (2 * len(got)))
		return at
	}
	tick(trace.Event{Kind: trace.Update, Table: 3, Key: 1}, trace.Event{Kind: trace.Erase, Table: 3, Key: 2})
	if !slices.Equal(got, want) {
		t.Errorf("the clock is read at %+v, want %+v", got, want)
	}
	if cost := m.cost(); cost.Seconds != 16+64+256 || cost.ChangeSeconds != 64 {
		t.Errorf("got a cost of %+v, want %d s of which %d s are changes", cost, 16+64+256, 64)
	}
}

func TestThePageOfAReplayTellsOfTypes(t *testing.T) {
	_, text := command{stdin: bytes.NewReader(named())}.page(t.Context(), t, "replay", "-", "-workers", "1")
	for _, want := range []string{
		"Births and deaths per tick</title>", "Most objects at once, by type</title>", "Ticks that objects lived for, by type</title>",
		"Tables beside plain Go maps</title>", ">ship</text>", ">shot</text>",
		"<td>4 created, 1 updates, 3 erased, 1 left; at most 2 at once, in tick 1</td>",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not on the page", want)
		}
	}
}

// A player keeps handles by these numbers: two objects that share one would lose
// one of theirs.
func TestLiveObjectsHaveNumbersOfTheirOwn(t *testing.T) {
	most := uint32(0)
	r := replayed(t, generate(t, 7, 100), 1, func(r *replay) {
		seen := make(map[uint32]bool)
		for _, of := range r.model.tables {
			for key, object := range of.objects {
				if seen[object] || object >= r.model.objects {
					t.Fatalf("tick %d: table %d: key %d has number %d of %d, or shares it", r.model.tick, of.number, key, object, r.model.objects)
				}
				seen[object] = true
			}
		}
		most = max(most, uint32(len(seen)+len(r.model.numbers)))
	}, 1)
	if n := r.model.objects; n > most {
		t.Errorf("there are %d numbers for %d objects at once", n, most)
	}
}

func TestACourseKeepsItsSumsWhenRunsBecomeOne(t *testing.T) {
	var c course
	const ticks = 5*maxRuns + 3
	for i := range ticks {
		c.add(i, 2*i)
	}
	births, deaths := 0, 0
	for _, r := range c.runs {
		births += r.births
		deaths += r.deaths
	}
	if want := ticks * (ticks - 1) / 2; births != want || deaths != 2*want || len(c.runs) > maxRuns || c.every != 8 {
		t.Errorf("%d births and %d deaths in %d runs of %d ticks; want %d births", births, deaths, len(c.runs), c.every, want)
	}
}
