package store_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"handloom/internal/check"
	hash "handloom/internal/digest"
	snapshot "handloom/internal/image"
	"handloom/store"
)

const blockBytes = 1 << 20

// imageOf returns a snapshot of one shard with valid checksums and digests.
func imageOf(from []byte, size int, payload []byte) []byte {
	return reblocked(from[:headOf(from)], []shardImage{{payload: payload}}, size)
}

func withHeader(b []byte, change func(h *snapshot.Header)) []byte {
	h, err := snapshot.NewReader(context.Background(), bytes.NewReader(b)).Header()
	if err != nil {
		panic(err)
	}
	change(&h)
	var made bytes.Buffer
	_, _ = snapshot.Write(&made, &h, func(int, int) snapshot.State { return noState{} })
	head := made.Bytes()
	return append(head[:headOf(head):headOf(head)], b[headOf(b):]...)
}

type noState struct{}

func (noState) DigestTo(*hash.Hash) {}

// oneItem returns a store, its snapshot without items, and the bytes of a shard up to its item.
func oneItem[T any](t tb) (s *store.Store, empty, before []byte) {
	t.Helper()
	s = newStore(t, store.Options{Workers: 1})
	table := register(t, s, store.TableOptions[T]{Name: "items"})
	empty = image(t, s)
	noError(t, s.Write(context.Background(), func(w *store.Writer) { table.Insert(w, *new(T)) }))
	payload := shardsOf(image(t, s))[0].payload
	return s, empty, payload[:16+8+4+4+4+4+2+2+4+1] // typeId, slots, one word, freelist, no order
}

type (
	tree struct {
		V    uint8
		Kids []tree
	}
	treeWithTail struct {
		Kids []treeWithTail
		Tail [128]uint64
	}
	treeOfMaps struct {
		Kids map[uint8]treeOfMaps
		Name string
	}
	fork         struct{ A, B []fork }
	treeOfArrays struct {
		Pairs [2][]treeOfArrays
	}
)

