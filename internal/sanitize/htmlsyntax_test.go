package sanitize

import "testing"

func TestBrowserEntity(t *testing.T) {
	for _, tt := range []struct {
		in, text string
		size     int
	}{
		{"&amp;x", "&", 5}, {"&amp", "&", 4}, {"&ampx", "&", 4}, {"&lt;", "<", 4}, {"&copyright", "©", 5}, {"&notin;", "∉", 7}, {"&notit;", "¬", 4},
		{"&#64;", "@", 5}, {"&#64octocat", "@", 4}, {"&#x40g", "@", 5}, {"&#X40;", "@", 6}, {"&#9s", "\t", 3}, {"&#0;", "\ufffd", 4}, {"&#xd800;", "\ufffd", 8},
		{"&#1114112;", "\ufffd", 10}, {"&#99999999999999999999;", "\ufffd", 23}, {"&#128;", "€", 6}, {"&#159;", "Ÿ", 6}, {"&#8203;", "\u200b", 7}, {"&Tab;", "\t", 5}, {"&semi;", ";", 6},
		{"&colon;", ":", 7}, {"&colon", "", 0}, {"&", "", 0}, {"&;", "", 0}, {"&#;", "", 0}, {"&#x;", "", 0}, {"&unknown;", "", 0}, {"& amp;", "", 0}, {"&NotEqualTilde;", "≂̸", 15},
		{"&CounterClockwiseContourIntegral;", "∳", 33},
	} {
		if text, size := browserEntity(tt.in); text != tt.text || size != tt.size {
			t.Errorf("%q: %q %d, want %q %d", tt.in, text, size, tt.text, tt.size)
		}
	}
	if got := decodeHTML("java&#9script&colon;a&ampb&unknown;&"); got != "java\tscript:a&b&unknown;&" {
		t.Errorf("decodeHTML: %q", got)
	}
}
