// Package stats says how far repeated measurements can be trusted.
//
//	[Summarize]    samples to a median and the interval it lies in
//	[MannWhitney]  two sets of samples to the chance that they are alike
//
// Nothing is assumed of how samples are distributed. Times are not normal: they
// have a floor, and a tail of whatever else the machine did. So there are no
// means, and no outlier is removed.
//
// The package is small because the two answers are: both are counts, and both
// are tested against counting every case. A statistics module would bring
// distributions that nothing here uses.
package stats
