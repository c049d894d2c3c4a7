package markdown

// scanInlines reads the inlines of every leaf that has them.
func (s *scanner) scanInlines() {
}
