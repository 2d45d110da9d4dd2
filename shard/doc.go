// Package shard is part of the engine of package store. It has no compatibility
// promise. A [Shard] owns one typeId, its map and the part of a batch that concerns
// it; a flush changes each shard in one goroutine. Programs that need a container
// without a store use the packages below it: handle, handlemap (packed items) and
// slotmap (items whose addresses do not change). Their guide page is
// guide/container.md.
//
// A table spreads its items over one or more shards. In a flush every shard that the batch
// has something for is planned and then changed by exactly one worker, all those in
// parallel; the others it does not come to:
//
//	Begin       forgets the plan of the flush before
//	Plan        reads the map: which rows are erased, which puts count, what is stale
//	Deal        takes the creates dealt to the shard and checks the limits
//	MakeRoom    obtains all memory, if NeedsMemory says that some is missing
//	FindLinks   collects the provisional handles behind references in new values
//	Apply       puts, then Sets, then erases, then creates; nothing can fail from here on
//	Link        makes the provisional handles in the fields of new values real
//	Patch       makes those that FindLinks collected real, one shard after another
//
// Until Apply, Cancel forgets the plan and nothing has changed.
//
// The order within Apply is fixed, and each step depends on the set of commands
// and their keys alone, so that the state after it does not depend on workers.
//
// # What it does not do
//
// A Shard has no locks and starts no goroutine. Outside a flush it is its map.
package shard
