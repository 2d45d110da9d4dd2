package script_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"handloom/proof/script"
)

const sample = `handloom-stress 1
seed 42
revision abc1234
narrow generations=7 slots=16
store batch=100
table t0 packed rich shards=4 chunk=16
table hot stable word max=12 minfree=3
config workers=4 procs=2 shuffle=9 yield=10
config workers=1
do
add-column t0 rich changes=1
add-column t0 word
add-sparse hot rich
write fail=1
  insert t0 %1 %5 v=17
  insert-items hot %2*64 v=3
  remove t0 %1 %2
  sort-table t0 by=1
  exchange t0 c=1
  write-element t0 %1 c=1 v=4
  sort-sparse hot
end
each tasks=2
  @0 emplace t0 %100 %1 ~2 #1f00000000 v=5
  @0 put t0 %100 %100 v=6 s=90
  @0 erase-items t0 %1*3 %7+g-g+s^63@hot
  @0 set t0 %100 %1 c=1 v=3 s=91
  @0 set hot %2*64 v=3 s=92
  @0 unset hot %2
  @0 erase-all hot
  @1 panic
foreach t0 add=5 touch=1 wrote=2 beside=2
  @1 erase t0 .5
foreach-rows t0 d=1 add=1 wrote=2
  @0 erase-row i=1
foreach-sparse hot add=1
  @0 unset hot .5
misuse write-in-read
flush
`

func TestText_IsTheInverseOfParse(t *testing.T) {
	first, rest, _ := strings.Cut(sample, "\n")
	for name, text := range map[string]string{
		"as it is":             sample,
		"with comments, blank": first + "\n\n# 1\n" + strings.ReplaceAll(rest, "\n", " # said\n\n"),
	} {
		p, err := script.Parse([]byte(text), "sample")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := string(p.Text()); got != sample {
			t.Errorf("%s: the text is\n%s\nwant\n%s", name, got, sample)
		}
	}
}

func TestParse_ErrorsNameFileLineAndReason(t *testing.T) {
	const head = "handloom-stress 1\ntable a packed word shards=2\ndo\n"
	tests := map[string]string{
		"":                           "f:1: the file is empty; want \"handloom-stress 1\"",
		"handloom-trace 1\n":         "f:1: the first line is \"handloom-trace 1\"; want \"handloom-stress 1\"",
		"handloom-stress 1\n":        "f:1: the program has no line \"do\"",
		"handloom-stress 1\nsize 2":  "f:2: no setting is called \"size\"; want seed, revision, narrow, store, table, config or do",
		"handloom-stress 1\nseed -1": "f:2: seed: \"-1\" is not a number below 2^64",
		"handloom-stress 1\ntable a packed word\ntable a packed word":   "f:3: there are two tables \"a\"",
		"handloom-stress 1\ntable a.b packed word":                      "f:2: \"a.b\" is not a table name; want letters and digits, a letter first",
		"handloom-stress 1\ntable a packed word chunk=x":                "f:2: chunk: \"x\" is not a number from 0 to 1048576",
		"handloom-stress 1\nconfig workers=1 workers=2":                 "f:2: workers is given twice",
		"handloom-stress 1\nconfig speed=1":                             "f:2: no setting is called \"speed\"; want workers, procs, team, shuffle, yield, delay",
		head + "jump":                                                   "f:4: no operation is called \"jump\"",
		head + "end":                                                    "f:4: end ends no write",
		head + "write":                                                  "f:4: the last write has no \"end\"",
		head + "clear a":                                                "f:4: clear cannot stand alone",
		head + "write\nqueues tasks=1\nend":                             "f:5: queues cannot stand inside a write",
		head + "flush\n@0 error":                                        "f:5: a line of a task does not follow a step with tasks",
		head + "each tasks=1\n@0 flush":                                 "f:5: flush cannot stand in a task",
		head + "each tasks=9999":                                        "f:4: each: tasks: \"9999\" is not a number from 0 to 4096",
		head + "each tasks=1\n@0":                                       "f:5: want an operation after @0",
		head + "reduce b":                                               "f:4: reduce: no table is called \"b\"",
		head + "reduce a.1":                                             "f:4: reduce: no table is called \"a.1\"",
		head + "reduce":                                                 "f:4: reduce: want a table",
		head + "write\ninsert a v=1\nend":                               "f:5: insert: \"v=1\": want a name, %N",
		head + "write\ninsert a %1*2\nend":                              "f:5: insert: \"%1*2\": it makes one item",
		head + "write\ninsert a %1\ninsert a %1\nend":                   "f:6: insert: %1 is made twice",
		head + "write\ninsert a %0\nend":                                "f:5: insert: names begin with %1",
		head + "flush %1":                                               "f:4: flush: \"%1\": it takes no reference",
		head + "flush x":                                                "f:4: flush: \"x\" is not key=value",
		head + "add-column a":                                           "f:4: add-column: want a word",
		head + "add-column a big":                                       "f:4: add-column: \"big\" is not a kind of element; want word, rich",
		"handloom-stress 1\ntable a stable word\ndo\nadd-column a word": "f:4: add-column: table a is stable and has no columns",
		head + "each tasks=1\n@0 put a v=1":                             "f:5: put: want a reference",
		head + "each tasks=1\n@0 erase a %1+x":                          "f:5: erase: \"%1+x\": no forging is called \"+x\"; want +g, -g, +s, ^BIT or @TABLE",
		head + "each tasks=1\n@0 erase a %1^64":                         "f:5: erase: \"%1^64\": \"64\" is not a number from 0 to 63",
		head + "each tasks=1\n@0 erase a %1@b":                          "f:5: erase: \"%1@b\": no table is called \"b\"",
		head + "each tasks=1\n@0 erase a #xyz":                          "f:5: erase: \"#xyz\": want # and up to 16 hexadecimal digits",
		head + "each tasks=1\n@0 erase a .5*3":                          "f:5: erase: \".5*3\": a row names one item",
	}
	for text, want := range tests {
		_, err := script.Parse([]byte(text), "f")
		if err == nil || err.Error() != want {
			t.Errorf("%q:\n\t%v\nwant\n\t%s", text, err, want)
		}
		if fault := new(script.Error); !errors.As(err, &fault) {
			t.Errorf("%q: the error is a %T", text, err)
		}
	}
}

func TestText_CoversEveryOperation(t *testing.T) {
	names := make(map[string]bool)
	for _, op := range script.Ops() {
		if op.String() == "" || names[op.String()] {
			t.Errorf("operation %d is called %q", int(op), op)
		}
		names[op.String()] = true
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte("handloom-stress 1\ntable a stable rich\ndo\neach tasks=3\n@2 emplace-items a %1*0\n@1 staged a ~1+g^3 %1 s=4\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := script.Parse(text, "fuzz")
		if err != nil {
			if fault := new(script.Error); !errors.As(err, &fault) || fault.Line < 1 || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		once := p.Text()
		again, err := script.Parse(once, "again")
		if err != nil {
			t.Fatalf("%v in\n%s", err, once)
		}
		if twice := again.Text(); !bytes.Equal(once, twice) {
			t.Fatalf("the text is\n%s\nthen\n%s", once, twice)
		}
	})
}
