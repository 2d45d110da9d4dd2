// Package suite holds every case that the bench program knows: Handloom's
// containers and store, and what a program would use in their place.
//
// # Implementations
//
//	handlemap          the packed map, shard/handlemap
//	slotmap            the stable map, shard/slotmap
//	table, stabletable the same in a store, with 8 shards
//	straight           the handle map that one would write by hand
//	pointers           []*T, items named by index
//	map, mapofpointers map[uint64]T, map[uint64]*T, items named by key
//	slice              a raw slice, items without names
//	syncmap            sync.Map
//	xsync              xsync.Map, a concurrent map of cache-line buckets
//	rwmutexmap         map[uint64]T behind one sync.RWMutex
//	shardedmap         64 of map[uint64]T, each behind a sync.Mutex
//	rwmutexstraight    straight behind one sync.RWMutex
//
// What follows a dot says how it was called: handlemap.SortByKey.
//
// # Why loops are written once for each implementation
//
// A method called through an interface or a type parameter is not inlined, and
// costs more than many an operation that is measured here. So each implementation
// has loops of its own, and the interface is a call above them. Where generic code
// calls generic code the compiler's result is slower than what a program with a
// type of its own gets; those loops (tables, queues) are written for one type.
package suite
