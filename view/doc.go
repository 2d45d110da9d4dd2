// Package view finds the difference between the copy that a client has and the items that it may see
// now: the server sends each client only the items around it, over a network that loses messages. See
// guide/what-clients-see.md.
//
//	seen := view.New(units, 32)
//	c := seen.Client() // one for each client
//
//	_, err := s.Frame(ctx, tick)
//	err = s.Read(ctx, func(ctx context.Context) error {
//		seen.Advance(ctx)
//		d := c.Update(ctx, near) // near yields the handles that the client may see
//		for h, u := range d.Entered { ... }
//		for h, u := range d.Changed { ... }
//		for h := range d.Left { ... }
//		return send(d.Number, ...)
//	})
//	err = c.Acknowledge(number) // when the client says that it has the Delta
//
// A client keeps one copy, its mirror, and the number of the last Delta in it. It skips a Delta with
// a lower number, empties the mirror for a Reset, stores the items of Entered and Changed, drops the items
// of Left, and acknowledges. After every Delta that it takes, the mirror equals the items in view,
// although other Deltas were lost, repeated or late.
//
// # How
//
// A View has two words for each slot of the table: the item there and the last Advance that found it
// changed. A Client has two words for each item that its mirror may have: the handle, and the Delta
// since which the item is, or is not, in view without a break. An item of a Delta that was acknowledged
// is sent again if it changed after that; any other is sent whole. So there are no lists of old
// frames, and no Delta is kept.
//
// The state is derived: neither digests nor snapshots have it. After a Rollback or Load, or when
// frames passed without Advance, every item counts as changed.
//
// # Sources
//
// Quake 3 sends differences to the last snapshot that the client acknowledged. There the client keeps
// old snapshots. Here an item that left and came back before an acknowledgement is sent whole instead,
// because the client may have dropped it.
package view
