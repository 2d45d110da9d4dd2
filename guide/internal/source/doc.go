// Package source compares the guide with the source: [Fill] takes the code of a page from
// files that go test compiles and runs, [Find] lists the errors and panics of packages.
//
// A block of Go names its source after its language:
//
//	```go store/example_test.go            the whole file, as a program with a main
//	```go store/example_test.go#flush      the region with that name
//	```text store/example_test.go#Example  the output of that example
//	```text cluster/server.conf#rights     a region of a file that is not Go
//
// In the file a region lies between two comments. A region may have several pieces;
// an empty line joins them.
//
//	// region flush
//	report, err := s.Flush(ctx)
//	// endregion
package source
