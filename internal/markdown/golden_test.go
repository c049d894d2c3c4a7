package markdown

import (
	"flag"
	"os"
	"strconv"
	"strings"
	"testing"
)

// cases are documents whose reading is fixed by the golden corpus. They are grouped by the topics of
// the specification, and show its rules and where cmark-gfm differs from them.
var cases = []string{
	// Tabs.
	"\tfoo\tbaz\t\tbim\n", "  \tfoo\tbaz\n", "    a\ta\n    é\ta\n", "- foo\n\n\tbar\n", "- foo\n\n\t\tbar\n", ">\t\tfoo\n", "-\t\tfoo\n",
	"    foo\n\tbar\n", " - foo\n   - bar\n\t - baz\n", "#\tFoo\n", "*\t*\t*\t\n", "1.\ta\n\n\tb\n",
	// Precedence and thematic breaks.
	"- `one\n- two`\n", "***\n---\n___\n", "+++\n", "--\n**\n__\n", " ***\n  ***\n   ***\n", "    ***\n", "Foo\n    ***\n", " - - -\n",
	"_ _ _ _ a\n\na------\n\n---a---\n", " *-*\n", "- foo\n***\n- bar\n", "Foo\n***\nbar\n", "Foo\n---\nbar\n", "* Foo\n* * *\n* Bar\n", "- Foo\n- * * *\n",
	// ATX headings.
	"# a\n## b\n### c\n#### d\n##### e\n###### f\n####### g\n", "#5 bolt\n\n#hashtag\n", "\\## foo\n", "#                  foo                     \n",
	"    # foo\n", "foo\n    # bar\n", "## foo ##\n  ###   bar    ###\n", "### foo ### b\n", "# foo#\n", "### foo \\###\n## foo #\\##\n# foo \\#\n",
	"****\n## foo\n****\n", "## \n#\n### ###\n", "# #\n", "#\n#\ta\n", "# `a` <b> [c](d)\n",
	// Setext headings.
	"Foo *bar*\n=========\n\nFoo *bar*\n---------\n", "Foo *bar\nbaz*\n====\n", "Foo\n   ----      \n", "Foo\n    ---\n", "Foo\n= =\n\nFoo\n--- -\n",
	"Foo  \n-----\n", "Foo\\\n----\n", "`Foo\n----\n`\n", "<a title=\"a lot\n---\nof dashes\"/>\n", "> Foo\n---\n", "> foo\nbar\n===\n", "- Foo\n---\n",
	"---\nFoo\n---\nBar\n---\nBaz\n", "\n====\n", "- foo\n-----\n", "> foo\n-----\n", "Foo\n\nbar\n---\nbaz\n", "[a]: /u\n===\n", "[a]: /u\n===\n[a]\n", "[a]: /u\nx\n===\n",
	// Indented code.
	"    a simple\n      indented code block\n", "  - foo\n\n    bar\n", "1.  foo\n\n    - bar\n", "    <a/>\n    *hi*\n\n    - one\n",
	"    chunk1\n\n    chunk2\n  \n \n \n    chunk3\n", "    chunk1\n      \n      chunk2\n", "Foo\n    bar\n", "    foo\nbar\n", "# Heading\n    foo\nHeading\n------\n    foo\n----\n",
	"        foo\n    bar\n", "\n    \n    foo\n    \n", "    foo  \n",
	// Fenced code.
	"```\n<\n >\n```\n", "~~~\n<\n >\n~~~\n", "``\nfoo\n``\n", "```\naaa\n~~~\n```\n", "````\naaa\n```\n``````\n", "```\n", "`````\n\n```\naaa\n", "> ```\n> aaa\n\nbbb\n",
	"```\n\n  \n```\n", "```\n```\n", " ```\n aaa\naaa\n```\n", "   ```\n   aaa\n    aaa\n  aaa\n   ```\n", "    ```\n    aaa\n    ```\n", "```\naaa\n  ```\n", "```\naaa\n    ```\n",
	"``` ```\naaa\n", "~~~~~~\naaa\n~~~ ~~\n", "foo\n```\nbar\n```\nbaz\n", "foo\n---\n~~~\nbar\n~~~\n# baz\n", "```ruby\ndef foo(x)\n```\n", "~~~~    ruby startline=3 $%@#$\nx\n~~~~~~~\n",
	"````;\n````\n", "``` aa ```\nfoo\n", "~~~ aa ``` ~~~\nfoo\n~~~\n", "```\n``` aaa\n```\n", "```f&ouml;\\*o\n```\n", "- ```\n  a\n b\n", "```\n\ta\n```\n", "  ```\n\ta\n  ```",
	// HTML blocks.
	"<table><tr><td>\n<pre>\n**Hello**,\n\n_world_.\n</pre>\n</td></tr></table>\n", " <div>\n  *hello*\n         <foo><a>\n", "</div>\n*foo*\n",
	"<DIV CLASS=\"foo\">\n\n*Markdown*\n\n</DIV>\n", "<div id=\"foo\"\n  class=\"bar\">\n</div>\n", "<div>\n*foo*\n\n*bar*\n", "<div id=\"foo\"\n*hi*\n", "<div *???-&&&-<---\n*foo*\n",
	"<table><tr><td>\nfoo\n</td></tr></table>\n", "<div></div>\n``` c\nint x = 33;\n```\n", "<a href=\"foo\">\n*bar*\n</a>\n", "<Warning>\n*bar*\n</Warning>\n", "</ins>\n*bar*\n",
	"<del>\n*foo*\n</del>\n", "<del>\n\n*foo*\n\n</del>\n", "<del>*foo*</del>\n", "<pre language=\"haskell\"><code>\nimport\n\nmain\n</code></pre>\nokay\n", "<script type=\"text/javascript\">\n// a\n\nb\n</script>\nokay\n",
	"<style\n  type=\"text/css\">\nh1 {color:red;}\n\np {color:blue;}\n</style>\nokay\n", "<style\n  type=\"text/css\">\n\nfoo\n", "> <div>\n> foo\n\nbar\n", "- <div>\n- foo\n",
	"<style>p{color:red;}</style>\n*foo*\n", "<!-- foo -->*bar*\n*baz*\n", "<script>\nfoo\n</script>1. *bar*\n", "<!-- Foo\n\nbar\n   baz -->\nokay\n", "<?php\n\n  echo '>';\n\n?>\nokay\n",
	"<!DOCTYPE html>\n", "<!doctype html>\n", "<![CDATA[\nfunction\n{\n\n]]>\nokay\n", "<![cdata[\nx\n\ny\n]]>\n", "  <!-- foo -->\n\n    <!-- foo -->\n", "  <div>\n\n    <div>\n", "Foo\n<div>\nbar\n</div>\n",
	"Foo\n<a href=\"bar\">\nbaz\n", "<div>\n\n    <a>\n\nx\n", "<textarea>\n\n*foo*\n", "</script>\na\n", "</pre>\na\n\nb\n", "<style>\n</\u017ftyle>\n*a*\n", "<search>\na\n", "<source>\n*a*\n", "<a/>\n*a*\n", "<a/ >\n*a*\n", "<a b='>' >\t\n*x*\n",
	"<!-->\na\n", "<!--->\na\n", "<?>\na\n", "<!X>\na\n", "> a\n<b>\n", "<pre>a</pre >\nb\n\nc\n", "<script></style>\n*a*\n",
	// Reference definitions.
	"[foo]: /url \"title\"\n\n[foo]\n", "   [foo]: \n      /url  \n           'the title'  \n\n[foo]\n", "[Foo*bar\\]]:my_(url) 'title (with parens)'\n\n[Foo*bar\\]]\n", "[Foo bar]:\n<my url>\n'title'\n\n[Foo bar]\n",
	"[foo]: /url '\ntitle\nline1\n'\n\n[foo]\n", "[foo]: /url 'title\n\nwith blank line'\n\n[foo]\n", "[foo]:\n/url\n\n[foo]\n", "[foo]:\n\n[foo]\n", "[foo]: <>\n\n[foo]\n", "[foo]: <bar>(baz)\n\n[foo]\n",
	"[foo]: /url\\bar\\*baz \"foo\\\"bar\\baz\"\n\n[foo]\n", "[foo]\n\n[foo]: url\n", "[foo]\n\n[foo]: first\n[foo]: second\n", "[FOO]: /url\n\n[Foo]\n", "[ΑΓΩ]: /φου\n\n[αγω]\n", "[ẞ]: /u\n\n[ss] [SS] [ß]\n",
	"[\nfoo\n]: /url\nbar\n", "[foo]: /url \"title\" ok\n", "[foo]: /url\n\"title\" ok\n", "    [foo]: /url \"title\"\n\n[foo]\n", "```\n[foo]: /url\n```\n\n[foo]\n", "Foo\n[bar]: /baz\n\n[bar]\n", "# [Foo]\n[foo]: /url\n> bar\n",
	"[foo]: /foo-url \"foo\"\n[bar]: /bar-url\n  \"bar\"\n[baz]: /baz-url\n\n[foo],\n[bar],\n[baz]\n", "[foo]\n\n> [foo]: /url\n", "[a]: b 'c\nd\n", "[a]: <b\n", "[a]: b)c\n\n[a]", "[a\\]b]: c\n\n[a\\]b]\n", "[]: a\n", "[ ]: a\n",
	"> [a]: /u 'x\n> y'\n> z [a]\n", "- [a]: /u\n\n\n  b\n", "[a]: /u \"x\\\" y\n\n[a]\n", "[a b]: /u\n\n[a\n b] [a  b]\n", "[//]: # (hidden)\n",
	// Block quotes.
	"> # Foo\n> bar\n> baz\n", "># Foo\n>bar\n> baz\n", "    > # Foo\n", "> # Foo\n> bar\nbaz\n", "> foo\n---\n", "> - foo\n- bar\n", ">     foo\n    bar\n", "> ```\nfoo\n```\n", "> foo\n    - bar\n", ">\n", ">\n>  \n> \n",
	">\n> foo\n>  \n", "> foo\n\n> bar\n", "foo\n> bar\n", "> aaa\n***\n> bbb\n", "> bar\nbaz\n", "> bar\n\nbaz\n", "> bar\n>\nbaz\n", "> > > foo\nbar\n", ">>> foo\n> bar\n>>baz\n", ">     code\n\n>    not code\n",
	// List items and lists.
	"1.  A paragraph\n    with two lines.\n\n        indented code\n\n    > A block quote.\n", "- one\n\n two\n", "- one\n\n  two\n", " -    one\n\n     two\n", " -    one\n\n      two\n", "   > > 1.  one\n>>\n>>     two\n", ">>- one\n>>\n  >  > two\n",
	"-one\n\n2.two\n", "- foo\n\n\n  bar\n", "1.  foo\n\n    ```\n    bar\n    ```\n", "123456789. ok\n", "1234567890. not ok\n", "0. ok\n", "003. ok\n", "-1. not ok\n", "- foo\n\n      bar\n", "  10.  foo\n\n           bar\n",
	"1.     indented code\n\n   paragraph\n\n       more code\n", "1.      indented code\n", "   foo\n\nbar\n", "-    foo\n\n  bar\n", "-\n  foo\n-\n  ```\n  bar\n  ```\n-\n      baz\n", "-   \n  foo\n", "-\n\n  foo\n", "- foo\n-\n- bar\n", "1. foo\n2.\n3. bar\n", "*\n",
	"foo\n*\n\nfoo\n1.\n", "    1.  A\n", "  1.  A paragraph\nwith two lines.\n", "> 1. > Blockquote\ncontinued here.\n", "- foo\n  - bar\n    - baz\n      - boo\n", "10) foo\n    - bar\n", "10) foo\n   - bar\n", "- - foo\n", "1. - 2. foo\n",
	"- foo\n- bar\n+ baz\n", "1. foo\n2. bar\n3) baz\n", "Foo\n- bar\n", "The number is\n14.  The number.\n", "The number is\n1.  The number.\n", "- foo\n\n- bar\n\n\n- baz\n", "- a\n - b\n  - c\n   - d\n  - e\n - f\n- g\n", "- a\n - b\n  - c\n   - d\n    - e\n",
	"1. a\n\n  2. b\n\n    3. c\n", "- a\n\n  [ref]: /url\n- b\n", "* a\n  > b\n  >\n* c\n", "- a\n  > b\n  ```\n  c\n  ```\n- d\n", "1. ```\n   foo\n   ```\n\n   bar\n", "- [ ] foo\n- [x] bar\n- [X] baz\n", "- [x]\n", "- [ ]  a\n  - [x] b\n", "1. [x] a\n", "> - [ ] a\n",
	"- a\n\n  12 [x] b\n", "- a\n\n  1 [x] b\n", "- a\n\n  1  [x] b\n", "- a\n\n  123) [x] b\n",
	"- 3)\n  1J [x] a\n", "- -\n  1- [x] a\n", "- - b\n\n  1J [x] a\n", "- # b\n  1- [x] a\n", "- >\n  1- [x] a\n", "- ***\n  1- [x] a\n", "- - ***\n  1- [x] a\n", "- > ***\n  1- [x] a\n", "- ***\n\n  b\n\n  1- [x] a\n",
	"- 3)\n\n  1J [x] a\n", "- -\n\n\n  1- [x] a\n", "- ***\n\n  1- [x] a\n", "- -\n\n  c\n\n  1- [x] a\n", "- - b\n\n  [c]: d\n  1- [x] a\n", "- - b\n  # c\n  1- [x] a\n",
	// Tables.
	"| foo | bar |\n| --- | --- |\n| baz | bim |\n", "| abc | defghi |\n:-: | -----------:\nbar | baz\n", "| f\\|oo  |\n| ------ |\n| b `\\|` az |\n| b **\\|** im |\n", "| abc | def |\n| --- | --- |\n| bar | baz |\n> bar\n",
	"| abc | def |\n| --- | --- |\n| bar | baz |\nbar\n\nbar\n", "| abc | def |\n| --- |\n| bar |\n", "| abc | def |\n| --- | --- |\n| bar |\n| bar | baz | boo |\n", "| abc | def |\n| --- | --- |\n", "a\nb | c\n- | -\nd | e\n", "[a]: /u\nb | c\n- | -\n[a]\n",
	"| a | @octocat | b` |\n|-|-|-|\n| `a | @octocat | b` |\n", "|a|\n-\n", "a\n-:\n", "a|b\n-|-\n    c\n", "> a|b\n> -|-\nc|d\n", "a|b\n-|-\n|\n", "a|b\n-|-\n- c\n", "\\|a\n-|-\n", "a\\\\|b\n-|-\n", "| a |\n|---|\n| \\\\\\| |\n", "p \\| q\na|b\n-|-\n", "- a|b\n  -|-\n  c|d\n", "a|b\n-|-\n<b>\n", "a|b\n-|-\n[x]: /u\n",
	// Footnotes.
	"a [^1]\n\n[^1]: b\n", "[^1]: [^1]\n", "[^1]: a\n\n[^2]: b [^1]\n", "a [^x] b\n", "[^@octocat]\n", "[^`@octocat`]\n", "[^ <b>x</b>]\n", "[^a\nbcdefghij]\n\n[^a]: x\n", "[^1]\n\n[^1]: a\n[^1]: b\n", "![^1]\n\n[^1]: a\n", "[^1][a]\n\n[a]: /u\n\n[^1]: x\n",
	"[^1](a)\n\n[^1]: x\n", "[^1]\n\n[^1]:\n    a\n\n    b\n\nc\n", "[^a b]: c\n", "[^]\n", "[^1]\n\n> [^1]: a\n>\n>     b\n", "x[^1]: y\n", "[^ß] [^SS]\n\n[^ss]: a\n", "[a [^1] b](c)\n\n[^1]: d\n", "\\[^1]\n\n[^1]: x\n",
	// Escapes and entities.
	"\\!\\\"\\#\\$\\%\\&\\'\\(\\)\\*\\+\\,\\-\\.\\/\\:\\;\\<\\=\\>\\?\\@\\[\\\\\\]\\^\\_\\`\\{\\|\\}\\~\n", "\\\t\\A\\a\\ \\3\\φ\\«\n", "\\*not\\* \\<br/> \\[a](b) \\`c`\n", "\\\\*emphasis*\n", "foo\\\nbar\n", "`` \\[\\` ``\n", "<http://example.com?find=\\*>\n", "<a href=\"/bar\\/)\">\n",
	"[foo](/bar\\* \"ti\\*tle\")\n", "&nbsp; &amp; &copy; &AElig; &Dcaron;\n&frac34; &HilbertSpace; &DifferentialD;\n&ClockwiseContourIntegral; &ngE;\n", "&#35; &#1234; &#992; &#0; &#98765432; &#987654321;\n", "&#X22; &#XD06; &#xcab; &#x110000; &#xD800;\n",
	"&nbsp &x; &#; &#x;\n&#abcdef0;\n&ThisIsNotDefined; &hi?;\n", "&copy\n", "&notit; &not; &amp;amp; &semi;\n", "<a href=\"&ouml;&ouml;.html\">\n", "[foo](/f&ouml;&ouml; \"f&ouml;&ouml;\")\n", "`f&ouml;&ouml;`\n", "&#42;foo&#42;\n", "&#128;\n",
	// Code spans.
	"`foo`\n", "`` foo ` bar ``\n", "` `` `\n", "`  ``  `\n", "` a`\n", "`\u00a0b\u00a0`\n", "` `\n`  `\n", "``\nfoo\nbar  \nbaz\n``\n", "``\nfoo \n``\n", "`foo   bar \nbaz`\n", "`foo\\`bar`\n", "``foo`bar``\n", "*foo`*`\n", "[not a `link](/foo`)\n", "`<a href=\"`\">`\n", "<a href=\"`\">`\n",
	"`<http://foo.bar.`baz>`\n", "<http://foo.bar.`baz>`\n", "```foo``\n", "`foo\n", "`foo``bar``\n", "`` `a` `@octocat`\n", "``` `` `a` ``b`` `c`\n", "`a``b``c`\n", "> `a\n> b`\n",
	// Links.
	"[link](/uri \"title\")\n", "[link]()\n[link](<>)\n", "[link](/my uri)\n", "[link](</my uri>)\n", "[link](foo\nbar)\n", "[link](<foo\nbar>)\n", "[a](<b)c>)\n", "[link](<foo\\>)\n", "[a](<b)c\n[a](<b)c>\n[a](<b>c)\n", "[link](\\(foo\\))\n", "[link](foo(and(bar)))\n", "[link](foo\\(and\\(bar\\))\n",
	"[link](foo\\)\\:)\n", "[link](foo%20b&auml;)\n", "[link](\"title\")\n", "[link](/url \"title\")\n[link](/url 'title')\n[link](/url (title))\n", "[link](/url \"title \\\"&quot;\")\n", "[link](/url\u00a0\"title\")\n", "[link](/url \"title \"and\" title\")\n", "[link](   /uri\n  \"title\"  )\n",
	"[link] (/uri)\n", "[link [foo [bar]]](/uri)\n", "[link] bar](/uri)\n", "[link [bar](/uri)\n", "[link \\[bar](/uri)\n", "[link *foo `#`*](/uri)\n", "[![moon](moon.jpg)](/uri)\n", "[foo [bar](/uri)](/uri)\n", "![[[foo](uri1)](uri2)](uri3)\n", "[foo <bar attr=\"](baz)\">\n",
	"[foo`](/uri)`\n", "[foo<http://example.com/?search=](uri)>\n", "[foo][bar]\n\n[bar]: /url \"title\"\n", "[link [foo]][ref]\n\n[ref]: /uri\n", "[foo [bar](/uri)][ref]\n\n[ref]: /uri\n", "[foo][ref[]\n\n[ref[]: /uri\n", "[foo][]\n\n[foo]: /url\n", "[foo] \n[]\n\n[foo]: /url\n",
	"[[*foo* bar]]\n\n[*foo* bar]: /url\n", "[foo](not a link)\n\n[foo]: /url1\n", "[foo][bar][baz]\n\n[baz]: /url1\n[bar]: /url2\n", "[foo][bar][baz]\n\n[baz]: /url1\n[foo]: /url2\n", "![foo *bar*][]\n\n[foo *bar*]: train.jpg \"train\"\n", "!\\[foo]\n\n[foo]: /url\n", "\\![foo]\n\n[foo]: /url\n",
	"[a](b \"c\\\")\n", "[a](b 'c)\n", "[a](((((((((((((((((((((((((((((((((()\n", "[a](b\\)\n", "> [a](\n> b 'c\n> d')\n", "[a]((b)\n", "[a](b(c)\n", "![a](b)c\n", "[a\n]\n\n[a]: b\n",
	// Autolinks and raw HTML.
	"<http://foo.bar.baz/test?q=hello&id=22&boolean>\n", "<MAILTO:FOO@BAR.BAZ>\n", "<a+b+c:d>\n<made-up-scheme://foo,bar>\n<../>\n<localhost:5001/foo>\n", "<http://foo.bar/baz bim>\n", "<foo@bar.example.com>\n<foo+special@Bar.baz-bar0.com>\n", "<foo\\+@bar.example.com>\n", "<>\n< http://foo.bar >\n<m:abc>\n<foo.bar.baz>\n",
	"<https:github.com&shy;.x>\n", "<a><bab><c2c>\n", "<a/><b2/>\n", "<a  /><b2\ndata=\"foo\" >\n", "<a foo=\"bar\" bam = 'baz <em>\"</em>'\n_boolean zoop:33=zoop:33 />\n", "Foo <responsive-image src=\"foo.jpg\" />\n", "<33> <__>\n", "<a h*#ref=\"hi\">\n", "<a href=\"hi'> <a href=hi'>\n",
	"< a><\nfoo><bar/ >\n<foo bar=baz\nbim!bop />\n", "<a href='bar'title=title>\n", "</a></foo >\n", "</a href=\"foo\">\n", "foo <!-- this is a\ncomment - with hyphen -->\n", "foo <!-- not a comment -- two hyphens -->\n", "foo <!--> foo -->\n\nfoo <!-- foo--->\n", "foo <!----> <!--- a --> <!-- a- -->\n",
	"foo <?php echo $a; ?>\n", "foo <???> <??> <?a??>\n", "foo <!ELEMENT br EMPTY>\n", "foo <!A>\n", "foo <![CDATA[>&<]]>\n", "foo <![CDAtA[>&<]]>\n", "foo <![CDATA[a]]]> <![CDATA[a]]]]]>\n", "foo <a href=\"&ouml;\">\n", "foo <a href=\"\\*\">\n", "> foo <a\n> b='c'>\n", "<a\u00a0b>\n", "<a\vb>\n",
	// Bare addresses.
	"www.commonmark.org\n", "Visit www.commonmark.org/help for more information.\n", "Visit www.commonmark.org.\n\nVisit www.commonmark.org/a.b.\n", "www.google.com/search?q=Markup+(business)\n\nwww.google.com/search?q=Markup+(business)))\n\n(www.google.com/search?q=Markup+(business))\n",
	"www.google.com/search?q=commonmark&hl=en\n\nwww.google.com/search?q=commonmark&hl;\n", "www.commonmark.org/he<lp\n", "http://commonmark.org\n\n(Visit https://encrypted.google.com/search?q=Markup+(business))\n\nAnonymous FTP is available at ftp://foo.bar.baz.\n",
	"foo@bar.baz\n", "hello@mail+xyz.example isn't valid, but hello+xyz@mail.example is.\n", "a.b-c_d@a.b\n\na.b-c_d@a.b.\n\na.b-c_d@a.b-\n\na.b-c_d@a.b_\n", "mailto:foo@bar.baz xmpp:foo@bar.baz/txt@bin\n", "https://github.com/`a @octocat b`\n", "[https://a.b\n", "[x](y) [z https://a.b]\n", "![a [b](c) https://d.e\n",
	"https://github.com\\@evil.example\n", "1https://a.b \\https://a.b https&#58;//a.b HTTPS://A.B WWW.A.B\n", "xwww.a.b _www.a.b *www.a.b* ~www.a.b\n", "http://a_b.c http://a.b_c.d http://a_b.c.d\n", "http://.a http://- http://é.a http://“a\n", "https://a.b**c** `https://a.b`\n", "<b>https://a.b</b>\n",
	"a&#64;b.cc a\\@b.cc a@b.c&#99;\n", "_a@b.cc_ __a@b.cc__ _x_a@b.cc a_b@c.dd\n", "*a@b.cc* ~~a@b.cc~~\n", "a@b@c.dd a@b.cc@d.ee\n", "a@b.c-d a@b.cd_ a@b.c1 a@b.\n", "[a@b.cc](x) ![a@b.cc](y)\n", "[^a@b.cc]\n", "http://a.b/@octocat a/b@c.dd\n",
	// Line breaks, BOM, line ends.
	"foo  \nbaz\n", "foo       \nbaz\n", "foo  \n     bar\n", "foo\\\n     bar\n", "`code  \nspan`\n", "<a href=\"foo  \nbar\">\n", "foo\\\n", "foo  \n", "### foo  \n", "foo \n baz\n", "\ufeff# a\n", "\ufeff\n", "a\r\nb\r\n\r\n- c\r\n  d\r\n", "a\rb\r\rc\r", "```\r\na\r\n```\r\n", "> a\r\n> `b\r\n> c`\r\n",
}

