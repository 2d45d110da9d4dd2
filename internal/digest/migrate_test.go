package digest

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

var randomBasics = []reflect.Type{
	reflect.TypeFor[bool](), reflect.TypeFor[string](), reflect.TypeFor[float32](), reflect.TypeFor[complex128](),
	reflect.TypeFor[int8](), reflect.TypeFor[int16](), reflect.TypeFor[int32](), reflect.TypeFor[int64](),
	reflect.TypeFor[uint8](), reflect.TypeFor[uint16](), reflect.TypeFor[uint32](), reflect.TypeFor[uint64](),
}

// randomType returns a random type.
func randomType(r *rand.Rand, depth int) reflect.Type {
	kind := r.IntN(8)
	if depth > 2 {
		kind = 7
	}
	switch kind {
	case 0:
		return reflect.SliceOf(randomType(r, depth+1))
	case 1:
		return reflect.ArrayOf(1+r.IntN(3), randomType(r, depth+1))
	case 2:
		return reflect.MapOf(randomBasics[4+r.IntN(8)], randomType(r, depth+1))
	case 3, 4:
		return randomStruct(r, depth+1)
	}
	return randomBasics[r.IntN(len(randomBasics))]
}

func randomStruct(r *rand.Rand, depth int) reflect.Type {
	var fields []reflect.StructField
	for _, name := range strings.Split("A B C D E F", " ")[:1+r.IntN(6)] {
		fields = append(fields, reflect.StructField{Name: name, Type: randomType(r, depth)})
	}
	return reflect.StructOf(fields)
}

// evolve returns a later version of t.
func evolve(r *rand.Rand, t reflect.Type) reflect.Type {
	switch t.Kind() {
	case reflect.Struct:
		var fields []reflect.StructField
		for f := range t.Fields() {
			switch r.IntN(12) {
			case 0: // removed
			case 1:
				fields = append(fields, reflect.StructField{Name: f.Name, Type: randomType(r, 2)})
			default:
				fields = append(fields, reflect.StructField{Name: f.Name, Type: evolve(r, f.Type)})
			}
		}
		for _, name := range []string{"X", "Y"}[:r.IntN(3)] {
			fields = append(fields, reflect.StructField{Name: name, Type: randomType(r, 2)})
		}
		r.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
		if len(fields) == 0 {
			return t
		}
		return reflect.StructOf(fields)
	case reflect.Slice:
		return reflect.SliceOf(evolve(r, t.Elem()))
	case reflect.Array:
		return reflect.ArrayOf(t.Len()+r.IntN(5)/4, evolve(r, t.Elem()))
	case reflect.Map:
		return reflect.MapOf(evolve(r, t.Key()), evolve(r, t.Elem()))
	}
	if i := slices.Index(randomBasics, t); i >= 4 && r.IntN(2) == 0 {
		return randomBasics[min(i+r.IntN(3), len(randomBasics)-1)]
	}
	return t
}

// fits reports whether from is read as to.
func fits(from, to reflect.Type) bool {
	switch {
	case from.Kind() == reflect.Struct && to.Kind() == reflect.Struct:
		return true
	case from.Kind() == reflect.Array && to.Kind() == reflect.Array:
		return from.Len() == to.Len() && fits(from.Elem(), to.Elem())
	case from.Kind() == reflect.Slice && to.Kind() == reflect.Slice:
		return fits(from.Elem(), to.Elem())
	case from.Kind() == reflect.Map && to.Kind() == reflect.Map:
		return fits(from.Key(), to.Key()) && fits(from.Elem(), to.Elem())
	case from.Kind() == to.Kind():
		return true
	}
	zero := reflect.Zero(to)
	switch {
	case reflect.Zero(from).CanInt() && zero.CanInt():
		return to.Size() > from.Size()
	case reflect.Zero(from).CanUint() && (zero.CanUint() || zero.CanInt()):
		return to.Size() > from.Size()
	}
	return false
}

// migrate sets to from from by reflection alone.
func migrate(to, from reflect.Value) {
	if !fits(from.Type(), to.Type()) {
		return
	}
	switch from.Kind() {
	case reflect.Struct:
		for f, v := range to.Fields() {
			if old := from.FieldByName(f.Name); old.IsValid() {
				migrate(v, old)
			}
		}
	case reflect.Slice:
		if from.Len() > 0 {
			to.Set(reflect.MakeSlice(to.Type(), from.Len(), from.Len()))
		}
		fallthrough
	case reflect.Array:
		for i := range from.Len() {
			migrate(to.Index(i), from.Index(i))
		}
	case reflect.Map:
		if from.Len() > 0 {
			to.Set(reflect.MakeMap(to.Type()))
		}
		for key, value := range from.Seq2() {
			k, v := reflect.New(to.Type().Key()).Elem(), reflect.New(to.Type().Elem()).Elem()
			migrate(k, key)
			migrate(v, value)
			to.SetMapIndex(k, v)
		}
	default:
		to.Set(from.Convert(to.Type()))
	}
}

