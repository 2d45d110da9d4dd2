// Package results writes measured results:
//
//	table  for people    md  for Markdown    go  for benchstat    page  one HTML file
//
// A run is the results together with their machine. benchstat compares two runs. The
// page has charts and tables, and needs no other file, no script and no network: bars
// for each operation against the alternatives, cost over n, speed-up over workers, the
// collector and memory. A chart without values is left out.
package results
