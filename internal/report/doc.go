// Package report prints figures for people: tables with columns that line up,
// and numbers in units that can be read at a glance.
//
//	workers   events  events/s  flush p50
//	      1  117,889      3.2M      41 us
//	      2  117,889      4.9M      29 us
//
// It writes text only and knows nothing of what the figures mean.
package report
