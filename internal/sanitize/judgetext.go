package sanitize

import "strings"

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
