package sanitize

import "strings"

// address is an address in a text: an http, https or ftp address, or a www. name.
// Its scheme and slashes may contain what vanishes.
type address struct {
	start, end int // of the address
	host       int // where the host begins: after the slashes, or after "www."
	hostEnd    int // where the host ends: at the path, or at the end
	www        bool
	secure     bool // www or https
}

// findAddresses calls visit for each address in text that renderers and mail
// programs link by themselves. visit returns where to search next; the search goes
// on at least after the colon or dot that led to the address.
func findAddresses(text string, visit func(a address) (next int)) {
	var last addressEnds
	for i := 0; ; {
		k := i
		for k < len(text) && contents[text[k]]&(hasColon|hasDot) == 0 {
			k++
		}
		if k >= len(text) {
			return
		}
		find := wwwAt
		if text[k] == ':' {
			find = schemeAt
		}
		a, ok := find(text, i, k)
		if !ok {
			i = k + 1
			continue
		}
		a.extend(text, &last)
		i = max(visit(a), k+1)
	}
}

// schemeAt returns the address with "http", "https" or "ftp" before the "://" at
// k. The address starts at the offset from or later.
func schemeAt(text string, from, k int) (a address, ok bool) {
	host := k + 1
	for range 2 {
		host = skipVanishing(text, host)
		if host >= len(text) || text[host] != '/' {
			return a, false
		}
		host++
	}
	first := host
	for first < len(text) && vanishes(text[first]) && text[first] != '[' && text[first] != ']' {
		first++
	}
	if first < len(text) && endsAddress(text[first]) {
		return a, false
	}
	var letters [len("https")]byte
	n := len(letters)
	for j := k - 1; j >= from && n > 0; j-- {
		if vanishes(text[j]) {
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

// wwwAt returns the address that begins with "www" before the dot at k. ok is false if no "www"
// begins at the offset from or later, or if no host can follow the dot.
func wwwAt(text string, from, k int) (a address, ok bool) {
	start, letters := k, 0
	for j := k - 1; j >= from && letters < len("www"); j-- {
		if vanishes(text[j]) {
			continue
		}
		if text[j]|0x20 != 'w' {
			return a, false
		}
		letters++
		start = j
	}
	if letters < len("www") || start > 0 && isAlnum(text[start-1]) {
		return a, false
	}
	first := skipVanishing(text, k+1)
	if first == len(text) || !isHostByte(text[first]) && !hasTopLevel(text[first:]) {
		return a, false
	}
	return address{start: start, host: k + 1, www: true, secure: true}, true
}

// hasTopLevel reports whether there is a dot with a letter after it in s, before
// white space: some readers take anything before such a dot for a host.
func hasTopLevel(s string) bool {
	const maxHost = 260
	for i := 0; i+1 < min(len(s), maxHost) && !endsAddress(s[i]); i++ {
		if s[i] == '.' && isAlpha(s[i+1]) {
			return true
		}
	}
	return false
}

// addressEnds are the ends of the last address that was found.
type addressEnds struct {
	stop int // the end of what may be the host
	end  int
}

// extend sets the ends of the host and of the address. White space and markup end an address.
// Punctuation and closing brackets at its end belong to the sentence. If the address begins in the
// host of the last address, or its path begins inside the last address, both end at the same place.
func (a *address) extend(text string, last *addressEnds) {
	const punctuation = ".,;:!?'*_~]"
	if a.host <= last.stop {
		last.end = max(a.host, last.end)
		a.end, a.hostEnd = last.end, min(last.stop, last.end)
		return
	}
	i := a.host
	for i < len(text) && !endsAddress(text[i]) && !endsHost(text[i]) {
		i++
	}
	last.stop = i
	switch {
	case i < last.end:
		i = last.end
	case i < len(text) && endsHost(text[i]):
		i = pathEnd(text, i)
	default:
		i = trimEnd(text, a.host, i, punctuation+")"+string(rune(markTag)))
	}
	a.end = trimEnd(text, a.host, i, punctuation)
	a.hostEnd = min(last.stop, a.end)
	last.end = a.end
}

// pathEnd returns the end of the path that begins at text[i].
func pathEnd(text string, i int) int {
	for open := 0; i < len(text); i++ {
		c := text[i]
		if endsAddress(c) || c <= ' ' || c == '`' {
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

// trimEnd returns the end of text[start:end] without the bytes of cut at its end.
func trimEnd(text string, start, end int, cut string) int {
	for end > start && strings.IndexByte(cut, text[end-1]) >= 0 {
		end--
	}
	return end
}

// endsAddress reports whether c cannot be part of an address: white space and markup cannot. Marks
// of a flat text can, because the text that they stand for may continue the address.
func endsAddress(c byte) bool {
	return c == ' ' || c == '\n' || c == '\t' || c == '<' || c == '>' || c == '"'
}

func endsHost(c byte) bool { return c == '/' || c == '?' || c == '#' }

func hasWWW(s string) bool { return len(s) > len("www.") && strings.EqualFold(s[:len("www.")], "www.") }

func isHostByte(c byte) bool { return isAlnum(c) || c >= 0x80 || c == '-' || c == '[' }

// judgeText decides about an address in a flat text, by its scheme, host and path. It judges a host
// with marks or characters other than ASCII twice: its start, up to the first of these, and all of
// it, without tags. If only the start is allowed, part is the offset at which the caller puts a
// space, so that every reader ends the host there. Otherwise part is 0. Such a host with an "@" in it
// is not allowed, and part is 0.
func (s *Sanitizer) judgeText(text string, a address) (v verdict, part int) {
	v, part = s.judgeTextHosts(text, a)
	if v.allowed && s.refs.limited {
		// Another address in the path ends the path, and is judged on its own. But to a browser it is
		// part of the path, from which a ".." may take it back. Only the beginning of a path is read,
		// because many addresses may share one long path; a longer one may lead to anything.
		const far = 2000
		path := text[a.hostEnd:min(a.end, a.hostEnd+far)]
		before, _, _ := strings.Cut(path, "://")
		isRead := a.end <= a.hostEnd+far || strings.ContainsAny(path, "?#") || !s.refs.limits(v.host)
		v.allowed = isRead && s.refs.allowsPath(v.host, strings.Map(dropMarks, before)) && s.refs.allowsPath(v.host, strings.Map(dropMarks, path))
	}
	return v, part
}

// judgeTextHosts is judgeText without the path.
func (s *Sanitizer) judgeTextHosts(text string, a address) (v verdict, part int) {
	host := text[a.host:a.hostEnd]
	plain := strings.IndexFunc(host, func(r rune) bool { return r >= 0x80 || r < ' ' })
	if plain < 0 {
		return s.judgeTextHost(a, host), 0
	}
	v = s.judgeTextHost(a, strings.ReplaceAll(host, string(rune(markTag)), ""))
	if strings.Contains(host, "@") {
		v.allowed = false
		return v, 0
	}
	first := s.judgeTextHost(a, host[:plain])
	switch {
	case first.allowed && !v.allowed:
		part = a.host + plain
	case !first.allowed && host[plain] < ' ':
		v.allowed = false
	}
	return v, part
}

// dropMarks removes the marks of a flat text.
func dropMarks(r rune) rune {
	if r < ' ' {
		return -1
	}
	return r
}

func (s *Sanitizer) judgeTextHost(a address, host string) verdict {
	v := s.judgeAuthority(host)
	if a.www && !v.allowed {
		v = s.judgeAuthority("www." + host)
	}
	v.allowed = v.allowed && a.secure
	return v
}
