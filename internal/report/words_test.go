package report

import (
	"strings"
	"testing"
)

// TestMarkWords shows each marked part in brackets.
func TestMarkWords(t *testing.T) {
	for _, c := range []struct{ asked, posted, want string }{
		{"a b", "a b", " a b"},
		{"by @octo", "by @&#8203;octo", "-by @octo\n+by @[&#8203;]octo"},
		{"a\nb", "a", " a\n-[b]"},
		{"a", "a\nb", " a\n+[b]"},
		{"x y\nz", "x w\nz\nv", "-x [y]\n+x [w]\n z\n+[v]"},
		{"one\ntwo", "1", "-[one]\n-[two]\n+[1]"},
		{"日本", "日本語", "-[日本]\n+[日本語]"},
		{strings.Repeat("a ", 3000), strings.Repeat("b ", 3000), "-[" + strings.Repeat("a ", 3000) + "]\n+[" + strings.Repeat("b ", 3000) + "]"},
	} {
		var got []string
		for _, l := range markWords(compareLines(strings.Split(c.asked, "\n"), strings.Split(c.posted, "\n"))) {
			line := string(l.Mark)
			for _, p := range l.Parts {
				if p.Marked {
					line += "[" + p.Text + "]"
				} else {
					line += p.Text
				}
			}
			got = append(got, line)
		}
		if strings.Join(got, "\n") != c.want {
			t.Errorf("%.40q and %.40q:\n%.200s\nwant\n%.200s", c.asked, c.posted, strings.Join(got, "\n"), c.want)
		}
	}
}
