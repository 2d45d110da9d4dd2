// Package chart draws charts as SVG text for pages with [Style]. They need no
// script, file or font.
//
//	[Lines]   values over time or another figure
//	[Bars]    rows in groups, to compare named things: bars from 0, dots
//	          on a logarithmic axis
//	[Frame]   a schedule: waves, flushes, and the data of its systems
//
// The title names the quantity, labels have the unit. Intervals are drawn;
// markers without one are hollow. Series differ in colour, lightness, dash and
// marker, for colour-blind readers and grey prints, on light and dark paper.
//
// Text widths come from a slightly generous table, so labels stay apart in any
// font; long text is cut with an ellipsis. All text is escaped. Equal charts
// have equal bytes.
package chart