func u64(b []byte, all ...uint64) []byte {
	for _, v := range all {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

// forgery returns a snapshot of about n bytes that claims much more.
type forgery func(t tb, n int) (*store.Store, []byte)

func itemOf[T any](size int, item func(b []byte, n int) []byte) forgery {
	return func(t tb, n int) (*store.Store, []byte) {
		s, empty, b := oneItem[T](t)
		return s, imageOf(empty, size, item(b, n))
	}
}

// nested forges levels of an item that each claim all remaining bytes of n.
func nested[T any](least int, level func(b []byte, claim uint64) []byte) forgery {
	return itemOf[T](blockBytes, func(b []byte, n int) []byte {
		for range 990 {
			left := n - len(b) - 20
			if left < 2*least {
				break
			}
			b = level(b, uint64(left/least))
		}
		return append(b, make([]byte, max(0, n-len(b)))...)
	})
}

func header[T any](change func(h *snapshot.Header, n int)) forgery {
	return func(t tb, n int) (*store.Store, []byte) {
		s, empty, b := oneItem[T](t)
		return s, withHeader(imageOf(empty, blockBytes, b), func(h *snapshot.Header) { change(h, n) })
	}
}

func schema(before, part, after string) forgery {
	return header[tree](func(h *snapshot.Header, n int) {
		h.Tables[0].Schema = before + strings.Repeat(part, max(1, n/len(part))) + after
	})
}

func columns(schema string) forgery {
	return header[tree](func(h *snapshot.Header, n int) {
		table := &h.Tables[0]
		table.Kind |= snapshot.KindColumns
		for i := range n / (13 + len(schema)) {
			table.Columns = append(table.Columns, snapshot.Column{Name: string(binary.LittleEndian.AppendUint32(nil, uint32(i))), Schema: schema})
		}
	})
}

func tables(name string) forgery {
	return header[tree](func(h *snapshot.Header, n int) {
		h.Tables = slices.Repeat([]snapshot.Table{{Name: name, First: 1, Shards: 1}}, max(1, n/(13+len(name))))
	})
}

var forgeries = map[string]forgery{
	"slices in slices":        nested[tree](9, func(b []byte, claim uint64) []byte { return u64(append(b, 1), claim) }),
	"slices in front of much": nested[treeWithTail](8+1024, func(b []byte, _ uint64) []byte { return u64(b, 1) }),
	"maps in maps":            nested[treeOfMaps](17, func(b []byte, claim uint64) []byte { return append(u64(b, claim), 1) }),
	"arrays in slices":        nested[treeOfArrays](16, func(b []byte, claim uint64) []byte { return u64(b, claim) }),
	"small blocks": itemOf[[]string](1, func(b []byte, n int) []byte {
		b = u64(b, uint64(n/64))
		for len(b) < n/17 {
			b = append(u64(b, 1), 'x')
		}
		return b
	}),
	"a large string in small blocks": itemOf[string](1, func(b []byte, n int) []byte {
		return append(u64(b, uint64(n/17)), make([]byte, n/17)...)
	}),
	"one table many times":  tables("items"),
	"tables of other names": tables(""),
	"a table with a long name": header[tree](func(h *snapshot.Header, n int) {
		h.Tables[0].Name = strings.Repeat("\x00", n)
	}),
	"a schema as deep as it is long":   schema("", "{", ""),
	"a schema of many fields":          schema("struct{V string", "; V string", "}"),
	"a schema of fields that are gone": schema("struct{V uint8; Kids []@2", "; X string; Y int8", "}"),
	"a schema of a type around types":  schema("struct{"+deepKids, "; "+deepKids, "}"),
	"a schema of slices in slices":     schema("struct{V uint8; Kids []@2", "; X "+strings.Repeat("[]", 98)+"int8", "}"),
	"a schema of arrays in arrays":     schema("struct{V uint8; Kids []@2", "; X "+strings.Repeat("[1]", 98)+"int8", "}"),
	"a schema of empty structs":        schema("struct{V uint8; Kids []@2", ";  struct{}", "}"),
	"a schema of forks": header[fork](func(h *snapshot.Header, n int) {
		schema := "struct{A int8; B int8}"
		for 2*len(schema)+18 < n {
			schema = "struct{A []" + schema + "; B []" + schema + "}"
		}
		h.Tables[0].Schema = schema
	}),
	"columns of slices in slices": columns(strings.Repeat("[]", 99) + "int8"),
	"columns of slices":           columns("[]int8"),
	"a file of another kind": func(t tb, n int) (*store.Store, []byte) {
		s, _, _ := oneItem[tree](t)
		return s, []byte(strings.Repeat("\xff\xd8\xff\xe0JFIF", n/8))
	},
	"a block that is cut": func(t tb, n int) (*store.Store, []byte) {
		s, empty, b := oneItem[tree](t)
		all := imageOf(empty, blockBytes, append(b, make([]byte, n)...))
		return s, all[:min(n, len(all)-100)]
	},
	"pages with an item each": scattered,
}

var deepKids = "Kids []" + strings.Repeat("struct{Kids []", 40) + "int8" + strings.Repeat("}", 40)

func scattered(t tb, n int) (*store.Store, []byte) {
	s := newStore(t, store.Options{Workers: 1})
	registerStable(t, s, store.TableOptions[[1000]uint32]{Name: "items"})
	slots := n / 8 &^ 7
	b := u64(nil, 1<<48, uint64(slots))
	vacant := 0
	for slot := range slots {
		if slot%8 == 0 {
			b = u64(b, 1<<48|1<<32|uint64(slot))
			continue
		}
		vacant++
		next := slot + 2
		if slot%8 == 7 {
			next++
		}
		if next > slots {
			next = 0
		}
		b = u64(b, 1<<63|1<<48|1<<32|uint64(next))
	}
	for _, v := range []int{2, slots, vacant, 0} {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	b = append(b, 1, 0, 0, 0, 0, 0, 0, 0)
	return s, imageOf(image(t, s), blockBytes, b)
}

func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestLoad_MemoryIsBoundedByTheBytesRead(t *testing.T) {
	for _, n := range []int{64 << 10, 1 << 20} {
		if n > 64<<10 && (testing.Short() || check.Cheap) {
			continue
		}
		for name, forge := range forgeries {
			t.Run(fmt.Sprintf("%s/%d", name, n), func(t *testing.T) {
				s, b := forge(t, n)
				bounded := func(what string, read func() error) (err error) {
					grew, most := allocated(func() { err = read() }), 32*uint64(len(b))+1<<20
					atMost(t, what+": allocated bytes", grew, most)
					if err != nil && len(err.Error()) > 64<<10 {
						t.Errorf("%s: an error text of %d bytes", what, len(err.Error()))
					}
					return err
				}
				err := bounded("Load", func() error { return s.Load(context.Background(), bytes.NewReader(b)) })
				wantError(t, "Load", err, store.ErrSnapshot)
				_ = bounded("Inspect", func() error { _, err := snapshot.Inspect(bytes.NewReader(b)); return err })
			})
		}
	}
}
