// Package shard has no code: it is the folder of what a shard holds, for users of
// package store and for programs that need a container without a store.
// The guide's page is guide/container.md.
//
// A table spreads its items over one or more shards. Each issues handles of one
// typeId (package handle) and keeps its items in one map: packed (package handlemap)
// or at addresses that do not change (package slotmap). What a flush does to a shard
// is internal/apply.
package shard
