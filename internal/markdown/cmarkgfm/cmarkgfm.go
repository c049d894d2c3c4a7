//go:build cmark

package cmarkgfm

/*
#cgo LDFLAGS: -lcmark-gfm-extensions -lcmark-gfm
#include <stdlib.h>
#include <string.h>
#include <cmark-gfm.h>
#include <cmark-gfm-extension_api.h>
#include <cmark-gfm-core-extensions.h>

enum { OPTIONS = CMARK_OPT_FOOTNOTES | CMARK_OPT_UNSAFE };

typedef struct { char *data; size_t len, cap; } out;

static void put(out *o, const char *s, size_t n) {
	if (o->len + n > o->cap) {
		o->cap = (o->len + n) * 2 + 256;
		o->data = realloc(o->data, o->cap);
	}
	memcpy(o->data + o->len, s, n);
	o->len += n;
}

static void put_number(out *o, int n) {
	char b[4] = {n & 255, n >> 8 & 255, n >> 16 & 255, n >> 24 & 255};
	put(o, b, 4);
}

static void put_string(out *o, const char *s) {
	int n = s ? (int)strlen(s) : 0;
	put_number(o, n);
	if (n)
		put(o, s, n);
}

static cmark_parser *new_parser(void) {
	static const char *names[] = {"table", "strikethrough", "autolink", "tagfilter", "tasklist"};
	cmark_parser *p = cmark_parser_new(OPTIONS);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		cmark_parser_attach_syntax_extension(p, cmark_find_syntax_extension(names[i]));
	return p;
}

static void ensure(void) { cmark_gfm_core_extensions_ensure_registered(); }

static char *to_html(const char *s, size_t n) {
	cmark_parser *p = new_parser();
	cmark_parser_feed(p, s, n);
	cmark_node *root = cmark_parser_finish(p);
	char *html = cmark_render_html(root, OPTIONS, cmark_parser_get_syntax_extensions(p));
	cmark_node_free(root);
	cmark_parser_free(p);
	return html;
}

static out to_events(const char *s, size_t n) {
	out o = {0};
	cmark_parser *p = new_parser();
	cmark_parser_feed(p, s, n);
	cmark_node *root = cmark_parser_finish(p);
	cmark_iter *it = cmark_iter_new(root);
	cmark_event_type ev;
	while ((ev = cmark_iter_next(it)) != CMARK_EVENT_DONE) {
		cmark_node *node = cmark_iter_get_node(it);
		const char *type = cmark_node_get_type_string(node);
		// The library has no names for these two.
		if (cmark_node_get_type(node) == CMARK_NODE_FOOTNOTE_DEFINITION)
			type = "footnote_definition";
		if (cmark_node_get_type(node) == CMARK_NODE_FOOTNOTE_REFERENCE)
			type = "footnote_reference";
		put_number(&o, ev == CMARK_EVENT_ENTER);
		put_string(&o, type);
		if (ev != CMARK_EVENT_ENTER)
			continue;
		put_string(&o, cmark_node_get_literal(node));
		put_string(&o, cmark_node_get_url(node));
		put_string(&o, cmark_node_get_title(node));
		put_string(&o, cmark_node_get_fence_info(node));
		put_number(&o, cmark_node_get_heading_level(node));
	}
	cmark_iter_free(it);
	cmark_node_free(root);
	cmark_parser_free(p);
	return o;
}
*/
import "C"

import (
	"encoding/binary"
	"sync"
	"unsafe"
)

var register = sync.OnceFunc(func() { C.ensure() })

// HTML renders text as GitHub's parser does, with all of GitHub's extensions,
// including the tag filter. Other raw HTML is kept, so that a test sees it.
func HTML(text string) string {
	register()
	in := C.CString(text)
	defer C.free(unsafe.Pointer(in))
	html := C.to_html(in, C.size_t(len(text)))
	defer C.free(unsafe.Pointer(html))
	return C.GoString(html)
}

// Event is a step of the walk through the tree: a node is entered or, if it can
// have children, left.
type Event struct {
	Enter bool
	// Type is cmark's name: document, paragraph, text, code, html_inline, link…
	Type string
	// The rest is set if Enter is and the node has it.
	Literal string // of text, code, html_inline, code_block, html_block and footnotes
	URL     string // of link, image
	Title   string // of link, image
	Info    string // of code_block
	Level   int    // of heading
}

// Events parses text and walks through its tree. Footnotes stand at the end, in
// the order of their first references.
func Events(text string) []Event {
	register()
	in := C.CString(text)
	defer C.free(unsafe.Pointer(in))
	o := C.to_events(in, C.size_t(len(text)))
	defer C.free(unsafe.Pointer(o.data))
	data := C.GoBytes(unsafe.Pointer(o.data), C.int(o.len))

	number := func() int {
		n := binary.LittleEndian.Uint32(data)
		data = data[4:]
		return int(int32(n))
	}
	str := func() string {
		n := number()
		s := string(data[:n])
		data = data[n:]
		return s
	}
	var events []Event
	for len(data) > 0 {
		e := Event{Enter: number() == 1, Type: str()}
		if e.Enter {
			e.Literal, e.URL, e.Title, e.Info, e.Level = str(), str(), str(), str(), number()
		}
		events = append(events, e)
	}
	return events
}
