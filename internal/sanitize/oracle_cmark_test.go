//go:build cmark

package sanitize

import "github.com/agent-airlock/airlock/internal/markdown/cmarkgfm"

// cmarkHTML renders text with cmark-gfm itself.
func cmarkHTML(text string) (string, bool) { return cmarkgfm.HTML(text), true }
