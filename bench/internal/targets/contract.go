package targets

// clause is one line of the contract, for every n and size that it holds for.
type clause struct {
	id    string
	work  string
	at    []place
	value value
	limit limit
}

// place is an n and a size of items in bytes; 0 where there is none.
type place struct{ n, size int }

var (
	usual   = []place{{1e5, 8}, {1e5, 64}, {1e6, 8}, {1e6, 64}}
	smaller = []place{{1e5, 8}, {1e5, 64}}
	larger  = []place{{1e6, 8}, {1e6, 64}}
	small   = []place{{1e3, 8}, {1e4, 8}, {1e5, 8}, {1e6, 8}}
	wide    = []place{{1e6, 64}}
)

// contract is P1 to P38, and behind them M, which is what the machine does without Handloom.
// Cases are called op/impl, and /workers behind it where there are several.
var contract = []clause{
	{"P1", "InsertItems, warm: of the bulk loop by hand", usual, ratio("insertitems/handlemap", "insertitems/straight"), atMost(1.15)},
	{"P2", "Insert, reserved: of straight Go", usual, ratio("insert/handlemap", "insert/straight"), atMost(1)},
	{"P2", "Insert, reserved: map[uint64]T takes", smaller, ratio("insert/map", "insert/handlemap"), atLeast(3)},
	{"P2", "Insert, reserved: map[uint64]T takes", larger, ratio("insert/map", "insert/handlemap"), atLeast(10)},
	{"P3", "create without reserve: of reserved", usual, ratio("create/handlemap", "insert/handlemap"), atMost(2.5)},
	{"P4", "iterate Items: of a raw slice loop", usual, ratio("iterate/handlemap", "iterate/straight"), atMost(1.05)},
	{"P4", "iterate All: of a raw slice loop", usual, ratio("iterate/handlemap.All", "iterate/straight"), atMost(2)},
	{"P5", "Get, random: of straight Go", usual, ratio("get/handlemap", "get/straight"), atMost(1)},
	{"P5", "Get, random: map[uint64]T takes", smaller, ratio("get/map", "get/handlemap"), atLeast(4)},
	{"P5", "Get, random, Table of 8 shards: of the map's own", usual, ratio("get/table", "get/handlemap"), atMost(1.4)},
	{"P6", "EraseItems, half: one by one takes", usual, ratio("eraseitems/handlemap.Erase", "eraseitems/handlemap"), atLeast(1.8)},
	{"P7", "Clear: of the words alone cleared by hand", usual, ratio("clear/handlemap", "clear/words"), atMost(1.3)},
	{"P8", "SortFunc: of slices.SortFunc on the raw slice", usual, ratio("sort/handlemap.SortFunc", "sort/slices.SortFunc"), atMost(1.4)},
	{"P8", "SortByKey: of slices.SortFunc on the raw slice", usual, ratio("sort/handlemap.SortByKey", "sort/slices.SortFunc"), atMost(0.2)},
	{"P9", "Defragment after 0.1 % changes: of SortFunc's comparisons", usual, ratio("comparisons/handlemap.Defragment.1000", "comparisons/handlemap.SortFunc"), atMost(0.05)},
	{"P9", "Defragment after 0.1 % changes: of SortFunc's time", usual, ratio("defragment/handlemap.Defragment.1000", "sort/handlemap.SortFunc"), atMost(0.3)},
	{"P10", "recording Emplace of 32 B: of a bare append", []place{{1e5, 32}}, ratio("record.emplace/table", "record.emplace/append"), atMost(2)},
	{"P10", "recording Emplace of 32 B: allocations", []place{{1e5, 32}}, sample("record.emplace.allocs/table"), atMost(0)},
	{"P10", "recording Erase: ns", []place{{1e5, 32}}, sample("record.erase/table"), atMost(2.5)},
	{"P10", "recording Erase: allocations", []place{{1e5, 32}}, sample("record.erase.allocs/table"), atMost(0)},
	{"P11", "flush of 1M commands, 8 shards, 1 worker: of bulk calls by hand", larger, ratio("flush/table/1", "flush/handlemap/1"), atMost(1.5)},
	{"P12", "the same flush: 1 worker takes, of 2 in a team", larger, ratio("flush/table/1", "flush/table/2"), atLeast(1.7)},
	{"P12", "the same flush: 1 worker takes, of 16 in a team", larger, ratio("flush/table/1", "flush/table/16"), atLeast(10)},
	{"P13", "ForEach, 5 ns body: 1 worker takes, of 2 in a team", larger, ratio("foreach/table/1", "foreach/table/2"), atLeast(1.8)},
	{"P13", "empty pass over a small table: ns", []place{{10, 8}}, sample("emptypass/table.1shard"), atMost(150)},
	{"P13", "empty pass over a small table: goroutines", []place{{10, 8}}, sample("emptypass.goroutines/table.1shard"), atMost(0)},
	{"P14", "mixed load, 8 tasks, ticks of 100k, 2 in a team: the best rival takes", []place{{1e5, 8}}, bestMixed(2), atLeast(2.3)},
	{"P14", "the same in ticks of 10k", []place{{1e4, 8}}, bestMixed(2), atLeast(1.8)},
	{"P14", "the same in ticks of 100k, 16 in a team", []place{{1e5, 8}}, bestMixed(16), atLeast(4)},
	{"P15", "GC with 5M items: of map[uint64]*T", []place{{5e6, 8}}, ratio("gc/table", "gc/mapofpointers"), atMost(0.02)},
	{"P16", "memory beyond the item, reserved: bytes", usual, sample("memoryreserved.own/handlemap"), atMost(12)},
	{"P16", "memory beyond the item, grown: bytes", []place{{1e5, 8}, {1e6, 8}}, sample("memory.own/handlemap"), atMost(24 + 8)},
	{"P16", "memory beyond the item, grown: bytes", []place{{1e5, 64}, {1e6, 64}}, sample("memory.own/handlemap"), atMost(24 + 64)},
	{"P17", "Get on the stable map, random: of the packed map's", smaller, ratio("get/slotmap", "get/handlemap"), atMost(1.15)},
	{"P17", "Get on the stable map, random: of the packed map's", larger, ratio("get/slotmap", "get/handlemap"), atMost(0.8)},
	{"P17", "longest insert, growing to 10M: the packed map's, of the stable map's", []place{{1e7, 8}}, ratio("growth/handlemap", "growth/slotmap"), atLeast(500)},
	{"P18", "phase of two halves of 20 us, warm team of 2: of one half", []place{{0, 0}}, ratio("halves/team", "halves/half"), atMost(1.15)},
	{"P18", "the same without a team, for comparison", []place{{0, 0}}, ratio("halves/fresh", "halves/half"), noLimit},
	{"P19", "200k events onto 100k targets, GroupBy and fold, 1 worker: of a plain loop", []place{{1e5, 32}}, ratio("groupby/table/1", "groupby/table.loop"), atMost(2)},
	{"P19", "the same with 2 workers of a team: of a plain loop", []place{{1e5, 32}}, ratio("groupby/table/2", "groupby/table.loop"), atMost(1.1)},
	{"P19", "GroupBy of 200k events: allocations", []place{{1e5, 32}}, sample("groupby.allocs/table"), atMost(0)},
	{"P20", "Checkpoint: copying the memory by hand takes", larger, ratio("checkpoint/copy", "checkpoint/table"), atLeast(0.8)},
	{"P20", "Checkpoint of a stable table: a packed one takes", larger, ratio("checkpoint/table", "checkpoint/stabletable"), atLeast(0.5)},
	{"P21", "WriteTo, with digests: copying the memory takes", larger, ratio("save/copy", "save/table"), atLeast(0.4)},
	{"P21", "WriteTo of a stable table: a packed one takes", larger, ratio("save/table", "save/stabletable"), atLeast(0.5)},
	{"P22", "ReadCheckpoint: making the memory and copying takes", []place{{1e6, 64}}, ratio("load/makecopy", "load/table"), atLeast(0.3)},
	{"P22", "ReadCheckpoint: making the memory and copying takes", []place{{1e6, 8}}, ratio("load/makecopy", "load/table"), atLeast(0.15)},
	{"P22", "ReadCheckpoint of a stable table: a packed one takes", larger, ratio("load/table", "load/stabletable"), atLeast(0.5)},
	{"P23", "snapshot to a file, synced: the disk takes", larger, ratio("savefile/disk", "savefile/table"), atLeast(0.9)},
	{"P24", "record of a tick in a journal, synced: the disk takes", []place{{0, 1 << 10}}, ratio("append/disk", "append/journal"), atLeast(0.9)},
	{"P24", "the same: ns, 2 % of a tick at 60 Hz", []place{{0, 1 << 10}}, sample("append/journal"), atMost(333_333)},
	{"P25", "sum over a column of 8 bytes, 1 worker: of a raw slice", wide, ratio("columnsum/table/1", "columnsum/slice"), atMost(1.05)},
	{"P25", "x += v over two columns, 1 worker: of two raw slices", wide, ratio("columnadd/table/1", "columnadd/slice"), atMost(1.1)},
	{"P25", "the same: 1 worker takes, of 2 in a team", wide, ratio("columnadd/table/1", "columnadd/table/2"), atLeast(1.8)},
	{"P25", "flush of creates with 4 columns: of one struct as wide", wide, ratio("columncreate/table.4columns", "columncreate/table"), atMost(1.5)},
	{"P25", "single erase with 4 columns: of one without", wide, ratio("columnerase/table.4columns", "columnerase/table"), noLimit},
	{"P26", "refill after erases in random order, one by one: of straight Go, LIFO", smaller, ratio("refillrandom/handlemap", "refillrandom/straight"), atMost(1)},
	{"P26", "refill after erases in random order, one by one: of straight Go, LIFO", larger, ratio("refillrandom/handlemap", "refillrandom/straight"), atMost(1.2)},
	{"P26", "the same in bulk: of straight Go, LIFO", smaller, ratio("refillitems/handlemap", "refillitems/straight"), atMost(1)},
	{"P26", "the same in bulk: of straight Go, LIFO", larger, ratio("refillitems/handlemap", "refillitems/straight"), atMost(1.2)},
	{"P27", "churn, an erase and an insert in turns: of straight Go", usual, ratio("churn/handlemap", "churn/straight"), atMost(1.25)},
	{"P28", "stable map, full, All: of the packed map's", usual, ratio("iterate/slotmap", "iterate/handlemap.All"), atMost(2)},
	{"P28", "stable map, InsertItems: of the packed map's", usual, ratio("insertitems/slotmap", "insertitems/handlemap"), atMost(2)},
	{"P28", "stable map, Clear: of the packed map's", usual, ratio("clear/slotmap", "clear/handlemap"), atMost(2)},
	{"P29", "stable map, full, Digest: of the packed map's", usual, ratio("digest/slotmap", "digest/handlemap"), atMost(1.5)},
	{"P30", "bytes kept an item, 130 ticks without commands behind a put to each", []place{{1e5, 32}}, sample("memoryidle/table"), atMost(2)},
	{"P33", "two puts to a table of 64 shards and a flush: of one shard", []place{{2, 8}}, ratio("fewcommands/table.64shards", "fewcommands/table.1shard"), atMost(2)},
	{"P34", "a table behind 4,000 others: of one of the first", []place{{64, 8}}, ratio("register/table.behind4000", "register/table"), atMost(1.5)},
	{"P35", "flush of what one task recorded, 2 workers: of 1 worker", small, ratio("smallflush/table.1task/2", "smallflush/table.1task/1"), atMost(1.2)},
	{"P35", "the same to 64 tables", small, ratio("smallflush/table.64tables.1task/2", "smallflush/table.64tables.1task/1"), atMost(1.2)},
	{"P35", "flush of what two tasks recorded, 2 workers: of 1 worker", small, ratio("smallflush/table.2tasks/2", "smallflush/table.2tasks/1"), atMost(1.1)},
	{"P35", "the same to 64 tables", small, ratio("smallflush/table.64tables.2tasks/2", "smallflush/table.64tables.2tasks/1"), atMost(1.1)},
	{"P36", "storm, 5 % die and are made, 2 workers: of slices on 2", []place{{1e6, 32}}, ratio("storm/table/2", "storm/slice/2"), atMost(1.8)},
	{"P37", "replay of small ticks, 1 worker: of the plain map's events/s", []place{{0, 32}}, ratio("replay/table/1", "replay/map/1"), atLeast(1)},
	{"P38", "frame with 1 % killed and look-ups, 2 workers: of a straight map on 1", []place{{1e6, 32}}, ratio("frame1/table/2", "frame1/straight/1"), noLimit},
	{"P38", "frame with 10 %: the same", []place{{1e6, 32}}, ratio("frame10/table/2", "frame10/straight/1"), noLimit},
	{"P38", "ten commands in 64 tables, 1 worker: of plain maps", []place{{10, 8}}, ratio("manytables/table/1", "manytables/map/1"), noLimit},
	{"M", "loop over a raw slice: ns an item", usual, sample("iterate/straight"), noLimit},
	{"M", "copy of items and words by hand: ns an item", larger, sample("checkpoint/copy"), noLimit},
	{"M", "slot words cleared by hand: ns an item", usual, sample("clear/words"), noLimit},
	{"M", "bare append of 32 B: ns", []place{{1e5, 32}}, sample("record.emplace/append"), noLimit},
	{"M", "bare append of 8 B: ns", []place{{1e5, 32}}, sample("record.erase/append"), noLimit},
	{"M", "file of a snapshot's size, written and synced: ns an item", larger, sample("savefile/disk"), noLimit},
	{"M", "write and sync of 1 KiB: ns", []place{{0, 1 << 10}}, sample("append/disk"), noLimit},
}
