//go:build !cmark

package sanitize

import "sync"

var goldenHTML = sync.OnceValue(readGolden)

// cmarkHTML looks up what cmark-gfm made of a text of the corpora: without the
// build tag cmark, the golden file stands in for it.
func cmarkHTML(text string) (string, bool) {
	html, ok := goldenHTML()[text]
	return html, ok
}
