// Package results writes measured results:
//
//	table  for people    md  for Markdown    go  for benchstat    page  one HTML file
//
// A run is the results and their machine. benchstat compares two runs. The page
// has charts and tables and needs no other file, script or network: bars for
// each operation against the alternatives, cost over n, speed-up over workers,
// the collector and memory. Charts without values are omitted.
package results