// from returns the migration from old to typ.
func from(t *testing.T, typ, old reflect.Type) *Migration {
	t.Helper()
	s, err := ParseSchema(Of(old).Schema())
	if err != nil {
		t.Fatal(err)
	}
	return Of(typ).From(s)
}

func decodeAs(m *Migration, typ reflect.Type, to unsafe.Pointer, n int, b []byte, piece int) *Decoder {
	d := NewDecoder(pieces(b, piece))
	d.Migrate(m)
	Of(typ).DecodeItems(d, to, n)
	return d
}

// codableType draws until a struct type is codable.
func codableType(draw func() reflect.Type) reflect.Type {
	for {
		if t := draw(); Of(t).Codable() == nil && t.Kind() == reflect.Struct {
			return t
		}
	}
}

func TestMigration_ReadsByName(t *testing.T) {
	seeds, mismatches, good, bad := 400, 0, 0, 0
	if testing.Short() {
		seeds = 80
	}
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 1))
		old := codableType(func() reflect.Type { return randomStruct(r, 0) })
		typ := codableType(func() reflect.Type { return evolve(r, old) })
		m := from(t, typ, old)
		mismatches += len(m.Mismatches)
		const n = 20
		items := drawItems(r, old, n)
		at := 0
		m.Item = func(f Fields, _ unsafe.Pointer) error {
			as := reflect.New(typ) // Read replaces the old value
			draw(r, as.Elem(), 0)
			if f.Read("", as.Interface()) == nil {
				want := reflect.New(typ)
				if migrate(want.Elem(), items.Index(at)); !reflect.DeepEqual(as.Interface(), want.Interface()) {
					t.Fatalf("seed %d: item %d is read as %v; want %v", seed, at, as.Elem(), want.Elem())
				}
			}
			whole := reflect.New(old)
			if err := f.Read("", whole.Interface()); err != nil || !reflect.DeepEqual(whole.Elem().Interface(), items.Index(at).Interface()) {
				t.Fatalf("seed %d: item %d is %v, %v", seed, at, whole.Elem(), err)
			}
			for field, v := range items.Index(at).Fields() {
				got := reflect.New(field.Type)
				if err := f.Read(field.Name, got.Interface()); err != nil || !reflect.DeepEqual(got.Elem().Interface(), v.Interface()) {
					t.Fatalf("seed %d: field %s of %v is %v, %v", seed, field.Name, items.Index(at), got.Elem(), err)
				}
			}
			at++
			return nil
		}
		got := reflect.MakeSlice(reflect.SliceOf(typ), n, n)
		d := decodeAs(m, typ, got.UnsafePointer(), n, Of(old).stream(items.UnsafePointer(), n), 1+r.IntN(60))
		if d.Err() != nil || d.Remaining() > 0 || at != n {
			t.Fatalf("seed %d: %v as %v: %d items, %v, %d bytes left", seed, old, typ, at, d.Err(), d.Remaining())
		}
		for i := range n {
			want := reflect.New(typ).Elem()
			if migrate(want, items.Index(i)); !reflect.DeepEqual(got.Index(i).Interface(), want.Interface()) {
				t.Fatalf("seed %d: %v as %v: %v is read as %v; want %v", seed, old, typ, items.Index(i), got.Index(i), want)
			}
		}
		m.Item = nil
		whole := Of(old).stream(items.UnsafePointer(), 1)
		for range 25 { // forged bytes are refused or decoded
			b := bytes.Clone(whole)
			if b[r.IntN(len(b))] ^= 1 << r.IntN(8); r.IntN(3) == 0 {
				b = b[:r.IntN(len(b))]
			}
			if err := decodeAs(m, typ, reflect.New(typ).UnsafePointer(), 1, b, 16).Err(); err == nil {
				good++
			} else if bad++; !errors.Is(err, ErrEncoding) && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatal(err)
			}
		}
	}
	if mismatches < seeds/8 || good < seeds*5/2 || bad < seeds*5/2 {
		t.Errorf("%d fields did not fit, %d items were read, %d refused", mismatches, good, bad)
	}
}

type (
	kin struct {
		Leaf int8
		Kids []kin
		Name string
	}
	newKin struct {
		Kids []newKin
		Leaf int
		Seen map[string]newKin
	}
)

func TestMigration_RecursiveType(t *testing.T) {
	m := from(t, reflect.TypeFor[newKin](), reflect.TypeFor[kin]())
	old := kin{-1, []kin{{Leaf: 2, Name: "x"}, {Kids: []kin{{Leaf: -3}}}}, "root"}
	var got newKin
	d := decodeAs(m, reflect.TypeFor[newKin](), unsafe.Pointer(&got), 1, Of(reflect.TypeFor[kin]()).stream(unsafe.Pointer(&old), 1), 7)
	want := newKin{Leaf: -1, Kids: []newKin{{Leaf: 2}, {Kids: []newKin{{Leaf: -3}}}}}
	if d.Err() != nil || !reflect.DeepEqual(got, want) || len(m.Mismatches) > 0 {
		t.Errorf("%+v, %v, mismatches %v", got, d.Err(), m.Mismatches)
	}
}

