// Package storeweb shows a running store to people and to programs: one line in a
// server, and a page with its tables, what flushes do to them, how long that takes,
// what schedules look like, and items, for those who ask. The guide's page is
// guide/profile.md.
//
//	mux.Handle("/debug/store/", storeweb.Handler(s))
//
// # Pages
//
// All pages are at the path that the handler is mounted at, whichever that is; what
// they show is said by parameters alone.
//
//	?                            every table, rates, times, schedules
//	?table=ship                  one table and what became of its commands
//	?table=ship&from=200&count=50  and 50 of its items, without the first 200, with what
//	                             columns have beside them
//	?format=json                 the same as JSON, as for whoever accepts JSON and no HTML
//	?refresh=2                   the page, again every 2 seconds
//
// Rates are of what happened between two requests that lie a second or more apart:
// nobody counts while nobody asks, and no goroutine runs.
//
// # What it costs the store
//
// A request looks inside one [store.Store.Read], so it sees whole ticks. There it
// copies figures, and at most 100 items; a page has at most 1 MiB, and values that it has
// no room for are shown as "…". Pages are written when the Read has ended. One request at a time is inside, so a tick waits for one of
// them at most. No code of the program runs for it: items are shown field by field,
// as [store.Store.Digest] sees them, without their methods and without what is
// behind pointers.
//
// A store that does not open its gate within a second is said to be busy, with the
// figures of its last flush.
//
// # Who may look
//
// The handler changes nothing and answers GET and HEAD alone. It knows no users:
// who reaches it can read every item. Its pages load nothing and run no script.
package storeweb
