package store_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"runtime"
	"slices"
	"strings"
	"testing"

	"handloom/internal/check"
	snapshot "handloom/internal/image"
	"handloom/store"
)

// frame bytes, as the format has them.
const frameBytes = 1 << 20

// imageOf returns a snapshot with the header of another, and a payload for each shard,
// in frames of size bytes. Its checksums and digests are right.
func imageOf(from []byte, size int, shards ...[]byte) []byte {
	b := slices.Clone(from[:headOf(from)])
	frame := func(shard int, kind byte, payload []byte) {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(payload)))
		b = binary.LittleEndian.AppendUint16(b, 0)
		b = binary.LittleEndian.AppendUint16(b, uint16(shard))
		b = append(b, kind, 0, 0, 0, 0, 0, 0, 0)
		b = append(b, payload...)
	}
	for i, payload := range shards {
		for part := range slices.Chunk(payload, size) {
			frame(i, 0, part)
		}
		frame(i, 1, make([]byte, 8))
	}
	frame(0, 2, make([]byte, 12))
	b, _ = signed(b)
	return b
}

// oneTable returns a store with a table of Ts, and the bytes of a shard of it with one
// item, from which what the item encodes to is cut.
func oneTable[T any](t tb, options store.TableOptions[T]) (s *store.Store, empty []byte, before []byte) {
	t.Helper()
	s = newStore(t, store.Options{Workers: 1})
	options.Name = "items"
	table := register(t, s, options)
	empty = image(t, s)
	err := s.Write(context.Background(), func(_ context.Context, w *store.Writer) error {
		_, err := table.Insert(w, *new(T))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var q bytes.Buffer
	if err := s.Snapshot(context.Background(), &q); err != nil {
		t.Fatal(err)
	}
	f := framesOf(q.Bytes())[0]
	payload := q.Bytes()[f.at+16 : f.end]
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

// u64 appends numbers.
func u64(b []byte, all ...uint64) []byte {
	for _, v := range all {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

// nested returns levels that each claim the bytes that are left, of n.
func nested(b []byte, n, least int, level func(b []byte, claim uint64) []byte) []byte {
	for range 990 {
		left := n - len(b) - 20
		if left < 2*least {
			break
		}
		b = level(b, uint64(left/least))
	}
	return append(b, make([]byte, max(0, n-len(b)))...)
}

// forgeries are snapshots that take little room and claim much, with the stores that they
// are made for.
func forgeries(t tb, n int) map[string]func() (*store.Store, []byte) {
	return map[string]func() (*store.Store, []byte){
		"slices in slices": func() (*store.Store, []byte) {
			s, empty, b := oneTable(t, store.TableOptions[tree]{})
			b = nested(b, n, 9, func(b []byte, claim uint64) []byte { return u64(append(b, 1), claim) })
			return s, imageOf(empty, frameBytes, b)
		},
		"slices in front of much": func() (*store.Store, []byte) {
			s, empty, b := oneTable(t, store.TableOptions[treeWithTail]{})
			b = nested(b, n, 8+1024, func(b []byte, claim uint64) []byte { return u64(b, 1) })
			return s, imageOf(empty, frameBytes, b)
		},
		"maps in maps": func() (*store.Store, []byte) {
			s, empty, b := oneTable(t, store.TableOptions[treeOfMaps]{})
			b = nested(b, n, 17, func(b []byte, claim uint64) []byte { return append(u64(b, claim), 1) })
			return s, imageOf(empty, frameBytes, b)
		},
		"arrays in slices": func() (*store.Store, []byte) {
			s, empty, b := oneTable(t, store.TableOptions[treeOfArrays]{})
			b = nested(b, n, 16, func(b []byte, claim uint64) []byte { return u64(b, claim) })
			return s, imageOf(empty, frameBytes, b)
		},
		"small frames": func() (*store.Store, []byte) {
			s, empty, b := oneTable(t, store.TableOptions[[]string]{})
			b = u64(b, uint64(n/64))
			for len(b) < n/17 {
				b = append(u64(b, 1), 'x')
			}
			return s, imageOf(empty, 1, b)
		},
		"a large string in small frames": func() (*store.Store, []byte) {
			s, empty, b := oneTable(t, store.TableOptions[string]{})
			b = append(u64(b, uint64(n/17)), make([]byte, n/17)...)
			return s, imageOf(empty, 1, b)
		},
		"one table many times": func() (*store.Store, []byte) {
			s, empty, b := oneTable(t, store.TableOptions[tree]{})
			return s, withTables(imageOf(empty, frameBytes, b), n, func(int) string { return "items" })
		},
		"tables of other names": func() (*store.Store, []byte) {
			s, empty, b := oneTable(t, store.TableOptions[tree]{})
			return s, withTables(imageOf(empty, frameBytes, b), n, func(int) string { return "" })
		},
		"a table with a long name": func() (*store.Store, []byte) {
			s, empty, b := oneTable(t, store.TableOptions[tree]{})
			return s, withTables(imageOf(empty, frameBytes, b), n, func(int) string { return strings.Repeat("\x00", n) })
		},
		"a schema as deep as it is long": func() (*store.Store, []byte) {
			s, empty, b := oneTable(t, store.TableOptions[tree]{})
			return s, withSchema(imageOf(empty, frameBytes, b), strings.Repeat("{", n))
		},
		"a schema of many fields": func() (*store.Store, []byte) {
			s, empty, b := oneTable(t, store.TableOptions[tree]{})
			return s, withSchema(imageOf(empty, frameBytes, b), "struct{V string"+strings.Repeat("; V string", n/10)+"}")
		},
		"a schema of fields that are gone": func() (*store.Store, []byte) {
			s, empty, b := oneTable(t, store.TableOptions[tree]{})
			return s, withSchema(imageOf(empty, frameBytes, b), "struct{V uint8; Kids []@2"+strings.Repeat("; X string; Y int8", n/18)+"}")
		},
		"a schema of a type around types": func() (*store.Store, []byte) {
			s, empty, b := oneTable(t, store.TableOptions[tree]{})
			deep := strings.Repeat("struct{Kids []", 40) + "int8" + strings.Repeat("}", 40)
			return s, withSchema(imageOf(empty, frameBytes, b), "struct{Kids []"+deep+strings.Repeat("; Kids []"+deep, n/len(deep))+"}")
		},
		"a schema of slices in slices": func() (*store.Store, []byte) {
			s, empty, b := oneTable(t, store.TableOptions[tree]{})
			deep := strings.Repeat("[]", 98) + "int8"
			return s, withSchema(imageOf(empty, frameBytes, b), "struct{V uint8; Kids []@2"+strings.Repeat("; X "+deep, n/len(deep))+"}")
		},
		"a schema of arrays in arrays": func() (*store.Store, []byte) {
			s, empty, b := oneTable(t, store.TableOptions[tree]{})
			deep := strings.Repeat("[1]", 98) + "int8"
			return s, withSchema(imageOf(empty, frameBytes, b), "struct{V uint8; Kids []@2"+strings.Repeat("; X "+deep, n/len(deep))+"}")
		},
		"a schema of empty structs": func() (*store.Store, []byte) {
			s, empty, b := oneTable(t, store.TableOptions[tree]{})
			return s, withSchema(imageOf(empty, frameBytes, b), "struct{V uint8; Kids []@2"+strings.Repeat(";  struct{}", n/11)+"}")
		},
		"a schema of forks": func() (*store.Store, []byte) {
			s, empty, b := oneTable(t, store.TableOptions[fork]{})
			schema := "struct{A int8; B int8}"
			for 2*len(schema)+18 < n {
				schema = "struct{A []" + schema + "; B []" + schema + "}"
			}
			return s, withSchema(imageOf(empty, frameBytes, b), schema)
		},
		"columns of slices in slices": func() (*store.Store, []byte) {
			s, empty, b := oneTable(t, store.TableOptions[tree]{})
			return s, withColumns(imageOf(empty, frameBytes, b), n, strings.Repeat("[]", 99)+"int8")
		},
		"columns of slices": func() (*store.Store, []byte) {
			s, empty, b := oneTable(t, store.TableOptions[tree]{})
			return s, withColumns(imageOf(empty, frameBytes, b), n, "[]int8")
		},
		"a name that says nothing": func() (*store.Store, []byte) {
			s, _, _ := oneTable(t, store.TableOptions[tree]{})
			return s, []byte(strings.Repeat("\xff\xd8\xff\xe0JFIF", n/8))
		},
		"a frame of nothing": func() (*store.Store, []byte) {
			s, empty, b := oneTable(t, store.TableOptions[tree]{})
			all := imageOf(empty, frameBytes, append(b, make([]byte, n)...))
			return s, all[:min(n, len(all)-100)]
		},
		"pages with an item each": func() (*store.Store, []byte) {
			s := newStore(t, store.Options{Workers: 1})
			registerStable(t, s, store.TableOptions[[1000]uint32]{Name: "items"})
			empty := image(t, s)
			slots := n / 8
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
			last := slots
			if (last-1)%8 == 0 {
				last--
			}
			for _, v := range []int{2, last, vacant, 0} {
				b = binary.LittleEndian.AppendUint32(b, uint32(v))
			}
			b = append(b, 1, 0, 0, 0, 0, 0, 0, 0) // generations, MinFree
			return s, imageOf(empty, frameBytes, b)
		},
	}
}

// withHead returns b with another header.
func withHead(b []byte, change func(head []byte) []byte) []byte {
	head := change(slices.Clone(b[12 : headOf(b)-4]))
	made := binary.LittleEndian.AppendUint32(slices.Clone(b[:8]), uint32(len(head)))
	made = append(made, head...)
	made = binary.LittleEndian.AppendUint32(made, crc32.Checksum(head, crc32.MakeTable(crc32.Castagnoli)))
	return append(made, b[headOf(b):]...)
}

const tablesAt = 8 + 8 + 8 + 16 + 4 // of a header without a program

// withTables returns b with as many tables in its header as fit n bytes.
func withTables(b []byte, n int, name func(i int) string) []byte {
	return withHead(b, func(head []byte) []byte {
		made, count := head[:tablesAt+4], 0
		for ; len(made) < n; count++ {
			text := name(count)
			made = append(binary.LittleEndian.AppendUint32(made, uint32(len(text))), text...)
			made = append(made, 1, 0, 1, 0, 0, 0, 0, 0, 0)
		}
		binary.LittleEndian.PutUint32(made[tablesAt:], uint32(count))
		return made
	})
}

// withSchema returns b, of one table of the name items, with another schema.
func withSchema(b []byte, schema string) []byte {
	return withHead(b, func(head []byte) []byte {
		made := head[:tablesAt+4+4+len("items")+2+2+1]
		made = binary.LittleEndian.AppendUint32(made, uint32(len(schema)))
		return append(made, schema...)
	})
}

// withColumns returns b, of one table of the name items, with as many columns of a schema as
// fit n bytes.
func withColumns(b []byte, n int, schema string) []byte {
	return withHead(b, func(head []byte) []byte {
		head[tablesAt+4+4+len("items")+2+2] |= 2
		at, count := len(head), 0
		made := append(head, 0, 0, 0, 0)
		for ; len(made) < n; count++ {
			made = binary.LittleEndian.AppendUint32(made, 4)
			made = binary.LittleEndian.AppendUint32(made, uint32(count)) // the name
			made = append(made, 0)
			made = binary.LittleEndian.AppendUint32(made, uint32(len(schema)))
			made = append(made, schema...)
		}
		binary.LittleEndian.PutUint32(made[at:], uint32(count))
		return made
	})
}

// allocated returns how many bytes a function allocates, in all.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestLoad_MemoryIsBoundedByTheBytesRead(t *testing.T) {
	for _, n := range []int{64 << 10, 512 << 10, 4 << 20} {
		if n > 64<<10 && (testing.Short() || check.Cheap) {
			continue
		}
		for name, forge := range forgeries(t, n) {
			t.Run(fmt.Sprintf("%s/%d", name, n), func(t *testing.T) {
				s, b := forge()
				most := 32*uint64(len(b)) + 1<<20
				var err error
				grew := allocated(func() { err = s.Load(context.Background(), bytes.NewReader(b)) })
				if !errors.Is(err, store.ErrSnapshot) {
					t.Fatalf("Load: %.300v", err)
				}
				if grew > most {
					t.Errorf("Load: %d bytes allocated for %d, want at most %d", grew, len(b), most)
				}
				if n := len(err.Error()); n > 64<<10 {
					t.Errorf("Load: an error text of %d bytes", n)
				}
				grew = allocated(func() { _, err = snapshot.Inspect(bytes.NewReader(b)) })
				if grew > most {
					t.Errorf("Inspect: %d bytes allocated for %d, want at most %d", grew, len(b), most)
				}
				if err != nil && len(err.Error()) > 64<<10 {
					t.Errorf("Inspect: an error text of %d bytes", len(err.Error()))
				}
				t.Logf("%.1f x of %d bytes", float64(grew)/float64(len(b)), len(b))
			})
		}
	}
}
