package githubapi

import (
	"context"
	"iter"
	"strings"

	"github.com/google/go-github/v60/github"
)

// perPage is the page size of every list: GitHub's maximum.
const perPage = 100

// maxPages bounds a list, so that a server which never stops answering does not
// keep us for ever: 1,000 pages are 100,000 entries.
const maxPages = 1000

// maxIdlePages is how many pages in a row may have nothing that the one before did not have. GitHub
// leaves out of a page what it hides, so that a page in the middle can be empty.
const maxIdlePages = 10

// noMorePages is the Response.NextPage that ends a list before its end.
const noMorePages = -1

// endless is why a list is not believed that has more than maxPages, or repeats itself.
const endless = "the list does not end"

// pages walks through all pages of a REST list and yields each entry once. get reads
// one page; key identifies an entry in the list.
//
// Pages are numbered, so entries move from page to page when one is added or removed
// between two requests. An entry that shows up twice is yielded once. One that moves to
// a page already read would be missed: so a list of more than one page is read
// again, up to three times in all, until a reading brings nothing new. Lists of
// one page cost one request, and stable ones are read once.
//
// An answer without a list, or with an entry that has no key, says nothing about what is
// there: it is Malformed. So is a list that does not end: a part of it is not the list.
func pages[G, T any, K comparable](ctx context.Context, list *operation, key func(T) K, convert func(*G) T,
	get func(context.Context, github.ListOptions) ([]*G, *github.Response, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		seen := make(map[K]struct{})
		for pass := range 3 {
			fresh := 0  // entries that no reading had before
			filled := 0 // pages that begin with another entry than the one before
			idle := 0   // pages since the last of those
			more := announced
			var first K // of the page before
			for page := 1; more != ended; page++ {
				op := *list
				entries, resp, err := get(op.context(ctx), github.ListOptions{Page: page, PerPage: perPage})
				if err == nil && entries == nil {
					err = op.unexpectedAnswer("it has no list")
				}
				if err != nil {
					var none T
					yield(none, op.finish(err))
					return
				}
				idle++
				for i, g := range entries {
					var entry T
					if g != nil {
						entry = convert(g)
					}
					var none K
					if g == nil || key(entry) == none {
						yield(entry, op.unexpectedAnswer("an entry of the list is empty"))
						return
					}
					if i == 0 && key(entry) != first {
						first, idle = key(entry), 0
						filled++
					}
					if !isFirst(seen, key(entry)) {
						continue
					}
					fresh++
					if !yield(entry, nil) {
						return
					}
				}
				if idle > 0 && more == unannounced {
					break
				}
				if more = goesOn(resp, page, len(entries)); more != ended && (page == maxPages || idle > maxIdlePages) {
					var none T
					yield(none, op.unexpectedAnswer(endless))
					return
				}
			}
			if list.stable || filled < 2 || pass > 0 && fresh == 0 {
				return
			}
		}
	}
}

// more is whether a list goes on after a page.
type more int

const (
	ended       more = iota
	announced        // GitHub says so
	unannounced      // it may
)

// goesOn decides whether a list goes on. The Link header says it, and nothing else of that is
// used: the next page is the next number at the same address, whatever the header names. Where
// the header is missing or cannot be read, as behind a proxy that rewrites it, the next page is
// asked for unless the first one was not full.
func goesOn(resp *github.Response, page, entries int) more {
	if resp.NextPage == noMorePages {
		return ended
	}
	links := resp.Header.Values("Link")
	switch {
	case hasRelation(links, "next"):
		return announced
	case hasRelation(links, "prev"), hasRelation(links, "first"), page == 1 && len(links) == 0 && entries < perPage:
		return ended
	}
	return unannounced
}

// hasRelation reports whether one of the links in Link headers has a relation, with or without
// quotation marks.
func hasRelation(headers []string, relation string) bool {
	for _, header := range headers {
		for link := range strings.SplitSeq(header, ",") {
			parameters := link[strings.LastIndexByte(link, '>')+1:]
			for parameter := range strings.SplitSeq(parameters, ";") {
				name, value, _ := strings.Cut(parameter, "=")
				if strings.EqualFold(strings.TrimSpace(name), "rel") && strings.EqualFold(strings.Trim(value, "\"' \t"), relation) {
					return true
				}
			}
		}
	}
	return false
}

// isFirst adds a key to those that were seen, and reports whether it was new.
func isFirst[K comparable](seen map[K]struct{}, key K) bool {
	if _, ok := seen[key]; ok {
		return false
	}
	seen[key] = struct{}{}
	return true
}

// trail is the way through a GraphQL connection, from cursor to cursor. The zero trail is at its
// beginning.
type trail struct {
	cursor string // of the last entry that was read; "" at the beginning
	ended  bool
	seen   map[string]struct{}
}

// follow moves on to the page after one that was read. A connection that goes on from nowhere, or
// from where it was before, is Malformed: what was read of it is not all.
func (t *trail) follow(op *operation, page pageInfo) error {
	if t.ended = !page.HasNextPage; t.ended {
		return nil
	}
	if t.seen == nil {
		t.seen = map[string]struct{}{}
	}
	switch {
	case page.EndCursor == "":
		return op.unexpectedAnswer("the list goes on, but it does not say from where")
	case !isFirst(t.seen, page.EndCursor), len(t.seen) == maxPages:
		return op.unexpectedAnswer(endless)
	}
	t.cursor = page.EndCursor
	return nil
}

// cursors walks through a GraphQL connection. A cursor names an entry and not its
// position, so nothing is missed when the list changes; duplicates are dropped.
// get reads the page after a cursor. As for pages, an answer without a list, with
// an entry that has no key, or that does not end, is Malformed.
func cursors[T any](list *operation, key func(T) string, get func(op *operation, cursor string) ([]T, pageInfo, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		seen := make(map[string]struct{})
		for way := (trail{}); !way.ended; {
			op := *list
			entries, info, err := get(&op, way.cursor)
			switch {
			case err != nil:
			case entries == nil:
				err = op.unexpectedAnswer("it has no list")
			case len(entries) > 0 && info == pageInfo{}:
				err = op.unexpectedAnswer("it does not say whether the list goes on")
			}
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, entry := range entries {
				if key(entry) == "" {
					yield(entry, op.unexpectedAnswer("an entry of the list is empty"))
					return
				}
				if isFirst(seen, key(entry)) && !yield(entry, nil) {
					return
				}
			}
			if err := way.follow(&op, info); err != nil {
				var none T
				yield(none, err)
				return
			}
		}
	}
}
