// Package targets is the performance contract as data, and its evaluation.
//
// Most targets are ratios of two cases of one comparison: the median of the
// ratios of all rounds, because the machine is the same within a round.
// bench/README.md states the contract in words.
package targets