// A forged schema may repeat a field.
func TestMigration_ReadsRepeatedFieldOnce(t *testing.T) {
	type pair struct{ A, B int32 }
	codec := Of(reflect.TypeFor[pair]())
	s, err := ParseSchema(strings.Replace(codec.Schema(), "B ", "A ", 1))
	if err != nil {
		t.Fatal(err)
	}
	var got pair
	d := decodeAs(codec.From(s), reflect.TypeFor[pair](), unsafe.Pointer(&got), 1, codec.stream(unsafe.Pointer(&pair{1, 2}), 1), 7)
	if d.Err() != nil || got != (pair{A: 1}) {
		t.Errorf("got %+v and %v from a schema %v, want the first A", got, d.Err(), s)
	}
}

func TestFields_ReadErrors(t *testing.T) {
	type before struct {
		N    int32
		Name string
	}
	m := from(t, reflect.TypeFor[int8](), reflect.TypeFor[before]())
	stop := errors.New("stop")
	m.Item = func(f Fields, _ unsafe.Pointer) error {
		var n int16
		var p *int
		for what, err := range map[string]error{
			"no field M":               f.Read("M", &n),
			"cannot be read as int16":  f.Read("N", &n),
			"into a pointer":           f.Read("N", n),
			"not into *int":            f.Read("N", p),
			"kind ptr cannot be read":  f.Read("Name", &p),
			"cannot be read as []int8": f.Read("Name", new([]int8)),
		} {
			if err == nil || !strings.Contains(err.Error(), what) {
				t.Errorf("%v; want %q", err, what)
			}
		}
		return stop
	}
	b := Of(reflect.TypeFor[before]()).stream(unsafe.Pointer(&before{1, "x"}), 1)
	d := decodeAs(m, reflect.TypeFor[int8](), unsafe.Pointer(new(int8)), 1, b, 50)
	if !errors.Is(d.Err(), stop) {
		t.Error(d.Err())
	}
}

func TestParseSchema_RoundTripsOrRefuses(t *testing.T) {
	for typ, text := range decodable {
		p := Of(typ)
		if p.Recursive() != strings.Contains(text, "@") {
			t.Errorf("%v: Recursive = %t", typ, p.Recursive())
		}
		if got := p.Schema(); got != text || p.Codable() != nil {
			t.Errorf("%v is %s, %v; want %s", typ, got, p.Codable(), text)
		}
		if s, err := ParseSchema(text); err != nil || s.String() != text || int(s.least) != p.root.least {
			t.Errorf("%s is understood as %v, %v", text, s, err)
		}
	}
	deep := strings.Repeat("[]", 1000) + "int8"
	for _, text := range []string{
		"", "int", "ptr", "struct", "struct{", "struct{A}", "struct{A int8", "struct{A int8;B int8}", "struct{A int8}}", "[]", "[x]int8", "[-1]int8",
		"[2", "[2]", "map[", "map[int8", "map[int8]", "@1", "@0", "struct{A @1}", "struct{A [2]@2}", "[]struct{A struct{B @1}}", "[]@2", "[]struct{}", "[][0]string", "[]struct{A [0][]int8}", "map[[0]string]int8",
		"map[struct{}]int8", "[67108865]int8", "[1073741824][1073741824]int64", "[99999999999999999999]int8", "struct{A [60000000]int8; B [60000000]int8}", deep, "int8 ", "interface", "[1]ptr", "map[bool][0]any", "struct{A [0]ptr; B ptr}", "[0]ptr]",
	} {
		if s, err := ParseSchema(text); err == nil {
			t.Errorf("%q is understood as %v", text, s)
		}
	}
}

func TestIndentSchema_LineByLine(t *testing.T) {
	const want = "map[string]struct{\n\tA int8\n\tB []struct{\n\t\tC bool\n\t}\n\tD map[int8]struct{}\n}"
	if got := IndentSchema("map[string]struct{A int8; B []struct{C bool}; D map[int8]struct{}}"); got != want {
		t.Errorf("%q", got)
	}
	if got := IndentSchema("}};{"); got != "\n}\n};{\n\t" {
		t.Errorf("%q", got)
	}
}

func TestParseSchema_ForgeryAllocatesLittle(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("struct{a ", 5000), "struct{" + strings.Repeat("A int8; ", 5000) + "A int8}", strings.Repeat("[1]", 5000), strings.Repeat("map[", 5000),
	} {
		grew := allocated(func() {
			if s, err := ParseSchema(text); err == nil {
				Of(reflect.TypeFor[kin]()).From(s)
			}
		})
		if grew > uint64(64*len(text)) {
			t.Errorf("%d bytes for %d", grew, len(text))
		}
	}
}
