// Package report prints tables with aligned columns, and numbers in readable units.
//
//	workers   events  events/s  flush p50
//	      1  117,889      3.2M      41 us
//	      2  117,889      4.9M      29 us
package report
