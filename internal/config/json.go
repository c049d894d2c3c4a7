package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// parseJSON reads one JSON document.
func parseJSON(source string, data []byte) (node, error) {
	p := jsonParser{source: source, data: data, dec: json.NewDecoder(bytes.NewReader(data))}
	p.dec.UseNumber()
	n, err := p.value(0)
	if err != nil {
		return node{}, err
	}
	end := p.next()
	if _, err := p.dec.Token(); !errors.Is(err, io.EOF) {
		return node{}, p.problem(end, "there is more text after the end of the JSON document")
	}
	return n, nil
}

type jsonParser struct {
	source string
	data   []byte
	dec    *json.Decoder
	lines  []int // offsets at which lines start, computed when first needed
	count  int
}

// next returns the offset of the next token: the decoder knows only where the last
// one ended.
func (p *jsonParser) next() int {
	i := int(p.dec.InputOffset())
	for i < len(p.data) && strings.IndexByte(" \t\r\n,:", p.data[i]) >= 0 {
		i++
	}
	return i
}

func (p *jsonParser) value(depth int) (node, error) {
	at := p.next()
	if p.count++; p.count > maxNodes {
		return node{}, p.problem(at, "the configuration has more than %d values", maxNodes)
	}
	if depth > maxDepth {
		return node{}, p.problem(at, "lists and mappings are nested more than %d deep here", maxDepth)
	}
	tok, err := p.dec.Token()
	if err != nil {
		return node{}, p.syntax(err)
	}
	n := node{}
	n.line, n.col = p.place(at)
	switch tok := tok.(type) {
	case json.Delim:
		if tok == '[' {
			n.kind = listNode
			return p.list(n, depth)
		}
		n.kind = mapNode
		return p.object(n, depth)
	case bool:
		n.kind, n.text = boolNode, strconv.FormatBool(tok)
	case json.Number:
		n.kind, n.text = numberNode, tok.String()
	case string:
		n.kind, n.text = textNode, tok
	}
	return n, nil
}

func (p *jsonParser) list(n node, depth int) (node, error) {
	for p.dec.More() {
		item, err := p.value(depth + 1)
		if err != nil {
			return node{}, err
		}
		n.items = append(n.items, item)
	}
	_, err := p.dec.Token()
	return n, p.syntax(err)
}

func (p *jsonParser) object(n node, depth int) (node, error) {
	lineOf := map[string]int{}
	for p.dec.More() {
		at := p.next()
		tok, err := p.dec.Token()
		if err != nil {
			return node{}, p.syntax(err)
		}
		key, _ := tok.(string) // the decoder accepts nothing else
		line, col := p.place(at)
		if first, twice := lineOf[key]; twice {
			return node{}, p.problem(at, "the key %s is given twice, first on line %d; remove one of them", quote(key), first)
		}
		lineOf[key] = line
		value, err := p.value(depth + 1)
		if err != nil {
			return node{}, err
		}
		n.entries = append(n.entries, entry{key, line, col, value})
	}
	_, err := p.dec.Token()
	return n, p.syntax(err)
}

// syntax turns the decoder's error into ours; nil stays nil.
func (p *jsonParser) syntax(err error) error {
	syntax, isSyntax := errors.AsType[*json.SyntaxError](err)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return p.problem(len(p.data), "this is not valid JSON: it ends before the last brace or bracket is closed")
	case isSyntax && strings.Contains(syntax.Error(), "'/'"):
		return p.problem(max(int(syntax.Offset)-1, 0), "this is not valid JSON, which has no comments: remove it, or write YAML, where a comment begins with #")
	case isSyntax:
		return p.problem(max(int(syntax.Offset)-1, 0), "this is not valid JSON: %s", syntax.Error())
	}
	return p.problem(p.next(), "this is not valid JSON: %s", err.Error())
}

func (p *jsonParser) problem(at int, format string, args ...any) error {
	line, col := p.place(at)
	return oneProblem(p.source, line, col, format, args...)
}

// place returns the line and column of an offset.
func (p *jsonParser) place(at int) (line, col int) {
	if p.lines == nil {
		p.lines = []int{0}
		for i, c := range p.data {
			if c == '\n' {
				p.lines = append(p.lines, i+1)
			}
		}
	}
	at = min(at, len(p.data))
	line, _ = slices.BinarySearch(p.lines, at+1)
	return line, 1 + utf8.RuneCount(p.data[p.lines[line-1]:at])
}

// looksLikeJSON reports whether a text is meant as JSON. If it is, its errors are reported as
// errors of JSON, not of YAML. A text of YAML that begins with a brace or bracket seldom ends
// there, and seldom goes on with a quote, a brace or a closing bracket.
func looksLikeJSON(data []byte) bool {
	data = bytes.TrimLeft(data, " \t\r\n")
	if len(data) == 0 || !slices.Contains([]byte("{["), data[0]) {
		return false
	}
	inside := bytes.TrimLeft(data[1:], " \t\r\n")
	return len(inside) == 0 || slices.Contains([]byte(`"{}]`), inside[0])
}
