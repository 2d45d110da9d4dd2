package cluster

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"handloom/cluster/cells"
)

// A placement is the content of the bucket of cells and nodes. Keys are cell.<id> and
// node.<name>, values JSON of the entries. Nodes with equal content compute equal assignments.
type placement struct {
	cells map[CellID]cellEntry
	nodes map[string]nodeEntry
	wrong map[string]error // by key
}

type cellEntry struct {
	Weight int `json:"weight"` // share of a node, from 1
}

type nodeEntry struct {
	Host  string   `json:"host"`  // machine and process
	ID    string   `json:"id"`    // random, of the process
	Beat  uint64   `json:"beat"`  // number of the node's sign of life
	Cells []string `json:"cells"` // that are open
}

const (
	bucketName = "handloom"
	cellPrefix = "cell."
	nodePrefix = "node."
	maxWeight  = 1 << 20
)

func newPlacement() placement {
	return placement{make(map[CellID]cellEntry), make(map[string]nodeEntry), make(map[string]error)}
}

var nodeName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// set takes over an entry; nil removes it. An entry that was edited by hand and is invalid is
// wrong: a cell keeps its place with weight 1, and a node gets no cells.
func (p *placement) set(key string, value []byte) {
	delete(p.wrong, key)
	if text, ok := strings.CutPrefix(key, cellPrefix); ok {
		id, err := cells.ParseID(text)
		fix := deleteKey
		if err == nil {
			err, fix = p.setCell(id, value), "Place the cell again"
		}
		p.note(key, value, err, fix)
		return
	}
	name, ok := strings.CutPrefix(key, nodePrefix)
	var e nodeEntry
	switch err := decodeEntry(value, &e); {
	case !ok:
		p.note(key, value, errors.New("key: want cell.ID or node.NAME"), deleteKey)
	case value == nil:
		delete(p.nodes, name)
	case err != nil || !nodeName.MatchString(name):
		delete(p.nodes, name)
		p.note(key, value, cmp.Or(err, errName), deleteKey)
	default:
		p.nodes[name] = e
	}
}

func (p *placement) setCell(id CellID, value []byte) error {
	if value == nil {
		delete(p.cells, id)
		return nil
	}
	var e cellEntry
	err := decodeEntry(value, &e)
	if err == nil && (e.Weight < 1 || e.Weight > maxWeight) {
		err = fmt.Errorf("weight: got %d, want 1 to %d", e.Weight, maxWeight)
	}
	if err != nil {
		e.Weight = 1
	}
	p.cells[id] = e
	return err
}

const deleteKey = "delete the key"

func (p *placement) note(key string, value []byte, err error, fix string) {
	if value != nil && err != nil {
		p.wrong[key] = fmt.Errorf("bucket %s: key %s: %w; %s", bucketName, key, err, fix)
	}
}

// decodeEntry sets e from JSON without unknown fields.
func decodeEntry(value []byte, e any) error {
	d := json.NewDecoder(bytes.NewReader(value))
	d.DisallowUnknownFields()
	err := d.Decode(e)
	if err == nil && d.More() {
		err = errors.New("got bytes after the value")
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// problems returns the texts of wrong entries, by key.
func (p *placement) problems() (all []string) {
	for _, key := range slices.Sorted(maps.Keys(p.wrong)) {
		all = append(all, p.wrong[key].Error())
	}
	return all
}

// assign returns the nodes of each cell, the preferred leader first: by rendezvous hashing with
// bounded loads. A node takes at most 5/4 of the mean load and one cell. It costs O(cells *
// nodes) hashes.
func (p *placement) assign(copies int) map[CellID][]string {
	names := slices.Sorted(maps.Keys(p.nodes))
	copies = min(copies, len(names))
	total, largest := int64(0), int64(0) // int may overflow, and differ between nodes
	for _, c := range p.cells {
		total += int64(c.Weight)
		largest = max(largest, int64(c.Weight))
	}
	ids := slices.SortedFunc(maps.Keys(p.cells), func(a, b CellID) int {
		return cmp.Or(cmp.Compare(p.cells[b].Weight, p.cells[a].Weight), cmp.Compare(a, b))
	})
	limit := total*int64(copies)*5/4/max(1, int64(len(names))) + largest
	load, all := make(map[string]int64), make(map[CellID][]string)
	for _, id := range ids {
		ranked, weight := rank(id, names), int64(p.cells[id].Weight)
		// The sort is stable: nodes at their limit are last.
		slices.SortStableFunc(ranked, func(a, b string) int {
			return cmp.Compare(over(load[a]+weight, limit), over(load[b]+weight, limit))
		})
		all[id] = ranked[:copies]
		for _, name := range all[id] {
			load[name] += weight
		}
	}
	return all
}

func over(load, limit int64) int {
	if load > limit {
		return 1
	}
	return 0
}

// rank returns names in the order of their hash with the cell.
func rank(id CellID, names []string) []string {
	score := make(map[string]uint64, len(names))
	for _, name := range names {
		sum := sha256.Sum256(fmt.Append(nil, id, "/", name))
		score[name] = binary.LittleEndian.Uint64(sum[:])
	}
	return slices.SortedFunc(slices.Values(names), func(a, b string) int {
		return cmp.Or(cmp.Compare(score[b], score[a]), strings.Compare(a, b))
	})
}

// hasOpen reports whether a node has opened a cell.
func (p *placement) hasOpen(name string, id CellID) bool {
	return slices.Contains(p.nodes[name].Cells, id.String())
}
