package runner

import (
	"slices"
	"strings"
	"testing"

	"handloom/proof/script"
)

func TestTablesGetTheTypeIDsThatTheyAskForOrTheNextFreeOnes(t *testing.T) {
	for _, tt := range []struct {
		tables []script.Table
		want   []int // nil: an error
	}{
		{[]script.Table{{}, {Shards: 3}, {}}, []int{1, 2, 5}},
		{[]script.Table{{TypeID: 2, Shards: 2}, {Shards: 2}, {}}, []int{2, 4, 1}},
		{[]script.Table{{TypeID: lastTypeID}, {}}, []int{lastTypeID, 1}},
		{[]script.Table{{TypeID: lastTypeID, Shards: 2}}, nil},
		{[]script.Table{{Shards: 2}, {TypeID: 2}}, nil},
	} {
		got, err := typeIDs(tt.tables)
		if (err == nil) != (tt.want != nil) || err == nil && !slices.Equal(got, tt.want) {
			t.Errorf("%+v: %v, %v; want %v", tt.tables, got, err, tt.want)
		}
	}
}

// What a program says of its tables is what they are registered with: their
// handles begin with the typeIds that it names.
func TestATableHasTheTypeIDThatItsProgramNames(t *testing.T) {
	p, err := script.Parse([]byte("handloom-stress 1\ntable a packed word typeid=70 shards=2\ntable b stable word\ndo\nwrite\ninsert a %1\ninsert b %2\nend\n"), "test")
	if err != nil {
		t.Fatal(err)
	}
	pl := newExecutor(p, script.Config{Workers: 1})
	pl.whole(t.Context())
	if pl.failure != nil {
		t.Fatal(pl.failure)
	}
	for name, want := range map[int]uint64{1: 70, 2: 1} {
		if got := pl.names[name].id >> 48; got != want {
			t.Errorf("%%%d has typeId %d; want %d", name, got, want)
		}
	}
	p.Tables[1].TypeID = 71
	if err := Check(p, "test"); err == nil || !strings.Contains(err.Error(), "test:1: table b has no 1 typeIds from 71 on") {
		t.Errorf("tables with one typeId: %v", err)
	}
}
