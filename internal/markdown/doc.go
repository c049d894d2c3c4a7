// Package markdown knows Markdown's structure: which spans of a text are code,
// HTML, link or text as GitHub reads them, and how to compose text that keeps
// its structure.
//
// Reading is [Scan]: CommonMark 0.29 with GitHub's extensions (tables,
// strikethrough, autolinks, task lists, footnotes), exactly as
// cmark-gfm 0.29.0.gfm.6 reads it, its quirks included, in time linear in the
// input. Emphasis is not resolved: nobody here needs it.
//
// Composing is [EscapeText], [CodeSpan], [Fence], [Table], [Cut] and
// [CloseOpen]; [Marker] and its companions write and read the comment line by
// which Airlock recognises its own texts.
package markdown
