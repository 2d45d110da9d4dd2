// Package chart draws figures as SVG text that needs nothing else: no script, no
// style sheet, no font. A drawing can stand in a page or in a file of its own.
//
//	[Lines]   values over time or over another figure, linear or logarithmic
//	[Bars]    horizontal bars in groups, to compare things that have names
//
// # Reading
//
// Every axis says what it measures, and its labels carry the unit. Series differ
// in colour, in lightness and in dash and marker, so that they can be told apart
// by colour-blind readers and in a grey print.
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
