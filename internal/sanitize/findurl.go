package sanitize

import (
	"strings"
)

// findURLs calls found for each address in text that renderers and mail
// programs link by themselves: http, https and ftp addresses, and www. names.
// found returns where to search on, at least one byte further.
func findURLs(text string, found func(start, end int) (next int)) {
	end := 0 // of the address that was found last
	for i := 0; i < len(text); {
		k := strings.IndexAny(text[i:], ":.")
		if k < 0 {
			return
		}
		k += i
		start, rest := -1, k+1
		if text[k] == ':' {
			start, rest = schemeAt(text, i, k)
		} else if k-3 >= i && hasWWW(text[k-3:]) && (k == 3 || !isAlnum(text[k-4])) && k+1 < len(text) && isHostByte(text[k+1]) {
			start = k - 3
		}
		if start < 0 {
			i = k + 1
			continue
		}
		if rest >= end {
			end = urlEnd(text, rest)
		}
		i = max(found(start, end), k+1)
	}
}

// schemeAt returns where http, https or ftp begins before "://" at k, or -1,
// and where the host begins. Marks may stand between: they are gone when texts
// are joined.
func schemeAt(text string, from, k int) (start, host int) {
	host = k + 1
	for range 2 {
		host = skipMarks(text, host)
		if host >= len(text) || text[host] != '/' {
			return -1, 0
		}
		host++
	}
	host = skipMarks(text, host)
	if host < len(text) && text[host] <= ' ' {
		return -1, 0
	}
	var letters [5]byte
	n := len(letters)
	start = -1
	for j := k - 1; j >= from && n > 0; j-- {
		if isSqueezed(text[j]) {
			continue
		}
		if !isAlpha(text[j]) {
			break
		}
		n--
		letters[n] = text[j] | 0x20
		switch string(letters[n:]) {
		case "https", "http", "ftp":
			start = j
		}
	}
	return start, host
}

func skipMarks(text string, k int) int {
	for k < len(text) && isSqueezed(text[k]) {
		k++
	}
	return k
}

// urlEnd returns the end of an address: before white space, markup or a mark;
// punctuation and closing brackets at the end belong to the sentence. Before the
// path a bracket ends nothing when an @ follows: what stands before that is user
// information.
func urlEnd(text string, i int) int {
	start := i
	user := i // where the user information ends
	for k := i; k < len(text) && text[k] > ' ' && strings.IndexByte("/?#<>\"`", text[k]) < 0; k++ {
		if text[k] == '@' {
			user = k
		}
	}
	for open := 0; i < len(text); i++ {
		c := text[i]
		if c <= ' ' || c == '<' || c == '>' || c == '"' || c == '`' || c == 0x7f {
			break
		}
		if c == '(' {
			open++
		}
		if c == ')' {
			if open == 0 && i >= user {
				break
			}
			open = max(open-1, 0)
		}
	}
	for i > start && strings.IndexByte(`.,;:!?'*_~]`, text[i-1]) >= 0 {
		i--
	}
	return i
}

func hasWWW(s string) bool {
	return len(s) > 4 && s[0]|0x20 == 'w' && s[1]|0x20 == 'w' && s[2]|0x20 == 'w' && s[3] == '.'
}

func containsWWW(s string) bool {
	for i := strings.IndexByte(s, '.'); i >= 0 && i < len(s); {
		if i >= 3 && hasWWW(s[i-3:]) {
			return true
		}
		k := strings.IndexByte(s[i+1:], '.')
		if k < 0 {
			return false
		}
		i += 1 + k
	}
	return false
}

func isHostByte(c byte) bool { return isAlnum(c) || c >= 0x80 || c == '-' || c == '[' }
