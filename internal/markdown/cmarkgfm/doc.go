// Package cmarkgfm binds libcmark-gfm, the parser with which GitHub renders
// Markdown, as an oracle for tests. Production code does not import it.
//
// Its functions exist only under the build tag cmark, because they need cgo and
// Debian's libcmark-gfm-dev and libcmark-gfm-extensions-dev. Write tests that use
// it into files that start with
//
//	//go:build cmark
//
// and run them with
//
//	go test -tags cmark ./internal/markdown/...
//
// Without the tag this package is empty and builds everywhere.
package cmarkgfm
