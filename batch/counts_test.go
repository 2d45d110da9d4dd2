package batch_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"handloom/batch"
	"handloom/handle"
)

func TestCounts_CommandsIsTheFirstNine(t *testing.T) {
	c := batch.Counts{
		Created: 1, Erased: 2, Put: 4, Superseded: 8, Dropped: 16, Redundant: 32, Stale: 64, CancelledOut: 128,
		Unset: 256, Dangling: 512, Depleted: 1024,
	}
	sum := c
	sum.Add(c)
	if batch.Commanded(c) != 511 || batch.Commanded(sum) != 1022 || sum.Dangling != 1024 || sum.Depleted != 2048 {
		t.Errorf("%d commands, twice that is %+v", batch.Commanded(c), sum)
	}
}

func TestSample_String(t *testing.T) {
	for want, s := range map[string]batch.Sample{
		"erase of 7:42.3 by task 2 in pass 0":               {},
		`set of column "pos" of 7:42.3 by task 2 in pass 0`: {Kind: batch.Set, Column: "pos"},
		"put of 7:42.3 by call 2 of the inbox":              {Kind: batch.Put, Pass: batch.InboxPass},
	} {
		s.Handle, s.TypeID, s.Task, s.Sequence = handle.New(7, 3, 42), 7, 2, 5
		if got := fmt.Sprint(s); got != want+" (typeId 7, sequence 5)" {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestCounts_NamesInTextAndJSON(t *testing.T) {
	names := []string{
		"created", "erased", "unset", "put", "superseded", "dropped", "redundant", "stale", "cancelled_out", "dangling", "depleted",
	}
	if n := reflect.TypeFor[batch.Counts]().NumField(); n != len(names) {
		t.Fatalf("%d counters, want %d", n, len(names))
	}
	for i, name := range names {
		var c batch.Counts
		reflect.ValueOf(&c).Elem().Field(i).SetInt(int64(i) + 3)
		if got, want := c.String(), fmt.Sprint(i+3, " ", strings.ReplaceAll(name, "_", " ")); got != want {
			t.Errorf("String is %q, want %q", got, want)
		}
		text, err := json.Marshal(c)
		if !strings.Contains(string(text), fmt.Sprintf("%q:%d", name, i+3)) || err != nil {
			t.Errorf("%s of %d is %s in JSON, %v", name, i+3, text, err)
		}
		var back batch.Counts
		if err := json.Unmarshal(text, &back); err != nil || back != c {
			t.Errorf("%s reads back as %+v, %v", text, back, err)
		}
	}
	if got := fmt.Sprint(batch.Counts{}, ", ", batch.Counts{Created: 2, Erased: 1}); got != "nothing, 2 created 1 erased" {
		t.Errorf("String is %q", got)
	}
}

func TestKind_Text(t *testing.T) {
	for kind, name := range []string{"erase", "put", "set"} {
		kind := batch.Kind(kind)
		text, err := kind.MarshalText()
		if kind.String() != name || string(text) != name || err != nil {
			t.Errorf("kind %d is %q, and %q, %v", uint8(kind), kind, text, err)
		}
		var back batch.Kind
		if err := back.UnmarshalText(text); back != kind || err != nil {
			t.Errorf("%s reads back as %v, %v", text, back, err)
		}
	}
	k := batch.Put
	if err := k.UnmarshalText([]byte("update")); err == nil || k != batch.Put || !strings.Contains(err.Error(), `"update"`) {
		t.Errorf("an unknown kind: %v, %v", k, err)
	}
	if got := batch.Kind(7).String(); got != "kind 7" {
		t.Errorf("kind 7 is %q", got)
	}
}
