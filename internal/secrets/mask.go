package secrets

import (
	"cmp"
	"slices"
	"strings"
)

// stars is what stands for a secret.
const stars = "***"

// maxPasses is how often a masked text is looked at again. One pass is enough,
// save where the parts around a secret make another when it is gone.
const maxPasses = 8

// Mask returns the text with every secret replaced by ***. What it returns holds
// no known value in any form and nothing that Scan finds, and masking it again
// changes nothing.
func (s *Scanner) Mask(text string) string {
	for range maxPasses {
		hits := s.find("", text)
		if len(hits) == 0 {
			return text
		}
		text = replace(text, hits)
	}
	if len(s.find("", text)) == 0 {
		return text
	}
	if len(s.find("", stars)) != 0 {
		return ""
	}
	return stars // the text was made so that masking it would take long
}

// replace puts stars in the place of hits; hits that overlap or touch become one.
func replace(text string, hits []Hit) string {
	slices.SortFunc(hits, func(a, b Hit) int { return cmp.Compare(a.Start, b.Start) })
	var out strings.Builder
	end := 0
	for i, h := range hits {
		if i == 0 || h.Start > end {
			out.WriteString(text[end:h.Start])
			out.WriteString(stars)
		}
		end = max(end, h.End)
	}
	out.WriteString(text[end:])
	return out.String()
}
