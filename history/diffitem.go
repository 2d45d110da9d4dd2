package history

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"handloom/internal/digest"
	"handloom/internal/hook"
	"handloom/store"
)

// A row is an item and its digest, with columns and sparse data.
type row struct {
	id  store.ID
	sum uint64
}

// rowsOf returns the rows of a table in their order, each as 16 bytes.
func rowsOf(s *store.Store, table string, i ignored) (rows []byte) {
	d := digester{ignored: i}
	for id, item := range s.DumpTable(table, 0) {
		d.h = digest.Hash{}
		d.add(table, reflect.ValueOf(item).Elem())
		for name, v := range s.DumpColumns(id) {
			d.h.String(name)
			d.add(table+"."+name, reflect.ValueOf(v).Elem())
		}
		rows = binary.BigEndian.AppendUint64(rows, uint64(id))
		rows = binary.BigEndian.AppendUint64(rows, d.h.Sum())
	}
	return rows
}

func (r *reply) rows() []row {
	rows := make([]row, 0, len(r.Rows)/16)
	for b := range slices.Chunk(r.Rows, 16) {
		if len(b) == 16 {
			rows = append(rows, row{store.ID(binary.BigEndian.Uint64(b)), binary.BigEndian.Uint64(b[8:])})
		}
	}
	return rows
}

// A digester hashes values without ignored fields.
type digester struct {
	ignored ignored
	h       digest.Hash
	b       []byte
}

// add hashes a value, which is addressable. path has its table.
func (d *digester) add(path string, v reflect.Value) {
	var without reflect.Value
	for _, i := range d.ignored {
		rest, ok := strings.CutPrefix(i, path)
		if !ok || rest != "" && rest[0] != '.' {
			continue
		}
		if rest == "" {
			return // all of it
		}
		if !without.IsValid() {
			without = reflect.New(v.Type()).Elem()
			without.Set(v)
		}
		if f, ok := fieldOf(without, rest[1:]); ok {
			writable(f).SetZero()
		}
	}
	if without.IsValid() {
		v = without
	}
	d.b = digest.Of(v.Type()).Append(d.b[:0], v.Addr().UnsafePointer(), 1)
	d.h.Bytes(d.b)
}

// fieldOf returns the field of a path such as "Pos.X" or "Slots.3", and whether it exists.
func fieldOf(v reflect.Value, path string) (reflect.Value, bool) {
	for name := range strings.SplitSeq(path, ".") {
		switch v.Kind() {
		case reflect.Struct:
			f, ok := v.Type().FieldByName(name)
			if !ok {
				return v, false
			}
			for _, i := range f.Index {
				if v.Kind() != reflect.Struct {
					return v, false
				}
				v = v.Field(i)
			}
		case reflect.Array:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= v.Len() {
				return v, false
			}
			v = v.Index(i)
		default:
			return v, false
		}
	}
	return v, true
}

// ignored are values that may differ, as "table.Field" or ignoreFlushes.
type ignored []string

const ignoreFlushes = "flushes"

// newIgnored checks that the values exist.
func newIgnored(s *store.Store, values []string) (ignored, error) {
	if len(values) == 0 {
		return nil, nil
	}
	probe, err := hook.NewProbe(s)
	if err != nil {
		return nil, err
	}
	defer probe.Close()
	var errs []error
	for _, v := range values {
		if v == ignoreFlushes {
			continue
		}
		table, field, ok := strings.Cut(v, ".")
		tables := s.DigestTables()
		i := slices.IndexFunc(tables, func(t store.TableDigest) bool { return t.Name == table })
		if !ok || field == "" || i < 0 {
			errs = append(errs, fmt.Errorf("ignore: got %q, want TABLE.FIELD or %s", v, ignoreFlushes))
		} else if err := probe.Watch(anyItem(tables[i].TypeID), field); err != nil {
			errs = append(errs, fmt.Errorf("ignore %q: %w", v, err))
		}
	}
	return values, errors.Join(errs...)
}

// anyItem returns an ID of a table, which need not exist.
func anyItem(typeID uint16) uint64 {
	id, _ := store.ParseID(fmt.Sprintf("%d:0.1", typeID))
	return uint64(id)
}

// has reports whether values of a table are ignored.
func (i ignored) has(table string) bool {
	return slices.ContainsFunc(i, func(v string) bool { return strings.HasPrefix(v, table+".") })
}

// covers reports whether a value is ignored, alone or within an ignored value.
func (i ignored) covers(path string) bool {
	return slices.ContainsFunc(i, func(v string) bool { return path == v || strings.HasPrefix(path, v+".") })
}

// A leaf is a value without fields. Its path is as in [History.Why].
type leaf struct {
	Path string
	Text string
	Sum  uint64
}

// leavesOf returns the leaves of an item, after one without path for the item itself. The
// leaves of a column or sparse data follow a leaf with its name. Both kinds of first leaf have no
// digest.
func leavesOf(s *store.Store, table string, id store.ID, i ignored) []leaf {
	w := leafWriter{table: table, ignored: i}
	for other, item := range s.DumpTable(table, 0) {
		if other == id {
			w.value("", reflect.ValueOf(item).Elem())
			break
		}
	}
	for name, v := range s.DumpColumns(id) {
		w.value(name, reflect.ValueOf(v).Elem())
	}
	return w.leaves
}

type leafWriter struct {
	table   string
	ignored ignored
	leaves  []leaf
}

// value adds an item, a column or sparse data: its presence, and its leaves.
func (w *leafWriter) value(path string, v reflect.Value) {
	if w.ignored.covers(w.table + "." + path) {
		return
	}
	w.leaves = append(w.leaves, leaf{Path: path, Text: textOf(v)})
	w.leavesIn(path, v)
}

// maxElements are the elements of an array that is not one leaf.
const maxElements = 256

func (w *leafWriter) leavesIn(path string, v reflect.Value) {
	if w.ignored.covers(w.table + "." + path) {
		return
	}
	join := func(name string) string { return strings.TrimPrefix(path+"."+name, ".") }
	switch t := v.Type(); {
	case t.Kind() == reflect.Struct && (path == "" || !isText(t)):
		for i := range t.NumField() {
			if name := t.Field(i).Name; name != "_" {
				w.leavesIn(join(name), v.Field(i))
			}
		}
	case t.Kind() == reflect.Array && t.Len() <= maxElements:
		for i := range t.Len() {
			w.leavesIn(join(strconv.Itoa(i)), v.Index(i))
		}
	default:
		var h digest.Hash
		h.Bytes(digest.Of(t).Append(nil, v.Addr().UnsafePointer(), 1))
		w.leaves = append(w.leaves, leaf{path, textOf(v), h.Sum() | 1}) // never 0
	}
}

func isText(t reflect.Type) bool { return t.Implements(reflect.TypeFor[fmt.Stringer]()) }

// textOf returns the text of a value as in a [Change].
func textOf(v reflect.Value) string {
	if v.Kind() == reflect.String {
		return strconv.Quote(v.String())
	}
	if text := fmt.Sprintf("%+v", writable(v).Interface()); text != "" {
		return text
	}
	return strconv.Quote("")
}
