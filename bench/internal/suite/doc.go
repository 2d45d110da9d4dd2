// Package suite holds the cases of the bench program: Handloom's containers and
// store, and their alternatives.
//
// # Implementations
//
//	handlemap          the packed map, shard/handlemap
//	slotmap            the stable map, shard/slotmap
//	table, stabletable the same in a store, with 8 shards
//	straight           the handle map that one would write by hand
//	map                map[uint64]T, items named by key
//	pointers           []*T, mapofpointers: map[uint64]*T; of the collector only
//	slice              a raw slice, items without names
//	syncmap            sync.Map
//	xsync              xsync.Map, a concurrent map of cache-line buckets
//	rwmutexmap         map[uint64]T with one sync.RWMutex
//	shardedmap         64 of map[uint64]T, each with a sync.Mutex
//	rwmutexstraight    straight with one sync.RWMutex
//
// A suffix after a dot is the called method: handlemap.SortByKey.
//
// # Separate loops
//
// A method called through an interface or a type parameter is not inlined and
// can cost more than the measured operation. So each implementation has its own
// loops, and the loops over tables and queues are written for one type.
package suite
