package targets

// clause is one line of the contract, with the n and sizes it is for.
type clause struct {
	id    string
	work  string
	at    []place
	value value
	limit limit
}

// place is an n and an item size in bytes; 0: none.
type place struct{ n, size int }

var (
	usual   = []place{{1e5, 8}, {1e5, 64}, {1e6, 8}, {1e6, 64}}
	smaller = []place{{1e5, 8}, {1e5, 64}}
	larger  = []place{{1e6, 8}, {1e6, 64}}
	small   = []place{{1e3, 8}, {1e4, 8}, {1e5, 8}, {1e6, 8}}
	wide    = []place{{1e6, 64}}
)

// contract has P1 to P38, then M, the machine without Handloom, then Q6 to Q10 and R1 to R10. A case
// is op/impl or op/impl/workers.
var contract = []clause{
	{"P1", "warm InsertItems / bulk loop by hand", usual, perStart("insertitems/handlemap", "insertitems/straight"), atMost(1.15)},
	{"P2", "reserved Insert / baseline", usual, ratio("insert/handlemap", "insert/straight"), atMost(1)},
	{"P2", "map[uint64]T / reserved Insert", smaller, ratio("insert/map", "insert/handlemap"), atLeast(3)},
	{"P2", "map[uint64]T / reserved Insert", larger, ratio("insert/map", "insert/handlemap"), atLeast(10)},
	{"P3", "create without reserve / with reserve", usual, ratio("create/handlemap", "insert/handlemap"), atMost(2.5)},
	{"P4", "iterate Items / raw slice loop", usual, ratio("iterate/handlemap", "iterate/straight"), atMost(1.05)},
	{"P4", "iterate All / raw slice loop", usual, ratio("iterate/handlemap.All", "iterate/straight"), atMost(2)},
	{"P5", "random Get / baseline", usual, perStart("get/handlemap", "get/straight"), atMost(1)},
	{"P5", "map[uint64]T / random Get", smaller, ratio("get/map", "get/handlemap"), atLeast(4)},
	{"P5", "random Get, Table of 8 shards / map", usual, ratio("get/table", "get/handlemap"), atMost(1.4)},
	{"P7", "Clear / slot words cleared by hand", usual, ratio("clear/handlemap", "clear/words"), atMost(1.3)},
	{"P8", "SortFunc / slices.SortFunc on the raw slice", usual, ratio("sort/handlemap.SortFunc", "sort/slices.SortFunc"), atMost(1.4)},
	{"P8", "SortByKey / slices.SortFunc on the raw slice", usual, ratio("sort/handlemap.SortByKey", "sort/slices.SortFunc"), atMost(0.2)},
	{"P9", "Defragment after 0.1 % changes / SortFunc, comparisons", usual, ratio("comparisons/handlemap.Defragment.1000", "comparisons/handlemap.SortFunc"), atMost(0.05)},
	{"P9", "Defragment after 0.1 % changes / SortFunc, time", usual, ratio("defragment/handlemap.Defragment.1000", "sort/handlemap.SortFunc"), atMost(0.3)},
	{"P10", "recording Emplace of 32 B / bare append", []place{{1e5, 32}}, ratio("record.emplace/table", "record.emplace/append"), atMost(2)},
	{"P10", "recording Emplace of 32 B, allocations", []place{{1e5, 32}}, sample("record.emplace.allocs/table"), atMost(0)},
	{"P10", "recording Erase, ns", []place{{1e5, 32}}, sample("record.erase/table"), atMost(2.5)},
	{"P10", "recording Erase, allocations", []place{{1e5, 32}}, sample("record.erase.allocs/table"), atMost(0)},
	{"P11", "flush of 1M commands, 8 shards, 1 worker / bulk calls by hand", larger, ratio("flush/table/1", "flush/handlemap/1"), atMost(1.5)},
	{"P12", "same flush, speedup of 2 workers", larger, ratio("flush/table/1", "flush/table/2"), atLeast(1.7)},
	{"P12", "same flush, speedup of 16 workers", larger, ratio("flush/table/1", "flush/table/16"), atLeast(10)},
	{"P13", "ForEach, 5 ns body, speedup of 2 workers", larger, ratio("foreach/table/1", "foreach/table/2"), atLeast(1.8)},
	{"P13", "empty pass over a small table, ns", []place{{10, 8}}, sample("emptypass/table.1shard"), atMost(150)},
	{"P13", "empty pass over a small table, goroutines", []place{{10, 8}}, sample("emptypass.goroutines/table.1shard"), atMost(0)},
	{"P14", "best rival / table, mixed load, ticks of 100k, 2 workers", []place{{1e5, 8}}, bestMixed(2), atLeast(2.3)},
	{"P14", "same with ticks of 10k", []place{{1e4, 8}}, bestMixed(2), atLeast(1.8)},
	{"P14", "same with ticks of 100k, 16 workers", []place{{1e5, 8}}, bestMixed(16), atLeast(4)},
	{"P15", "GC with 5M items / map[uint64]*T", []place{{5e6, 8}}, ratio("gc/table", "gc/mapofpointers"), atMost(0.02)},
	{"P16", "memory besides the item, reserved, bytes", usual, sample("memoryreserved.own/handlemap"), atMost(12)},
	{"P16", "memory besides the item, grown, bytes", []place{{1e5, 8}, {1e6, 8}}, sample("memory.own/handlemap"), atMost(24 + 8)},
	{"P16", "memory besides the item, grown, bytes", []place{{1e5, 64}, {1e6, 64}}, sample("memory.own/handlemap"), atMost(24 + 64)},
	{"P17", "random Get, stable map / packed map", smaller, ratio("get/slotmap", "get/handlemap"), atMost(1.15)},
	{"P17", "random Get, stable map / packed map", larger, ratio("get/slotmap", "get/handlemap"), atMost(0.8)},
	{"P17", "longest insert while growing to 10M, packed map / stable map", []place{{1e7, 8}}, ratio("growth/handlemap", "growth/slotmap"), atLeast(500)},
	{"P18", "phase of two 20 us halves on a team of 2 / one half", []place{{0, 0}}, ratio("halves/team", "halves/half"), atMost(1.15)},
	{"P18", "same without a team", []place{{0, 0}}, ratio("halves/fresh", "halves/half"), noLimit},
	{"P19", "200k events onto 100k targets, GroupBy and fold, 1 worker / plain loop", []place{{1e5, 32}}, ratio("groupby/table/1", "groupby/table.loop"), atMost(2)},
	{"P19", "same with 2 workers / plain loop", []place{{1e5, 32}}, ratio("groupby/table/2", "groupby/table.loop"), atMost(1.1)},
	{"P19", "GroupBy of 200k events, allocations", []place{{1e5, 32}}, sample("groupby.allocs/table"), atMost(0)},
	{"P20", "copy by hand / Checkpoint", larger, ratio("checkpoint/copy", "checkpoint/table"), atLeast(0.8)},
	{"P20", "Checkpoint, packed table / stable table", larger, ratio("checkpoint/table", "checkpoint/stabletable"), atLeast(0.5)},
	{"P21", "copy by hand / WriteTo with digests", larger, ratio("save/copy", "save/table"), atLeast(0.4)},
	{"P21", "WriteTo, packed table / stable table", larger, ratio("save/table", "save/stabletable"), atLeast(0.5)},
	{"P22", "allocation and copy / ReadCheckpoint", []place{{1e6, 64}}, ratio("load/makecopy", "load/table"), atLeast(0.3)},
	{"P22", "allocation and copy / ReadCheckpoint", []place{{1e6, 8}}, ratio("load/makecopy", "load/table"), atLeast(0.15)},
	{"P22", "ReadCheckpoint, packed table / stable table", larger, ratio("load/table", "load/stabletable"), atLeast(0.5)},
	{"P23", "disk / snapshot to a file, synced", larger, ratio("savefile/disk", "savefile/table"), atLeast(0.9)},
	{"P24", "disk / record of a tick in a journal, synced", []place{{0, 1 << 10}}, ratio("append/disk", "append/journal"), atLeast(0.9)},
	{"P24", "same record, ns; 2 % of a tick at 60 Hz", []place{{0, 1 << 10}}, sample("append/journal"), atMost(333_333)},
	{"P25", "sum over a column of 8 bytes, 1 worker / raw slice", wide, ratio("columnsum/table/1", "columnsum/slice"), atMost(1.05)},
	{"P25", "x += v over two columns, 1 worker / two raw slices", wide, ratio("columnadd/table/1", "columnadd/slice"), atMost(1.1)},
	{"P25", "same, speedup of 2 workers", wide, ratio("columnadd/table/1", "columnadd/table/2"), atLeast(1.8)},
	{"P25", "flush of creates with 4 columns / one struct as wide", wide, ratio("columncreate/table.4columns", "columncreate/table"), atMost(1.5)},
	{"P26", "single refill after erases in random order / baseline, LIFO", smaller, ratio("refillrandom/handlemap", "refillrandom/straight"), atMost(1)},
	{"P26", "single refill after erases in random order / baseline, LIFO", larger, ratio("refillrandom/handlemap", "refillrandom/straight"), atMost(1.2)},
	{"P26", "same in bulk / baseline, LIFO", smaller, ratio("refillitems/handlemap", "refillitems/straight"), atMost(1)},
	{"P26", "same in bulk / baseline, LIFO", larger, ratio("refillitems/handlemap", "refillitems/straight"), atMost(1.2)},
	{"P27", "erase and insert in turns / baseline", usual, ratio("churn/handlemap", "churn/straight"), atMost(1.25)},
	{"P28", "All, full stable map / packed map", usual, ratio("iterate/slotmap", "iterate/handlemap.All"), atMost(2)},
	{"P28", "InsertItems, stable map / packed map", usual, ratio("insertitems/slotmap", "insertitems/handlemap"), atMost(2)},
	{"P28", "Clear, stable map / packed map", usual, ratio("clear/slotmap", "clear/handlemap"), atMost(2)},
	{"P29", "Digest, full stable map / packed map", usual, ratio("digest/slotmap", "digest/handlemap"), atMost(1.5)},
	{"P30", "bytes kept per item, 130 idle ticks after a put to each", []place{{1e5, 32}}, sample("memoryidle/table"), atMost(2)},
	{"P33", "two puts and a flush, 64 shards / 1 shard", []place{{2, 8}}, ratio("fewcommands/table.64shards", "fewcommands/table.1shard"), atMost(2)},
	{"P34", "registering a table after 4,000 others / first tables", []place{{64, 8}}, ratio("register/table.behind4000", "register/table"), atMost(1.5)},
	{"P35", "flush of one task's records, 2 workers / 1 worker", small, ratio("smallflush/table.1task/2", "smallflush/table.1task/1"), atMost(1.2)},
	{"P35", "same to 64 tables", small, ratio("smallflush/table.64tables.1task/2", "smallflush/table.64tables.1task/1"), atMost(1.2)},
	{"P35", "flush of two tasks' records, 2 workers / 1 worker", small, ratio("smallflush/table.2tasks/2", "smallflush/table.2tasks/1"), atMost(1.1)},
	{"P35", "same to 64 tables", small, ratio("smallflush/table.64tables.2tasks/2", "smallflush/table.64tables.2tasks/1"), atMost(1.1)},
	{"P36", "storm, 5 % die and are created / slices, 2 workers", []place{{1e6, 32}}, ratio("storm/table/2", "storm/slice/2"), atMost(2.1)},
	{"P37", "replay of small ticks, events/s, 1 worker / plain map", []place{{0, 32}}, ratio("replay/table/1", "replay/map/1"), atLeast(1)},
	{"P38", "frame with 1 % killed and lookups, 2 workers / baseline, 1 worker", []place{{1e6, 32}}, ratio("frame1/table/2", "frame1/straight/1"), noLimit},
	{"P38", "same with 10 %", []place{{1e6, 32}}, ratio("frame10/table/2", "frame10/straight/1"), noLimit},
	{"M", "loop over a raw slice, ns per item", usual, sample("iterate/straight"), noLimit},
	{"M", "copy of items and words by hand, ns per item", larger, sample("checkpoint/copy"), noLimit},
	{"M", "slot words cleared by hand, ns per item", usual, sample("clear/words"), noLimit},
	{"M", "bare append of 32 B, ns", []place{{1e5, 32}}, sample("record.emplace/append"), noLimit},
	{"M", "bare append of 8 B, ns", []place{{1e5, 32}}, sample("record.erase/append"), noLimit},
	{"M", "file of a snapshot's size, written and synced, ns per item", larger, sample("savefile/disk"), noLimit},
	{"M", "write and sync of 1 KiB, ns", []place{{0, 1 << 10}}, sample("append/disk"), noLimit},
	{"Q6", "heap of a table with 10 items, 1 shard, bytes", []place{{10, 8}}, sample("tableheap/table"), atMost(5632)},
	{"Q9", "neighbours, sorted by square / grid by hand, 1 worker", []place{{1e5, 32}}, ratio("neighbours/table.sorted/1", "neighbours/grid/1"), atMost(1.1)},
	{"Q9", "same, not sorted", []place{{1e5, 32}}, ratio("neighbours/table/1", "neighbours/grid/1"), noLimit},
	{"Q10", "200k events onto 100k targets, Fold, 1 worker / plain loop", []place{{1e5, 32}}, ratio("fold/table/1", "groupby/table.loop"), atMost(2)},
	{"R1", "flush of 200k commands to a table with an index / without, 1 worker", []place{{2e5, 8}}, ratio("indexflush/table.index/1", "indexflush/table/1"), atMost(3)},
	{"R1", "same, speedup of 2 workers", []place{{2e5, 8}}, ratio("indexflush/table.index/1", "indexflush/table.index/2"), noLimit},
	{"R7", "ten commands to 64 tables, 1 worker / plain maps", []place{{10, 8}}, ratio("manytables/table/1", "manytables/map/1"), atMost(12)},
	{"R8", "ReadCheckpoint, 2 workers / copy by hand", wide, ratio("load/table.2workers", "load/copy"), atMost(4)},
	{"R10", "flush of 200k commands to 1 shard, speedup of 2 workers", []place{{2e5, 8}}, ratio("indexflush/table.1shard/1", "indexflush/table.1shard/2"), noLimit},
}
