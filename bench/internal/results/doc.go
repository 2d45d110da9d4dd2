// Package results writes measured results:
//
//	table  for people    md  for a page    go  for benchstat
//
// A run is the results together with their machine. benchstat compares two runs.
package results
