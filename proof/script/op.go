package script

// Op is an operation, an index in specs.
type Op int

// A where is a set of places of operations.
type where int

const (
	alone where = 1 << iota
	inWrite
	inTask
)

// takes is a set of operands of an operation, besides key=value.
type takes int

const (
	table takes = 1 << iota
	name        // %N
	names       // %N or %N*COUNT
	refs
	target // the first reference is the target, of a Set or Unset all; the others are links
	word
	body   // lines of tasks, or lines up to end
	order  // about the order of rows; does nothing to a stable table
	column // of the table; with sparse: a column or sparse component
	sparse
)

// spec has the syntax of an operation. Parser, printer and package draw use it, so that a
// new operation needs one line here.
type spec struct {
	name  string
	where where
	takes takes
	keys  []string
}

var (
	specs  []spec // by operation
	byName = make(map[string]Op)
)

// define adds an operation. The variables below call it in their order, before main begins.
func define(name string, where where, takes takes, keys ...string) Op {
	op := Op(len(specs))
	specs, byName[name] = append(specs, spec{name, where, takes, keys}), op
	return op
}

// The operations: outside writes, some also inside; inside a write; in a task.
var (
	Each            = define("each", alone|inWrite, body, "tasks")
	ForEach         = define("foreach", alone|inWrite, table|body, "add", "every", "rem", "touch", "wrote", "beside")
	Queues          = define("queues", alone, body, "tasks")
	Inbox           = define("inbox", alone|inWrite, body, "fail", "late")
	Flush           = define("flush", alone|inWrite, 0)
	FlushCancelled  = define("flush-cancelled", alone|inWrite, 0) // the context has ended
	FlushCancelPlan = define("flush-cancel-plan", alone|inWrite, 0)
	FlushCancelLate = define("flush-cancel-late", alone|inWrite, 0) // cancelled in the second step of the flush
	Discard         = define("discard", alone, 0)
	Reduce          = define("reduce", alone|inWrite, table)
	Read            = define("read", alone, refs)
	Write           = define("write", alone, body, "fail")
	Checkpoint      = define("checkpoint", alone|inWrite, 0, "as")
	Rollback        = define("rollback", alone|inWrite, 0, "to", "saved")
	AddColumn       = define("add-column", alone, table|word, "changes")
	AddSparse       = define("add-sparse", alone, table|word, "changes")
	ForEachRows     = define("foreach-rows", alone|inWrite, table|body|column, "c", "d", "add", "every", "rem", "wrote")
	ForEachSparse   = define("foreach-sparse", alone|inWrite, table|body|sparse, "c", "add", "every", "rem", "wrote")
	Misuse          = define("misuse", alone, word)

	Insert          = define("insert", inWrite, table|name|refs, "v")
	InsertItems     = define("insert-items", inWrite, table|names, "v")
	Remove          = define("remove", inWrite, table|refs)
	Clear           = define("clear", inWrite, table)
	SortTable       = define("sort-table", inWrite, table|order, "by")
	SortTableByKey  = define("sort-table-key", inWrite, table|order, "by")
	DefragmentTable = define("defragment-table", inWrite, table|order, "by", "budget")
	Exchange        = define("exchange", inWrite, table|column, "c", "d")
	WriteElement    = define("write-element", inWrite, table|refs|column|sparse, "c", "v")
	SortSparse      = define("sort-sparse", inWrite, table|sparse, "c")
	PutSparse       = define("put-sparse", inWrite, table|refs|sparse, "c", "v")
	RemoveSparse    = define("remove-sparse", inWrite, table|refs|sparse, "c")

	Emplace      = define("emplace", inTask, table|name|refs, "v")
	EmplaceItems = define("emplace-items", inTask, table|names|refs, "v", "share")
	EmplaceSelf  = define("emplace-self", inTask, table|name|refs, "v", "self", "erase") // completed as a staged value
	EmplaceDrawn = define("emplace-drawn", inTask, table|name|refs, "v")                 // with a random number, if the store has them
	Staged       = define("staged", inTask, table|refs|target, "v", "s")
	Erase        = define("erase", inTask, table|refs)
	EraseItems   = define("erase-items", inTask, table|refs)
	EraseAll     = define("erase-all", inTask, table)
	EraseID      = define("erase-id", inTask, refs)
	EraseRow     = define("erase-row", inTask, 0, "i")
	Put          = define("put", inTask, table|refs|target, "v", "s")
	Set          = define("set", inTask, table|refs|target|column|sparse, "c", "v", "s")
	Unset        = define("unset", inTask, table|refs|target|sparse, "c")
	Has          = define("has", inTask, refs)
	ReduceInTask = define("reduce-in-task", inTask, table)
	FailError    = define("error", inTask, 0)
	FailPanic    = define("panic", inTask, 0)
)

func (o Op) String() string { return specs[o].name }

// HasBody reports whether lines of tasks or lines up to end follow the operation.
func (o Op) HasBody() bool { return specs[o].takes&body != 0 }

// InTask reports whether the operation is a command of a task.
func (o Op) InTask() bool { return specs[o].where == inTask }

// Ops returns all operations, in the order of their numbers.
func Ops() []Op {
	all := make([]Op, len(specs))
	for i := range all {
		all[i] = Op(i)
	}
	return all
}

// Alone reports whether the operation may be outside of a write and of a task.
func (o Op) Alone() bool { return specs[o].where&alone != 0 }

// InWrite reports whether the operation may be inside a write.
func (o Op) InWrite() bool { return specs[o].where&inWrite != 0 }

// HasTable reports whether the operation names a table.
func (o Op) HasTable() bool { return specs[o].takes&table != 0 }

// Makes reports whether the operation creates items, and whether it creates
// many.
func (o Op) Makes() (items, many bool) {
	return specs[o].takes&(name|names) != 0, specs[o].takes&names != 0
}

// HasRefs reports whether the operation takes references.
func (o Op) HasRefs() bool { return specs[o].takes&refs != 0 }

// Keys returns the names of the arguments, in the order of [Step].Args.
func (o Op) Keys() []string { return specs[o].keys }

// NeedsOrder reports whether the operation depends on the order of rows, fixed
// in a stable table.
func (o Op) NeedsOrder() bool { return specs[o].takes&order != 0 }

// About reports whether the operation works on columns, which stable tables
// lack, and on sparse data. If both, it works on either.
func (o Op) About() (columns, optional bool) {
	return specs[o].takes&column != 0, specs[o].takes&sparse != 0
}

// NeedsRef reports whether the operation needs at least one reference.
func (o Op) NeedsRef() bool { return specs[o].takes&target != 0 }
