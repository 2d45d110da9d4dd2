// Package page shows a run in a browser: as a file when it has ended, and as a
// live page while it goes on. Both have the same header, charts and tables, and
// need nothing from outside: no script library, font or image.
//
// The file has no script at all. The live page has one, which puts what the
// server sends in the place of what stands there; the charts are drawn by the
// server. A content security policy forbids everything else, and whatever is
// shown is escaped.
//
// A viewer of the live page costs the run some time, about a hundredth of a core,
// because drawing is done by the process that is measured.
package page
