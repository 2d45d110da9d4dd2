package runner

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"handloom/proof/model"
	"handloom/store"
)

// checkWords sees that a report equals its copy, and what is read back of its
// JSON, and that it tells every counter.
func (p *executor) checkWords(r *store.Report) {
	if c := r.Clone(); !c.Equal(r) || !r.Equal(c) {
		p.fail(Model, "the report %v does not equal its clone %v", r, c)
	}
	other := r.Clone()
	if other.Total.Stale++; other.Equal(r) {
		p.fail(Model, "the report %v equals one with another count", r)
	}
	text, err := json.Marshal(r)
	back := new(store.Report)
	if err == nil {
		err = json.Unmarshal(text, back)
	}
	p.want(err == nil && back.Equal(r), "the report %v reads back from JSON as %v, %v", r, back, err)
	if line := r.String(); !strings.Contains(line, fmt.Sprint(r.Epoch)) {
		p.fail(Model, "the report of epoch %d is written %q", r.Epoch, line)
	}
}

// checkFigures sees that the figures of the store read back from JSON, and that
// their text names every table.
func (p *executor) checkFigures() {
	s := p.store.Stats()
	text, err := json.Marshal(s)
	var back store.Stats
	if err == nil {
		err = json.Unmarshal(text, &back)
	}
	p.want(err == nil && back.Epoch == s.Epoch && slices.Equal(back.Tables, s.Tables), "the figures %v read back from JSON as %v, %v", s, back, err)
	line := s.String()
	for i := range s.Tables {
		if !strings.Contains(line, s.Tables[i].Name) {
			p.fail(Model, "the figures are written %q, without table %s", line, s.Tables[i].Name)
			return
		}
	}
}

// inspectShards compares what the store tells of each shard: its hash, which
// belongs to the marks, and its items, in the order in which it holds them. It
// returns the hashes of all shards in one.
func (p *executor) inspectShards() uint64 {
	sum := uint64(0)
	for i, d := range p.store.DigestTables() {
		m := &p.modelled[i]
		if name := p.tables[i].Name(); d.Name != name || d.TypeID != m.TypeID || len(d.Shards) != m.Shards {
			p.fail(Model, "DigestTables says of table %s: %+v; want typeId %d and %d shards", name, d, m.TypeID, m.Shards)
			return 0
		}
		for shard, digest := range d.Shards {
			sum = mix(sum ^ digest)
			p.dump(i, shard)
		}
	}
	for id := range p.store.Dump(uint16(p.foreign >> 48 & 0x7fff)) {
		p.fail(Model, "Dump of a typeId that no table has yields %s", model.Text(uint64(id)))
	}
	return sum
}

func (p *executor) dump(table, shard int) {
	want := p.exact.Map(table, shard).Handles()
	n := 0
	for id := range p.store.Dump(p.modelled[table].TypeID + uint16(shard)) {
		if n >= len(want) || uint64(id) != want[n] {
			p.fail(Model, "Dump of table %s: %s is item %d of %d", p.tables[table].Name(), model.Text(uint64(id)), n, len(want))
			return
		}
		p.dumpParts(table, uint64(id))
		n++
	}
	p.want(n == len(want), "Dump of table %s, shard %d, yields %d items; want %d", p.tables[table].Name(), shard, n, len(want))
}
