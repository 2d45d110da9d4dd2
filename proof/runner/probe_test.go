package runner

import (
	"slices"
	"strings"
	"testing"

	"handloom/proof/model"
	"handloom/proof/script"
)

func opened(t *testing.T, text string) *executor {
	t.Helper()
	p, err := script.Parse([]byte("handloom-stress 1\nseed 5\n"+text), "test")
	if err != nil {
		t.Fatal(err)
	}
	pl := newExecutor(p, script.Config{Workers: 1})
	if err := pl.open(); err != nil {
		t.Fatal(err)
	}
	for i := range p.Steps {
		pl.do(t.Context(), &p.Steps[i], nil)
	}
	if pl.failure != nil {
		t.Fatal(pl.failure)
	}
	return pl
}

const history = `table a packed word
table b packed word
do
add-column a rich
each tasks=1
  @0 emplace a %1
  @0 emplace-items b %2*3
flush
checkpoint
write
  insert a %5
  remove a %1
  insert a %6
end
rollback
each tasks=1
  @0 emplace a %7
`

func TestRollback_KeepsAbandonedHandles(t *testing.T) {
	p := opened(t, history)
	if len(p.abandoned) != 2 || p.abstract.Issued()[len(p.abstract.Issued())-1] == p.abandoned[0] {
		t.Errorf("abandoned are %s; issued are %s", list(p.abandoned), list(p.abstract.Issued()))
	}
	if len(p.recorded) != 5 {
		t.Errorf("recorded are %d creates; want 5", len(p.recorded))
	}
}

func TestRollback_MayGoForward(t *testing.T) {
	p := opened(t, `table a packed word
do
checkpoint
write
  insert-items a %1*3
end
checkpoint as=1
rollback
write
  insert a %4
end
rollback to=1
write
  insert a %5
end
rollback
`)
	const first = 1<<48 | 1<<32
	if want := []uint64{first + 1, first + 2, first + 3}; !slices.Equal(p.abandoned[len(p.abandoned)-3:], want) {
		t.Errorf("kept are %s; want at the end %s", list(p.abandoned), list(want))
	}
	if p.probeAll(); p.failure != nil {
		t.Error(p.failure)
	}
}

func TestProbes_NoticeDifferences(t *testing.T) {
	for name, tt := range map[string]struct {
		spoil func(p *executor)
		want  string
	}{
		"an issued handle": {func(p *executor) {
			p.exact.Remove(0, p.names[1].id)
			p.abstract.Erase(0, p.names[1].id)
		}, "is found and names nothing"},
		"an abandoned handle":           {func(p *executor) { p.abstract.Insert(0, p.abandoned[0], model.Item{}) }, "the models differ over"},
		"a provisional handle":          {func(p *executor) { p.names[7].provisional = p.names[1].id }, "the provisional handle of %7 is found"},
		"an element of the exact model": {func(p *executor) { p.exact.Element(model.ColumnID{}, p.names[1].id).Key++ }, "column 0 of "},
		"what a create is to be": {func(p *executor) {
			p.store.Flush(t.Context())
			p.probeProvisional(7)
		}, "%7 resolves to"},
	} {
		p := opened(t, history)
		if p.probeAll(); p.failure != nil {
			t.Fatal(p.failure)
		}
		tt.spoil(p)
		if p.probeAll(); p.failure == nil || !strings.Contains(p.failure.What, tt.want) {
			t.Errorf("%s: %v; want %q", name, p.failure, tt.want)
		}
	}
}
