package apply

import "testing"

func TestClosed(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"plain\n", "plain"},
		{"", ""},
		{"<details><summary>x</summary>\n\ntext", "<details><summary>x</summary>\n\ntext\n</details>"},
		{"<details>\n<pre>\nx", "<details>\n<pre>\nx\n</pre>\n</details>"},
		{"<details>a</details> b", "<details>a</details> b"},
		{"<DETAILS open>a", "<DETAILS open>a\n</details>"},
		{"the `<pre>` element", "the `<pre>` element"},
		{"```html\n<pre>\n```\nafter", "```html\n<pre>\n```\nafter"},
		{"```\n<pre>", "```\n<pre>\n```"},
		{"```` x\n```\n<div>\n````\n<div>", "```` x\n```\n<div>\n````\n<div>\n</div>"},
		{"a < b and Map<K, V> and <b>bold", "a < b and Map<K, V> and <b>bold"},
		{"<ul><li>one", "<ul><li>one\n</ul>"},
		{"</details>", "</details>"},
	} {
		if got := closed(tt.in); got != tt.want {
			t.Errorf("%q:\n got %q\nwant %q", tt.in, got, tt.want)
		}
		if again := closed(tt.want); again != tt.want {
			t.Errorf("%q is not closed: %q", tt.want, again)
		}
	}
}
