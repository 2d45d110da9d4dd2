// Package storeweb serves pages about a running store, with its tables, flushes, schedules and
// items, as HTML and JSON. See guide/profile.md.
//
//	mux.Handle("/debug/store/", storeweb.Handler(s))
//
// # Pages
//
// The handler may be mounted at any path; parameters select the page.
//
//	?                              tables, rates, times, schedules
//	?table=ship                    one table and the counts of its commands
//	?table=ship&from=200&count=50  and 50 of its items after the first 200, with their column elements
//	?format=json                   as JSON, which is also sent to clients that accept only JSON
//	?refresh=2                     reloads the page every 2 seconds
//
// [Status] has a page about other figures, such as a world's.
//
// Rates cover the time between two requests, at least a second apart. There is no counting
// without requests, and no goroutine.
//
// # Cost
//
// A request opens one [store.Store.Read], so it sees whole ticks. It copies figures and at most
// 100 items; pages are written after the Read. A page has at most 1 MiB; values beyond it are
// shown as "…". One request at a time is inside a Read, so a tick waits for at most one. Items
// are shown field by field, like [store.Store.Digest] reads them: no methods are called, and
// pointers are not followed.
//
// If no Read is possible within a second, the page has the data of the last flush.
//
// # Access
//
// The handler changes nothing and accepts only GET and HEAD. It has no access control: every
// client can read every item. Pages load nothing and run no script.
package storeweb
