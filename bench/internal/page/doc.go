// Package page shows a run as a page of charts and tables that needs no other
// file, no script and no network.
//
// A chart is drawn of whatever the run has of it, and left out when it has
// nothing: bars for each operation against the alternatives, cost over n, speed-up
// over workers, the collector, memory. The tables have every figure.
package page
