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

// maxIdlePages is how many pages in a row may be empty or begin with the same entry as the page
// before. GitHub leaves hidden entries out of a page, so that a page in the middle can be empty.
const maxIdlePages = 10

// noMorePages is a value of Response.NextPage. A function that requests a page sets it to end the
// list with that page.
const noMorePages = -1

// maxReadings is how many times a list that changes meanwhile is read at most.
const maxReadings = 3

// endless is the reason why an operation rejects a list that repeats itself or has more than maxPages.
const endless = "the list does not end"

// pages walks through all pages of a REST list and yields each entry once. get requests one page;
// key identifies an entry in the list.
//
// Pages are numbered, so entries move from page to page when one is added or removed between two
// requests. An entry that shows up twice is yielded once. An entry that moves to a page that was
// already read would be missed. A list of several pages is therefore read again until a reading
// brings nothing new, at most maxReadings times in all. A list of one page is read once, and so is
// a stable list.
//
// The error is Malformed for an answer without a list, an entry without a key, and a list that does
// not end. None of them shows all that there is.
func pages[G, T any, K comparable](ctx context.Context, list *operation, key func(T) K, convert func(*G) T,
	get func(context.Context, github.ListOptions) ([]*G, *github.Response, error)) iter.Seq2[T, error] {
	// read reads one page.
	read := func(number int) (entries []T, next continuation, err error) {
		op := *list // each request has an operation of its own
		answer, resp, err := get(op.context(ctx), github.ListOptions{Page: number, PerPage: perPage})
		if err == nil && answer == nil {
			err = op.unexpectedAnswer("it has no list")
		}
		if err != nil {
			return nil, ended, op.finish(err)
		}
		for _, g := range answer {
			var noKey K
			if g == nil || key(convert(g)) == noKey {
				return nil, ended, op.unexpectedAnswer("an entry of the list is empty")
			}
			entries = append(entries, convert(g))
		}
		return entries, continuationAfter(resp, number, len(entries)), nil
	}
	// readAll reads all pages once and yields the entries that were not seen before. distinct is how
	// many pages began with an entry that differs from the first one of the page before; ok is false
	// if nothing more may be yielded.
	readAll := func(seen map[K]struct{}, yield func(T, error) bool) (distinct int, ok bool) {
		var first K // of the last distinct page
		idle := 0   // how many pages came after that one
		next := announced
		for number := 1; next != ended; number++ {
			entries, after, err := read(number)
			if err != nil {
				var none T
				yield(none, err)
				return distinct, false
			}
			if len(entries) == 0 || key(entries[0]) == first {
				idle++
			} else {
				first = key(entries[0])
				distinct++
				idle = 0
			}
			for _, entry := range entries {
				if markSeen(seen, key(entry)) && !yield(entry, nil) {
					return distinct, false
				}
			}
			if next == unannounced && idle > 0 {
				break // this page was only tried, and brought nothing
			}
			next = after
			if next != ended && (number == maxPages || idle > maxIdlePages) {
				var none T
				yield(none, list.unexpectedAnswer(endless))
				return distinct, false
			}
		}
		return distinct, true
	}
	return func(yield func(T, error) bool) {
		seen := make(map[K]struct{})
		for reading := 1; reading <= maxReadings; reading++ {
			before := len(seen)
			distinct, ok := readAll(seen, yield)
			isUnchanged := reading > 1 && len(seen) == before
			if !ok || list.stable || distinct < 2 || isUnchanged {
				return
			}
		}
	}
}

// continuation is whether a list goes on after a page.
type continuation int

const (
	ended       continuation = iota
	announced                // GitHub says that there is a next page
	unannounced              // there may be one: it is tried
)

// continuationAfter returns whether a list goes on after a page. It uses the relations in the
// page's Link header, not the addresses: the next page has the next number. If the header cannot be
// read, for example because a proxy rewrote it, the next page is tried. Without a header, it is
// tried as well, unless the page is the first and not full.
func continuationAfter(resp *github.Response, page, entries int) continuation {
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

// markSeen adds a key to those that were seen, and reports whether it was new.
func markSeen[K comparable](seen map[K]struct{}, key K) bool {
	if _, ok := seen[key]; ok {
		return false
	}
	seen[key] = struct{}{}
	return true
}

// trail follows a GraphQL connection from cursor to cursor. The zero trail is at its beginning.
type trail struct {
	cursor string // of the last entry that was read; "" at the beginning
	ended  bool
	seen   map[string]struct{}
}

// follow moves on from the page that was read last to the next one, or ends the trail. The error is
// Malformed if the page has no cursor for the next one, or a cursor that was used before, or if it
// is page maxPages and not the last.
func (t *trail) follow(op *operation, page pageInfo) error {
	if !page.HasNextPage {
		t.ended = true
		return nil
	}
	if t.seen == nil {
		t.seen = map[string]struct{}{}
	}
	switch {
	case page.EndCursor == "":
		return op.unexpectedAnswer("the list goes on, but it does not say from where")
	case !markSeen(t.seen, page.EndCursor), len(t.seen) == maxPages:
		return op.unexpectedAnswer(endless)
	}
	t.cursor = page.EndCursor
	return nil
}

// cursors walks through a GraphQL connection. A cursor names an entry and not its
// position, so nothing is missed when the list changes; duplicates are dropped.
// get reads the page after a cursor. The error is Malformed for an answer without a list,
// for entries without information on the next page, for an entry without a key, and
// for a list that does not end.
func cursors[T any](list *operation, key func(T) string, get func(op *operation, cursor string) ([]T, pageInfo, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		fail := func(err error) {
			var none T
			yield(none, err)
		}
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
				fail(err)
				return
			}
			for _, entry := range entries {
				if key(entry) == "" {
					fail(op.unexpectedAnswer("an entry of the list is empty"))
					return
				}
				if markSeen(seen, key(entry)) && !yield(entry, nil) {
					return
				}
			}
			if err := way.follow(&op, info); err != nil {
				fail(err)
				return
			}
		}
	}
}

// collect reads a list to its end and returns its entries converted, or the list's error.
func collect[T, U any](list iter.Seq2[T, error], convert func(T) U) (all []U, err error) {
	for entry, err := range list {
		if err != nil {
			return nil, err
		}
		all = append(all, convert(entry))
	}
	return all, nil
}
