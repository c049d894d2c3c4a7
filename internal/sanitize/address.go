package sanitize

import "strings"

// address is an address in a text: an http, https or ftp address, or a www.
// name. Marks of emphasis, brackets and tags may stand within its scheme and
// its slashes: they are gone when the text is rendered and its parts are joined.
type address struct {
	start, end int // of the whole
	host       int // where what follows the slashes, or "www.", begins
	hostEnd    int // where that ends: at the path, or at the end
	www        bool
	secure     bool // www or https
}

// findURLs calls found for each address in text that renderers and mail
// programs link by themselves. found returns where to search on, at least one
// byte further.
func findURLs(text string, found func(a address) (next int)) {
	end := 0 // of the address that was found last
	for i := 0; i < len(text); {
		k := strings.IndexAny(text[i:], ":.")
		if k < 0 {
			return
		}
		k += i
		a, ok := address{}, false
		if text[k] == ':' {
			a, ok = schemeAt(text, i, k)
		} else {
			a, ok = wwwAt(text, i, k)
		}
		if !ok {
			i = k + 1
			continue
		}
		a.extend(text, end)
		end = a.end
		i = max(found(a), k+1)
	}
}

// schemeAt tells whether "http", "https" or "ftp" stands before "://" at k,
// not before from.
func schemeAt(text string, from, k int) (a address, ok bool) {
	host := k + 1
	for range 2 {
		host = skipMarks(text, host)
		if host >= len(text) || text[host] != '/' {
			return a, false
		}
		host++
	}
	first := host
	for first < len(text) && isEmphasis(text[first]) {
		first++
	}
	if first < len(text) && endsURL(text[first]) {
		return a, false
	}
	var letters [5]byte
	n := len(letters)
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
			a = address{start: j, host: host, secure: n == 0}
			ok = true
		}
	}
	return a, ok
}

// wwwAt tells whether "www" stands before the dot at k, not before from, and
// what may be a host behind it.
func wwwAt(text string, from, k int) (a address, ok bool) {
	start, letters := k, 0
	for j := k - 1; j >= from && letters < 3; j-- {
		if isSqueezed(text[j]) {
			continue
		}
		if text[j]|0x20 != 'w' {
			return a, false
		}
		letters++
		start = j
	}
	if letters < 3 || start > 0 && isAlnum(text[start-1]) {
		return a, false
	}
	first := skipMarks(text, k+1)
	if first == len(text) || !isHostByte(text[first]) && !hasTopLevel(text[first:]) {
		return a, false
	}
	return address{start: start, host: k + 1, www: true, secure: true}, true
}

// hasTopLevel tells that a dot and a letter stand in what begins s, before
// white space: some readers take anything before these for a host.
func hasTopLevel(s string) bool {
	const maxHost = 260
	for i := 0; i+1 < min(len(s), maxHost) && !endsURL(s[i]); i++ {
		if s[i] == '.' && isAlpha(s[i+1]) {
			return true
		}
	}
	return false
}

// extend finds the ends of the host and of the whole: before white space or
// markup; punctuation and closing brackets at the end belong to the sentence.
// Where the path begins before known, the end of an address around this one,
// it ends there too.
func (a *address) extend(text string, known int) {
	i := a.host
	for i < len(text) && !endsURL(text[i]) && !endsHost(text[i]) {
		i++
	}
	a.hostEnd = i
	switch {
	case i < known:
		i = known
	case i < len(text) && endsHost(text[i]):
		i = pathEnd(text, i)
	default:
		i = trimEnd(text, a.host, i, ".,;:!?'*_~])\x02")
	}
	a.end = trimEnd(text, a.host, i, ".,;:!?'*_~]")
	a.hostEnd = min(a.hostEnd, a.end)
}

// pathEnd returns the end of the path that begins at text[i].
func pathEnd(text string, i int) int {
	for open := 0; i < len(text); i++ {
		c := text[i]
		if endsURL(c) || c <= ' ' || c == '`' {
			break
		}
		if c == '(' {
			open++
		}
		if c == ')' {
			if open--; open < 0 {
				break
			}
		}
	}
	return i
}

func trimEnd(text string, start, i int, cut string) int {
	for i > start && strings.IndexByte(cut, text[i-1]) >= 0 {
		i--
	}
	return i
}

// endsURL tells of what cannot stand in an address: white space and markup.
// Marks of code and the like can: what they stand for may be joined to it.
func endsURL(c byte) bool {
	switch c {
	case ' ', '\n', '\t', '<', '>', '"':
		return true
	}
	return false
}

func endsHost(c byte) bool { return c == '/' || c == '?' || c == '#' }

func isEmphasis(c byte) bool { return c == '*' || c == '_' || c == '~' || c == markTag }

func skipMarks(text string, k int) int {
	for k < len(text) && isSqueezed(text[k]) {
		k++
	}
	return k
}

func hasWWW(s string) bool {
	return len(s) > 4 && s[0]|0x20 == 'w' && s[1]|0x20 == 'w' && s[2]|0x20 == 'w' && s[3] == '.'
}

func isHostByte(c byte) bool { return isAlnum(c) || c >= 0x80 || c == '-' || c == '[' }

// judgeText judges an address that stands in a text. Only its scheme and host
// decide, as far as the first tag and with all tags taken out. Where an allowed
// host is followed by what is not text, or not ASCII, part says at which offset
// a space parts the two; otherwise it is 0.
func (s *Sanitizer) judgeText(text string, a address) (v verdict, part int) {
	host := text[a.host:a.hostEnd]
	parts := strings.IndexFunc(host, func(r rune) bool { return r >= 0x80 || r < ' ' })
	if parts < 0 {
		return s.judgeTextHost(a, host), 0
	}
	v = s.judgeTextHost(a, strings.ReplaceAll(host, string(rune(markTag)), ""))
	if strings.IndexByte(host, '@') >= 0 {
		v.allowed = false
		return v, 0
	}
	first := s.judgeTextHost(a, host[:parts])
	switch {
	case first.allowed && !v.allowed:
		part = a.host + parts
	case !first.allowed && host[parts] < ' ':
		v.allowed = false
	}
	return v, part
}

func (s *Sanitizer) judgeTextHost(a address, host string) verdict {
	v := s.judgeAuthority("https", host)
	if a.www && !v.allowed {
		v = s.judgeAuthority("https", "www."+host)
	}
	v.allowed = v.allowed && a.secure
	return v
}
