package githubapi

import (
	"context"
	"iter"

	"github.com/google/go-github/v60/github"
)

// perPage is the page size of every list: GitHub's maximum.
const perPage = 100

// maxPages bounds a list, so that a server which never stops answering does not
// keep us for ever: 1,000 pages are 100,000 entries.
const maxPages = 1000

// pages walks through all pages of a REST list and yields each entry once. get reads
// one page.
//
// Pages are numbered, so they shift when an entry is added or removed while
// they are read. An entry that shows up twice is yielded once. One that moves to
// a page already read would be missed: so a list of more than one page is read
// again, up to three times in all, until a reading brings nothing new. Lists of
// one page cost one request, and stable ones are read once.
//
// An answer without a list, or with an entry that has no key, says nothing about what is
// there: it is Malformed.
func pages[G, T any, K comparable](ctx context.Context, list *operation, key func(T) K, convert func(*G) T,
	get func(context.Context, github.ListOptions) ([]*G, *github.Response, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		seen := make(map[K]struct{})
		for pass := range 3 {
			fresh, read := 0, 0
			for page := 1; page > 0 && read < maxPages; read++ {
				op := *list
				entries, resp, err := get(op.context(ctx), github.ListOptions{Page: page, PerPage: perPage})
				if err == nil && entries == nil {
					err = op.unlike("it has no list")
				}
				if err != nil {
					var none T
					yield(none, op.finish(err))
					return
				}
				for _, g := range entries {
					var entry T
					if g != nil {
						entry = convert(g)
					}
					var none K
					if g == nil || key(entry) == none {
						yield(entry, op.unlike("an entry of the list is empty"))
						return
					}
					if !isFirst(seen, key(entry)) {
						continue
					}
					fresh++
					if !yield(entry, nil) {
						return
					}
				}
				next := resp.NextPage
				if next <= page {
					next = 0 // that was the last one
				}
				page = next
			}
			if list.stable || read < 2 || pass > 0 && fresh == 0 {
				return
			}
		}
	}
}

func isFirst[K comparable](seen map[K]struct{}, key K) bool {
	if _, ok := seen[key]; ok {
		return false
	}
	seen[key] = struct{}{}
	return true
}

// cursors walks through a GraphQL connection. Cursors name an entry and not a
// place, so nothing is missed when the list changes; duplicates are dropped.
// get reads the page after a cursor.
// Entries that are missing are Malformed, as those of pages.
func cursors[T any](list *operation, key func(T) string, get func(op *operation, cursor string) ([]T, pageInfo, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		seen := make(map[string]struct{})
		cursor := ""
		for range maxPages {
			op := *list
			entries, info, err := get(&op, cursor)
			switch {
			case err != nil:
			case entries == nil:
				err = op.unlike("it has no list")
			case len(entries) > 0 && info == pageInfo{}:
				err = op.unlike("it does not say whether the list goes on")
			}
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, entry := range entries {
				if key(entry) == "" {
					yield(entry, op.unlike("an entry of the list is empty"))
					return
				}
				if isFirst(seen, key(entry)) && !yield(entry, nil) {
					return
				}
			}
			if !info.HasNextPage || info.EndCursor == "" || info.EndCursor == cursor {
				return
			}
			cursor = info.EndCursor
		}
	}
}
