package markdown

import (
	"math/rand/v2"
	"strings"
)

// generator joins fragments that mean something to a Markdown parser into
// documents that no writer would think of.
type generator struct {
	seed uint64
	n    uint64
}

var fragments = strings.Split(strings.TrimSpace(`
a
b
foo
@octocat
\@
a@b.cc
_a@b.cc
mailto:a@b.cc
xmpp:a@b.cc/d
&#64;
&amp;
&lt;
&copy
&#35;
&#x41;
&bogus;
`+"`\n``\n```\n````\n`a`\n``\n```go\n~~~\n~~~~"+`
~
~~
*
**
_
__
***
\
\\
\`+"`"+`
\[
\]
\(
\|
\<
\!
\"
[
]
![
!
(
)
[a]
[b]
[a]:
[b]: /u
[a]: <u v> "t"
[a][b]
[a][]
[a](b)
[a](<b>)
[a](b "c")
[a](b 'c')
[a](b (c))
![a](b)
![a][b]
](
](b)
]:
[]
[^1]
[^1]:
[^2]
[^n]:
[^
^
<
>
</
/>
<a>
</a>
<a b="c">
<a b='c' d>
<a b
<b c=d/>
<br>
<br/>
<div>
</div>
<div
<pre>
</pre>
<script>
</script>
<style
<!--
-->
--
--!>
<!-->
<!--->
<!-- a -->
<?
?>
<!X
<!D a>
<![CDATA[
]]>
<http://a.b>
<a+b:c>
<a@b.c>
<m:
http://
https://
https://a.b
https://a.b/c?d=e&f;
https://a_b.c
ftp://a
HTTP://A.B
www.
www.a.b
www.a.b/c)
www.a_b.c
://
:
;
.
,
?
"
'
"a"
'a'
#
##
# a
## b #
===
---
- - -
***
+
-
- a
* a
+ b
1.
1. a
2) b
10. c
123456789. d
- [ ]
- [x] a
[x]
[ ]
|
| a | b |
|a|
| - | - |
|-|-|
-|-
:-:|
|--|
a | b
\|
| `+"`a|b`"+` |
é
ß
“
€
中
`), "\n")

// glue is what stands between fragments.
var glue = []string{
	"", "", "", "", "", " ", " ", " ", "\n", "\n", "\n", "\n\n", "  ", "    ", "\t", "  \n", "\n  ", "\n    ", "\n\t",
	"\n> ", "\n>", "> ", "\n- ", "- ", "\n1. ", "\n   ", "\n     ", "\n\n    ", "\n\n  ", "\r\n", "\r", "\n> > ", "\n>\n",
	"\v", "\f", "\u00a0", "\n | ", " | ", "|",
}

// document returns the next document.
func (g *generator) document() string {
	g.n++
	r := rand.New(rand.NewPCG(g.seed, g.n))
	var b strings.Builder
	for range 1 + r.IntN(14) {
		b.WriteString(fragments[r.IntN(len(fragments))])
		b.WriteString(glue[r.IntN(len(glue))])
	}
	return b.String()
}
