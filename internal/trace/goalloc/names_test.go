package goalloc_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handloom/internal/trace/goalloc"
)

// wireBatch returns the text of a batch that gives one type its number.
func wireBatch(gen, number int, address uint64, name string) string {
	data := []byte{0}
	for _, v := range []uint64{uint64(number), address, 24, 8, uint64(len(name))} {
		data = binary.AppendUvarint(data, v)
	}
	return fmt.Sprintf("ExperimentalBatch exp=1 gen=%d m=1 time=5\n\tdata=%q\n", gen, string(data)+name)
}

func TestTypesAreTheSameInEveryGeneration(t *testing.T) {
	text := begin().alloc(0, 1, 5).alloc(0, 2, 6).generation(10, 2).alloc(20, 3, 6).alloc(20, 4, 0).generation(30, 3).alloc(40, 5, 6).String()
	tests := []struct {
		name, wire, want string
		tables           []string
	}{
		{
			"known", wireBatch(1, 5, 100, "p.A") + wireBatch(1, 6, 200, "p.B") + wireBatch(2, 6, 100, "p.A") + wireBatch(3, 6, 200, "p.B"),
			"C 1 0; C 2 0; C 1 1; C 3 0; C 2 1; T",
			[]string{"goroutines", "p.A", "p.B", "memory without a type"},
		},
		{
			"two of one name", wireBatch(1, 5, 100, "p.A") + wireBatch(1, 6, 200, "p.A") + wireBatch(2, 6, 200, "p.A") + wireBatch(3, 6, 200, "p.A"),
			"C 3 0; C 1 0; C 1 1; C 2 0; C 1 2; T",
			[]string{"goroutines", "p.A", "memory without a type", "p.A"},
		},
		{
			"unknown", "",
			"C 2 0; C 3 0; C 4 0; C 1 0; C 5 0; T",
			[]string{"goroutines", "memory without a type", "type 5 of generation 1", "type 6 of generation 1", "type 6 of generation 2", "type 6 of generation 3"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var names *goalloc.TypeNames
			if tt.wire != "" {
				var err error
				if names, err = goalloc.ReadTypeNames(strings.NewReader(tt.wire), "x.wire"); err != nil {
					t.Fatal(err)
				}
			}
			got, sum := convert(t, text, goalloc.Options{Types: names})
			if diff := cmp.Diff(tt.want, short(got)); diff != "" {
				t.Errorf("events differ (-want +got):\n%s", diff)
			}
			var tables []string
			for _, table := range sum.Tables {
				tables = append(tables, table.Name)
			}
			if diff := cmp.Diff(tt.tables, tables); diff != "" {
				t.Errorf("tables differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTypeNamesBecomeHarmlessComments(t *testing.T) {
	name := "p.A\nC 1 2\r" + strings.Repeat("x", 5000)
	names, err := goalloc.ReadTypeNames(strings.NewReader(wireBatch(1, 5, 100, name)), "x.wire")
	if err != nil {
		t.Fatal(err)
	}
	got, _ := convert(t, begin().alloc(0, 1, 5).String(), goalloc.Options{Types: names})
	if short(got) != "C 1 0; T" || len(got) > 500 {
		t.Errorf("the trace is %s", got)
	}
}

func TestReadTypeNamesNamesFileLineAndReason(t *testing.T) {
	const none = "no types in the text; want that of: go tool trace -d=wire, of a trace taken with GODEBUG=traceallocfree=1"
	const head = "ExperimentalBatch exp=1 gen=1 m=1 time=5\n"
	tests := []struct{ name, text, want string }{
		{"empty", "", "1: " + none},
		{"no types", "EventBatch gen=1 m=1 time=5\nSync\n", "2: " + none},
		{"only about the heap", head + "\tdata=\"\\x01\\x80\"\n", "2: " + none},
		{"cut off behind the batch", head, "1: the text ends before the data of this batch"},
		{"cut off within the data", head + "\tdata=\"\\x00\\x05", `2: unreadable data "\tdata=\"\\x00\\x05" of an experimental batch`},
		{"cut off within a type", head + "\tdata=\"\\x00\\x05\\x05\"\n", "2: type 0 of the batch is cut off"},
		{"cut off within a name", head + "\tdata=\"\\x00\\x05\\x05\\x05\\x05\\x05ab\"\n", "2: the name of type 0 of the batch is cut off"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := goalloc.ReadTypeNames(strings.NewReader(tt.text), "x.wire")
			checkFault(t, err, "x.wire:"+tt.want)
		})
	}
}
