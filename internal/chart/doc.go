// Package chart draws charts as SVG text for pages with [Style]. They need no
// script, file or font.
//
//	[Lines]   values over time or another figure
//	[Bars]    rows in groups on a logarithmic axis, to compare named things
//	[Frame]   a schedule: waves, flushes, and the data of its systems
//
// The title names the quantity, labels have the unit. Intervals are drawn. Series
// differ in colour, lightness and, as lines, in their dashes.
//
// Text widths come from a slightly generous table; long text is cut with an
// ellipsis. All text is escaped. Equal charts have equal bytes.
package chart
