package config

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// document is a configuration's text as values.
type document struct {
	root node
	// frontMatter is true when the text is Markdown with a front matter: keys
	// beside safe-outputs are then somebody else's.
	frontMatter bool
}

// parseDocument reads a configuration's text: YAML, JSON, or Markdown that
// begins with a YAML front matter.
func parseDocument(source string, data []byte) (document, error) {
	if len(data) > maxBytes {
		return document{}, oneProblem(source, 0, 0, "the configuration is larger than 1 MiB; is this the right file?")
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if at := badText(data); at >= 0 {
		line := 1 + bytes.Count(data[:at], []byte("\n"))
		return document{}, oneProblem(source, line, 0, "this is not text in UTF-8; a configuration is YAML or JSON")
	}
	if matter, ok := frontMatter(data); ok {
		root, err := parseYAML(source, matter)
		return document{root, true}, err
	}
	if len(bytes.TrimLeft(data, " \t\r\n")) == 0 {
		return document{root: node{line: 1, col: 1}}, nil
	}
	if !looksLikeJSON(data) {
		root, err := parseYAML(source, data)
		return document{root: root}, err
	}
	root, err := parseJSON(source, data)
	if err != nil && !strings.HasSuffix(source, ".json") {
		// A flow mapping of YAML may quote its keys and still be no JSON.
		if fromYAML, yamlErr := parseYAML(source, data); yamlErr == nil {
			return document{root: fromYAML}, nil
		}
	}
	return document{root: root}, err
}

// badText returns the offset of the first byte that is not UTF-8 text, or -1.
func badText(data []byte) int {
	for i := 0; i < len(data); {
		if data[i] == 0 {
			return i
		}
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

// frontMatter returns the YAML between a first line "---" and the next such
// line, after as many empty lines as keep the line numbers right. A text with
// only one such line is a YAML document.
func frontMatter(data []byte) ([]byte, bool) {
	first, rest, ok := bytes.Cut(data, []byte("\n"))
	if !ok || string(bytes.TrimRight(first, " \t\r")) != "---" {
		return nil, false
	}
	for at := 0; at < len(rest); {
		line, _, more := bytes.Cut(rest[at:], []byte("\n"))
		if string(bytes.TrimRight(line, " \t\r")) == "---" {
			return append([]byte("\n"), rest[:at]...), true
		}
		if !more {
			break
		}
		at += len(line) + 1
	}
	return nil, false
}
