package storetest

import (
	"math"
	"reflect"
	"testing"
	"unsafe"

	"handloom/store"
)

type body struct {
	Pos    [2]float64
	name   string
	tags   []string
	owner  store.Handle[body]
	counts map[string]int
	any    any
	next   *int
	call   func()
	_      int
	c      complex64
}

func TestDifference_NamesFirstField(t *testing.T) {
	plain, blank := 1, body{c: 2}
	*(*int)(unsafe.Pointer(reflect.ValueOf(&blank).Elem().FieldByName("_").UnsafeAddr())) = 7
	for _, c := range []struct {
		x, y       any
		path, a, b string
	}{
		{body{Pos: [2]float64{1, 2}}, body{Pos: [2]float64{1, 2.5}}, "Pos[1]", "2", "2.5"},
		{body{Pos: [2]float64{0, 0}}, body{Pos: [2]float64{math.Copysign(0, -1), 1}}, "Pos[0]", "0", "-0"},
		{math.NaN(), math.Float64frombits(0x7ff8000000000002), "the item", "NaN (bits 0x7ff8000000000001)", "NaN (bits 0x7ff8000000000002)"},
		{body{name: "a"}, body{name: "b", tags: []string{"x"}}, "name", `"a"`, `"b"`},
		{body{tags: []string{"a", "b"}}, body{tags: []string{"a", "c", "d"}}, "tags[1]", `"b"`, `"c"`},
		{body{tags: []string{"a"}}, body{tags: []string{"a", "b"}}, "the length of tags", "1", "2"},
		{body{owner: store.Handle[body]{ID: 1<<48 | 1<<32 | 5}}, body{}, "owner.ID", "1:5.1", "0:0.0"},
		{body{counts: map[string]int{"a": 1, "b": 2}}, body{counts: map[string]int{"a": 1, "b": 3}}, `counts["b"]`, "2", "3"},
		{body{counts: map[string]int{"a": 1, "b": 2}}, body{counts: map[string]int{"b": 2, "c": 1}}, `counts["a"]`, "1", "missing"},
		{body{}, body{counts: map[string]int{"b": 2}}, `counts["b"]`, "missing", "2"},
		{body{any: 1}, body{any: uint8(1)}, "any (its type)", "int", "uint8"},
		{body{any: 1}, body{}, "any (its type)", "int", "nil"},
		{body{any: body{name: "x"}}, body{any: body{name: "y"}}, "any.name", `"x"`, `"y"`},
		{body{c: 1}, body{c: 1i}, "c", "1 + 0i", "0 + 1i"},
		{7, 8, "the item", "7", "8"},
		{true, false, "the item", "true", "false"},
		{[3]int8{1, 2, 3}, [3]int8{1, 2, 4}, "[2]", "3", "4"},
		{body{c: 2}, blank, "", "", ""},
		{body{next: &plain, call: func() {}, c: 2, tags: []string{}}, body{c: 2}, "", "", ""},
	} {
		path, a, b := difference(pointer(c.x), pointer(c.y))
		if c.path == "" {
			if a != b {
				t.Errorf("%+v and %+v differ in %s", c.x, c.y, path)
			}
			continue
		}
		if path != c.path || a != c.a || b != c.b {
			t.Errorf("%+v and %+v: %s is %s and %s, want %s, %s and %s", c.x, c.y, path, a, b, c.path, c.a, c.b)
		}
		if _, a, b := difference(pointer(c.x), pointer(c.x)); a != b {
			t.Errorf("%+v differs from itself: %s and %s", c.x, a, b)
		}
	}
}

func pointer(v any) any {
	p := reflect.New(reflect.TypeOf(v))
	p.Elem().Set(reflect.ValueOf(v))
	return p.Interface()
}

func TestDifference_AgreesWithDigest(t *testing.T) {
	values := []body{
		{},
		{Pos: [2]float64{1, 2}},
		{name: "a"},
		{tags: []string{"a"}},
		{tags: []string{"a", "b"}},
		{tags: []string{}},
		{owner: store.Handle[body]{ID: 3}},
		{counts: map[string]int{"a": 1}},
		{counts: map[string]int{"b": 1}},
		{any: 1},
		{any: "a"},
		{any: int8(1)},
		{c: 1i},
		{next: new(int)},
		{Pos: [2]float64{0, math.Copysign(0, -1)}},
	}
	digests := make([]uint64, len(values))
	for i, v := range values {
		s := store.New(store.Options{})
		table := store.Register(s, store.TableOptions[body]{Links: func(*body, func(*store.ID)) {}})
		qs, _ := s.Queues(1)
		table.Emplace(qs[0], v)
		if _, err := s.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		digests[i] = s.DigestTables()[0].Shards[0]
	}
	for i := range values {
		for j := range values {
			_, a, b := difference(&values[i], &values[j])
			if (a == b) != (digests[i] == digests[j]) {
				t.Errorf("%+v and %+v: texts %s and %s, digests %x and %x", values[i], values[j], a, b, digests[i], digests[j])
			}
		}
	}
}
