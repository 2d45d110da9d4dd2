package script

// Op is what a step does.
type Op int

// The operations. Those of the first group stand alone or, but for a few, inside
// a write; those of the second inside a write; those of the third in a task.
const (
	Each Op = iota
	ForEach
	Queues
	Inbox
	Flush
	FlushCancelled // with a context that has ended
	FlushCancelPlan
	FlushCancelLate // cancelled in the second step of the flush
	FlushLinkPanic  // Links panics at its n-th call
	Discard
	Reduce
	Read
	Write
	Checkpoint
	Rollback
	Schedule
	AddColumn
	AddSparse
	ForEachRows
	ForEachSparse
	Misuse

	Insert
	InsertItems
	EmplaceItemsNow
	InsertFunc
	EraseNow
	Remove
	TakeNow
	EraseItemsNow
	EraseFunc
	EraseBackward
	Clear
	ClearMap
	Reset
	SortFunc
	SortByKey
	SortRange
	SortAs
	Partition
	Swap
	Defragment
	ForgetOrder
	SetNow
	CallNow
	Look
	SortTable
	SortTableByKey
	DefragmentTable
	ReserveNow
	Shrink
	Clone
	EndFrame
	Exchange
	WriteElement
	SortSparse

	Emplace
	EmplaceItems
	EmplaceFunc
	Staged
	Erase
	EraseItems
	EraseAll
	EraseID
	EraseRow
	Put
	Set
	Unset
	Has
	ReduceInTask
	FailError
	FailPanic
	FailGoexit

	ops
)

// where an operation may stand.
type where int

const (
	alone where = 1 << iota
	inWrite
	inTask
)

// takes says what a line of an operation has besides key=value.
type takes int

const (
	table takes = 1 << iota
	shard       // with a table: NAME or NAME.SHARD
	name        // %N
	names       // %N or %N*COUNT
	refs
	target // of the refs the first is the target, of a set or unset many; the others are links
	word
	body // lines of tasks, or up to end
)

type spec struct {
	name  string
	where where
	takes takes
	keys  []string
}

var specs = [ops]spec{
	Each:            {"each", alone | inWrite, body, []string{"tasks", "cancel"}},
	ForEach:         {"foreach", alone | inWrite, table | body, []string{"add", "every", "rem", "touch", "cancel", "wrote", "beside"}},
	Queues:          {"queues", alone, body, []string{"tasks"}},
	Inbox:           {"inbox", alone | inWrite, body, []string{"fail", "late"}},
	Flush:           {"flush", alone | inWrite, 0, nil},
	FlushCancelled:  {"flush-cancelled", alone | inWrite, 0, nil},
	FlushCancelPlan: {"flush-cancel-plan", alone | inWrite, 0, nil},
	FlushCancelLate: {"flush-cancel-late", alone | inWrite, 0, nil},
	FlushLinkPanic:  {"flush-link-panic", alone | inWrite, 0, []string{"n"}},
	Discard:         {"discard", alone, 0, nil},
	Reduce:          {"reduce", alone | inWrite, table, nil},
	Read:            {"read", alone, refs, nil},
	Write:           {"write", alone, body, []string{"fail"}},
	Checkpoint:      {"checkpoint", alone | inWrite, 0, []string{"as"}},
	Rollback:        {"rollback", alone | inWrite, 0, []string{"to", "saved"}},
	Schedule:        {"schedule", alone | inWrite, body, []string{"tasks", "reader"}},
	AddColumn:       {"add-column", alone, table | word, []string{"changes"}},
	AddSparse:       {"add-sparse", alone, table | word, nil},
	ForEachRows:     {"foreach-rows", alone | inWrite, table | body, []string{"c", "d", "add", "every", "rem", "wrote", "cancel"}},
	ForEachSparse:   {"foreach-sparse", alone | inWrite, table | body, []string{"c", "add", "every", "rem", "cancel"}},
	Misuse:          {"misuse", alone, word, nil},

	Insert:          {"insert", inWrite, table | name | refs, []string{"v"}},
	InsertItems:     {"insert-items", inWrite, table | shard | names, []string{"v"}},
	EmplaceItemsNow: {"emplace-items-now", inWrite, table | shard | names, []string{"v", "panic"}},
	InsertFunc:      {"insert-func", inWrite, table | shard | name, []string{"v", "panic"}},
	EraseNow:        {"erase-now", inWrite, table | refs, nil},
	Remove:          {"remove", inWrite, table | refs, nil},
	TakeNow:         {"take-now", inWrite, table | refs, nil},
	EraseItemsNow:   {"erase-items-now", inWrite, table | shard | refs, nil},
	EraseFunc:       {"erase-func", inWrite, table | shard, []string{"every", "rem", "panic"}},
	EraseBackward:   {"erase-backward", inWrite, table | shard, []string{"every", "rem"}},
	Clear:           {"clear", inWrite, table, nil},
	ClearMap:        {"clear-map", inWrite, table | shard, nil},
	Reset:           {"reset", inWrite, table | shard, nil},
	SortFunc:        {"sort", inWrite, table | shard, []string{"by", "panic"}},
	SortByKey:       {"sort-key", inWrite, table | shard, []string{"by"}},
	SortRange:       {"sort-range", inWrite, table | shard, []string{"by", "i", "j"}},
	SortAs:          {"sort-as", inWrite, table | shard | refs, nil},
	Partition:       {"partition", inWrite, table | shard, []string{"every", "rem"}},
	Swap:            {"swap", inWrite, table | shard | refs, nil},
	Defragment:      {"defragment", inWrite, table | shard, []string{"by", "budget"}},
	ForgetOrder:     {"forget-order", inWrite, table | shard, nil},
	SetNow:          {"set-now", inWrite, table | refs, []string{"v"}},
	CallNow:         {"call-now", inWrite, table | refs, []string{"v"}},
	Look:            {"look", inWrite, table | shard | refs, nil},
	SortTable:       {"sort-table", inWrite, table, []string{"by", "panic", "cancel"}},
	SortTableByKey:  {"sort-table-key", inWrite, table, []string{"by"}},
	DefragmentTable: {"defragment-table", inWrite, table, []string{"by", "budget"}},
	ReserveNow:      {"reserve", inWrite, table | shard, []string{"n"}},
	Shrink:          {"shrink", inWrite, table | shard, nil},
	Clone:           {"clone", inWrite, table | shard, []string{"n"}},
	EndFrame:        {"end-frame", inWrite, 0, nil},
	Exchange:        {"exchange", inWrite, table, []string{"c", "d"}},
	WriteElement:    {"write-element", inWrite, table | refs, []string{"c", "v"}},
	SortSparse:      {"sort-sparse", inWrite, table, []string{"c"}},

	Emplace:      {"emplace", inTask, table | name | refs, []string{"v"}},
	EmplaceItems: {"emplace-items", inTask, table | names | refs, []string{"v", "share"}},
	EmplaceFunc:  {"emplace-func", inTask, table | name | refs, []string{"v", "self", "panic"}},
	Staged:       {"staged", inTask, table | refs | target, []string{"v", "s"}},
	Erase:        {"erase", inTask, table | refs, nil},
	EraseItems:   {"erase-items", inTask, table | refs, nil},
	EraseAll:     {"erase-all", inTask, table, nil},
	EraseID:      {"erase-id", inTask, refs, nil},
	EraseRow:     {"erase-row", inTask, 0, []string{"i"}},
	Put:          {"put", inTask, table | refs | target, []string{"v", "s"}},
	Set:          {"set", inTask, table | refs | target, []string{"c", "v", "s"}},
	Unset:        {"unset", inTask, table | refs | target, []string{"c"}},
	Has:          {"has", inTask, refs, nil},
	ReduceInTask: {"reduce-in-task", inTask, table, nil},
	FailError:    {"error", inTask, 0, nil},
	FailPanic:    {"panic", inTask, 0, nil},
	FailGoexit:   {"goexit", inTask, 0, nil},
}