var update = flag.Bool("update", false, "write testdata/golden.txt anew; needs the build tag cmark")

const goldenFile = "testdata/golden.txt"

// goldenDocuments is how many documents of the generator join the cases.
const goldenDocuments = 400

// TestGolden compares the scanner with what cmark-gfm said of the documents in
// the golden corpus, which must be complete. With the build tag cmark it also asks cmark-gfm again.
func TestGolden(t *testing.T) {
	if *update {
		writeGolden(t)
	}
	data, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	golden := make(map[string]string)
	for record := range strings.SplitSeq(string(data), "\n\n") {
		first, want, _ := strings.Cut(record, "\n")
		md, err := strconv.Unquote(first)
		if err != nil {
			t.Fatalf("%s: %q: %v", goldenFile, first, err)
		}
		golden[md] = strings.TrimSuffix(want, "\n")
		if got := strings.TrimSuffix(traceOf(Scan(md)), "\n"); got != golden[md] {
			t.Errorf("%q: %s", md, differ(got, golden[md]))
		}
		if oracle != nil && strings.TrimSuffix(oracle(md), "\n") != golden[md] {
			t.Errorf("%q: cmark-gfm says something else than the golden corpus", md)
		}
	}
	for _, md := range corpus() {
		if _, ok := golden[md]; !ok {
			t.Errorf("%q is not in %s: run go test -tags cmark -run Golden -update", md, goldenFile)
		}
	}
}

// corpus returns the documents of the golden corpus.
func corpus() []string {
	all := append([]string(nil), cases...)
	g := generator{seed: 42}
	for range goldenDocuments {
		all = append(all, g.document())
	}
	return all
}

func writeGolden(t *testing.T) {
	if oracle == nil {
		t.Fatal("-update needs the build tag cmark")
	}
	var records []string
	seen := make(map[string]bool)
	for _, md := range corpus() {
		if !seen[md] {
			seen[md] = true
			records = append(records, strings.TrimSuffix(strconv.Quote(md)+"\n"+oracle(md), "\n"))
		}
	}
	if err := os.WriteFile(goldenFile, []byte(strings.Join(records, "\n\n")), 0o644); err != nil {
		t.Fatal(err)
	}
}
