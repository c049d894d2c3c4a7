package markdown

import "strings"

// Destination returns where link i leads, decoded as GitHub does: character
// references and backslash escapes resolved, mailto: or http:// put before bare
// addresses. It is not yet normalised or percent-encoded.
func (d *Document) Destination(i int) string {
	l := &d.Links[i]
	raw := d.linkPart(l, l.Dest)
	switch l.Kind {
	case BareURL:
		return raw
	case BareWWW:
		return "http://" + raw
	case BareEmail:
		text := decodeText(raw)
		if strings.IndexByte(text, ':') >= 0 { // mailto: or xmpp: is written
			return text
		}
		return "mailto:" + text
	case AngleURL:
		return decodeEntities(strings.Trim(raw, " \t\r\n"))
	case AngleEmail:
		return "mailto:" + decodeEntities(raw)
	}
	return unescape(decodeEntities(strings.Trim(raw, " \t\r\n")))
}

// LinkTitle returns the title of link i, decoded, without its quotes.
func (d *Document) LinkTitle(i int) string {
	l := &d.Links[i]
	if l.Title.Empty() {
		return ""
	}
	raw := d.linkPart(l, l.Title)
	return unescape(decodeEntities(raw[1 : len(raw)-1]))
}

// linkPart returns the content of a span of l, which lies in l's leaf or in its
// definition.
func (d *Document) linkPart(l *Link, span Span) string {
	if l.Definition >= 0 {
		return d.DefinitionLiteral(&d.Definitions[l.Definition], span)
	}
	return d.Literal(&d.Blocks[l.Block], span)
}

// DefinitionLiteral is Literal for a span of a definition.
func (d *Document) DefinitionLiteral(def *Definition, span Span) string {
	end := min(int(def.firstPiece+def.pieceCount), len(d.Pieces))
	return d.literal(d.Pieces[def.firstPiece:end], span)
}

// InfoString returns the info string of fenced code, decoded.
func (d *Document) InfoString(b *Block) string {
	raw := decodeEntities(d.Source[b.Info.Start:b.Info.End])
	return unescape(strings.Trim(raw, " \t\r\n"))
}

// CodeText returns what the code span n of leaf b shows: its content with line
// breaks as spaces, less one space at both ends if there is one at both and the
// span is not only spaces.
func (d *Document) CodeText(b *Block, n *Inline) string {
	raw := d.Literal(b, n.Span)
	raw = lineBreaksToSpaces(raw[n.Data : len(raw)-int(n.Data)])
	if len(raw) > 1 && raw[0] == ' ' && raw[len(raw)-1] == ' ' && strings.Trim(raw, " ") != "" {
		raw = raw[1 : len(raw)-1]
	}
	return raw
}

// decodeText decodes literal text: escapes and character references.
func decodeText(s string) string {
	if !strings.ContainsAny(s, `\&`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && isPunct(s[i+1]):
			i++
		case s[i] == '&':
			if text, n := DecodeEntity(s[i:]); n > 0 {
				b.WriteString(text)
				i += n - 1
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
