//go:build !cmark

package sanitize

import (
	"os"
	"strconv"
	"strings"
	"sync"
)

var goldenHTML = sync.OnceValue(readGolden)

// cmarkHTML looks up what cmark-gfm made of a text of the corpora. Without the build tag
// cmark, the tests read that from the golden file.
func cmarkHTML(text string) (string, bool) {
	html, ok := goldenHTML()[text]
	return html, ok
}

// readGolden reads the golden file: per line a text and what cmark-gfm makes
// of it, as Go strings. A file that cannot be read is empty.
func readGolden() map[string]string {
	data, err := os.ReadFile(goldenFile)
	if err != nil {
		return nil
	}
	out := map[string]string{}
	for line := range strings.Lines(string(data)) {
		text, html, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		key, err1 := strconv.Unquote(text)
		value, err2 := strconv.Unquote(html)
		if err1 == nil && err2 == nil {
			out[key] = value
		}
	}
	return out
}
