// Package arenagame is a small game for many players, made of tables. The nodes of the
// program cluster/cmd/arena play it.
//
// A player has a key, and numbers what it orders from 1 on. Order 1 makes the
// player's fighter; any order is carried out if its number follows that of the one
// before, so that an order that is sent twice, because no answer came, counts once.
package arenagame
