// Package chart draws figures as SVG text for pages that have [Style], and need
// nothing else: no script, no file, no font.
//
//	[Lines]   values over time or over another figure
//	[Bars]    rows in groups, to compare things that have names: bars from
//	          0, dots where the axis is logarithmic
//	[Frame]   a schedule: waves, flushes, and what its systems touch
//
// # Reading
//
// The title says what is measured, and labels carry the unit: nothing is said
// twice. Intervals are drawn, and what is not known to have one is hollow. Series differ
// in colour, in lightness and in dash and marker, so that they can be told apart
// by colour-blind readers and in a grey print, on light and on dark paper.
//
// # Limits
//
// Text is measured by a table of widths that is a little generous, so labels
// keep apart whatever the font, and what does not fit is cut with an ellipsis.
// All text is escaped. The same chart gives the same bytes.
package chart
