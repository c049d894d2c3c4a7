package githubapi

import (
	"iter"
)

// perPage is the page size of every list: GitHub's maximum.
const perPage = 100

// maxPages bounds a list, so that a server which never stops answering does not
// keep us for ever: 1,000 pages are 100,000 entries.
const maxPages = 1000

// pager reads one page and says which one follows; 0 after the last.
type pager[T any] func(page int) (items []T, next int, err error)

// pages walks through all pages and yields each entry once.
//
// Pages are numbered, so they shift when an entry is added or removed while
// they are read. An entry that shows up twice is yielded once. One that moves to
// a page already read would be missed: so a list of more than one page is read
// again, up to three times in all, until a reading brings nothing new. Lists of
// one page cost one request. stable says that a list cannot shift.
func pages[T any, K comparable](key func(T) K, stable bool, get pager[T]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		seen := make(map[K]struct{})
		for pass := range 3 {
			fresh, read := 0, 0
			for page := 1; page > 0; {
				items, next, err := get(page)
				if err != nil {
					yield(zero, err)
					return
				}
				read++
				for _, it := range items {
					k := key(it)
					if _, dup := seen[k]; dup {
						continue
					}
					seen[k] = struct{}{}
					fresh++
					if !yield(it, nil) {
						return
					}
				}
				if next <= page || read >= maxPages {
					break
				}
				page = next
			}
			if stable || read < 2 || pass > 0 && fresh == 0 {
				return
			}
		}
	}
}

// cursors walks through a GraphQL connection. Cursors name an entry and not a
// place, so nothing is missed when the list changes; duplicates are dropped.
// get reads the page after a cursor; done says that no further page matters.
func cursors[T any](key func(T) string, get func(cursor string) (items []T, info pageInfo, done bool, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		seen := make(map[string]struct{})
		cursor := ""
		for range maxPages {
			items, info, done, err := get(cursor)
			if err != nil {
				yield(zero, err)
				return
			}
			for _, it := range items {
				k := key(it)
				if _, dup := seen[k]; dup {
					continue
				}
				seen[k] = struct{}{}
				if !yield(it, nil) {
					return
				}
			}
			if done || !info.HasNextPage || info.EndCursor == "" || info.EndCursor == cursor {
				return
			}
			cursor = info.EndCursor
		}
	}
}
