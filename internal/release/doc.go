// Release writes a copy of the repository under another module path, as two modules that
// build without the workspace:
//
//	go run ./internal/release -module example.org/handloom -version v0.1.0 -out DIR
//
// Every path of a package has the new prefix, in code, listings, pages and help texts. The
// module in cluster requires the version of the root, with its checksum, and replaces
// nothing. The pages install the version by go get. The tree has the tracked files of the
// repository except the workspace, folders that begin with a dot, and this program.
package main
