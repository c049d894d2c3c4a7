//go:build !cmark

package markdown

// oracle is nil without cmark-gfm: the tests then use only the golden corpus.
var oracle func(md string) string
