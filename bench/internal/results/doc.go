// Package results writes what was measured in every form that somebody may want
// to read it in, and reads two of them again.
//
//	table  for people                     md   for a page
//	go     for benchstat, and read again  csv  for a spreadsheet
//	json   for programs, and read again
//
// A run is the results together with the machine that they hold for. Two runs
// are compared by benchstat.
package results
