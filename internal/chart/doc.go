// Package chart draws figures as SVG text for pages that have [Style], and need
// nothing else: no script, no file, no font.
//
//	[Lines]   values over time or over another figure, linear or logarithmic
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
// # Two widths
//
// A drawing scales with the page, and text that is small enough for a desk would
// be too small on a phone. So there are two drawings of one chart: SVG for room
// of about 640 pixels and Narrow for about 360. [Figure] puts both into a page
// and, with [Style], shows the one that fits.
//
// # Limits
//
// Text is measured by a table of widths that is a little generous, so labels
// keep apart whatever the font, and what does not fit is cut with an ellipsis.
// All text is escaped. The same chart gives the same bytes.
package chart