var byName = func() map[string]Op {
	m := make(map[string]Op, ops)
	for op := range ops {
		m[specs[op].name] = op
	}
	return m
}()

// String returns the word that an operation is written as.
func (o Op) String() string { return specs[o].name }

// HasBody reports whether lines of tasks, or up to end, belong to the operation.
func (o Op) HasBody() bool { return specs[o].takes&body != 0 }

// InTask reports whether the operation stands in a task.
func (o Op) InTask() bool { return specs[o].where == inTask }

// Ops returns all operations.
func Ops() []Op {
	all := make([]Op, ops)
	for i := range all {
		all[i] = Op(i)
	}
	return all
}

// Alone reports whether the operation may stand outside of writes and tasks.
func (o Op) Alone() bool { return specs[o].where&alone != 0 }

// InWrite reports whether the operation may stand in a write.
func (o Op) InWrite() bool { return specs[o].where&inWrite != 0 }

// HasTable reports whether the operation is about a table.
func (o Op) HasTable() bool { return specs[o].takes&table != 0 }

// HasShard reports whether the operation is about one map of a table.
func (o Op) HasShard() bool { return specs[o].takes&shard != 0 }

// Makes reports whether the operation makes items, and whether it makes any number.
func (o Op) Makes() (items, many bool) {
	return specs[o].takes&(name|names) != 0, specs[o].takes&names != 0
}

// HasRefs reports whether the operation takes references.
func (o Op) HasRefs() bool { return specs[o].takes&refs != 0 }

// Keys returns the keys of the operation's arguments.
func (o Op) Keys() []string { return specs[o].keys }

// NeedsOrder reports whether the operation is about the order of rows, which a
// stable table keeps to itself.
func (o Op) NeedsOrder() bool {
	return o >= SortFunc && o <= ForgetOrder || o >= SortTable && o <= DefragmentTable
}

// About reports whether the operation is about columns of its table, which a stable table
// has not, and whether it is about optional data; one that is about both is about either.
func (o Op) About() (columns, optional bool) {
	switch o {
	case ForEachRows, Exchange:
		return true, false
	case ForEachSparse, SortSparse, Unset:
		return false, true
	}
	return o == Set || o == WriteElement, o == Set || o == WriteElement
}

// NeedsRef reports whether the operation has a target, its first reference.
func (o Op) NeedsRef() bool { return specs[o].takes&target != 0 }
