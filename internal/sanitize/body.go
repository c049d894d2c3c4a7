package sanitize

// Body cleans a Markdown text.
func (s *Sanitizer) Body(text string) (string, []Note) {
	return s.Plain(text)
}
