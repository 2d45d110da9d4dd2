// Package targets is the performance contract: what has to be reached, as data,
// and whether results reach it.
//
// Nearly every target is a ratio between two cases of one comparison. It is the
// median of the ratios of all rounds, because the two samples of a round saw the
// same machine, and what else the machine did falls out. bench/README.md states the
// same contract in words.
package targets
