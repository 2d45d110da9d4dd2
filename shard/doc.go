// Package shard is part of the engine of package store and has no compatibility promise. A
// [Shard] owns one typeId, its map and its part of a batch; a flush changes each shard in one
// goroutine. Programs that need a container without a store use the packages below it: handle,
// handlemap (packed items) and slotmap (items with fixed addresses), see guide/container.md.
//
// A table distributes its items over one or more shards. In a flush, one worker plans and then
// changes each shard with commands, all shards in parallel:
//
//	Begin       resets the plan
//	Plan        reads the map: erased rows, puts that count, stale commands
//	Deal        takes the creates dealt to the shard and checks the limits
//	MakeRoom    allocates all memory, if NeedsMemory reports that some is missing
//	FindLinks   collects the provisional handles referenced by new values
//	Apply       puts, then Sets, then erases, then creates; nothing can fail from here on
//	Link        resolves the provisional handles in the fields of new values
//	Patch       resolves the handles that FindLinks collected, one shard after another
//
// Before Apply, Cancel discards the plan and nothing has changed.
//
// The order within Apply is fixed, and each step depends only on the commands and their keys, so
// the resulting state does not depend on workers.
//
// A Shard has no locks and starts no goroutine. Outside a flush it is only its map.
package shard
