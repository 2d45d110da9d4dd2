package suite_test

import (
	"slices"
	"strings"
	"testing"

	"handloom/bench/internal/measure"
	"handloom/bench/internal/suite"
)

var defaults = suite.Options{Workers: []int{1, 2}, Seed: 1}

func names(cases []measure.Case) (names []string) {
	for _, c := range cases {
		names = append(names, c.Name())
	}
	return names
}

func TestUnique_KeepsTheFirstOfEachName(t *testing.T) {
	all := names(defaults.All())
	if slices.Sort(all); len(slices.Compact(slices.Clone(all))) != len(all) || len(all) < 250 {
		t.Errorf("got %d cases %q, want 250 or more, each once", len(all), all)
	}
}

func TestHeadline_IsPartOfAll(t *testing.T) {
	all, headline := names(defaults.All()), names(defaults.Headline())
	for _, want := range []string{
		"op=create/impl=handlemap/n=100000/size=8",
		"op=iterate/impl=slotmap/n=100000/size=8",
		"op=getinorder/impl=map/n=100000/size=8",
		"op=clear/impl=straight/n=100000/size=8",
		"op=defragment/impl=handlemap.Defragment.1000/n=100000/size=8",
		"op=flush/impl=table/n=1000000/size=8/workers=2",
		"op=foreach/impl=table/n=1000000/size=8/workers=1",
		"op=mixed/impl=xsync/n=100000/size=8/workers=2",
		"op=gc/impl=mapofpointers/n=1000000/size=8",
		"op=replay/impl=table/size=32/workers=2",
	} {
		if !slices.Contains(headline, want) {
			t.Errorf("%s is not in the headline", want)
		}
	}
	if name := slices.IndexFunc(headline, func(name string) bool { return !slices.Contains(all, name) }); name >= 0 {
		t.Errorf("%s is not among all", headline[name])
	}
}

// The first case is the reference.
func TestComparisons_BeginWithHandloom(t *testing.T) {
	seen := make(map[measure.Comparison]bool)
	for _, c := range defaults.All() {
		key := measure.Comparison{Op: c.Op, N: c.N, Size: c.Size}
		if seen[key] {
			continue
		}
		seen[key] = true
		if first, _, _ := strings.Cut(c.Impl, "."); first != "handlemap" && first != "table" && first != "journal" && c.Op != "halves" {
			t.Errorf("%v begins with %s", key, c.Impl)
		}
	}
}

func TestOptions_NReplacesTheDefaults(t *testing.T) {
	o := defaults
	o.N = []int{77}
	for _, c := range append(o.All(), o.Headline()...) {
		if c.N != 77 && c.N != 0 {
			t.Errorf("%s has another n", c.Name())
		}
	}
}
