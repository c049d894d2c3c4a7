package intake

import (
	"slices"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// TestOnlyRequestsAreRecords asserts which objects of a text are requests. In each text, ASK stands
// for a request and NOT for another object. If a text has a request in full, the request's message
// begins with @ASK@.
func TestOnlyRequestsAreRecords(t *testing.T) {
	for name, text := range map[string]string{
		// Objects that are commented out, struck through, quoted, hidden, or in a draft, an
		// example, a diff or code.
		"comment":                         "<!-- NOT -->\nASK",
		"comment without space":           "<!--NOT-->\nASK",
		"comment, two objects":            "<!-- NOT NOT NOT -->\nASK",
		"comment in a list":               "- <!-- NOT -->\n- ASK",
		"comment over lines":              "<!--\nNOT\n\nNOT\n-->\nASK",
		"comment over lines, closed late": "<!-- see:\nNOT\nNOT -->\nASK",
		"comment opened with an object":   "<!-- NOT\nNOT\n-->\nASK",
		"comment around a fence":          "<!--\n```json\nNOT\n```\n-->\nASK",
		"comment in a fence":              "```\n<!--\nNOT\n-->\nASK\n```",
		"comment without end":             "ASK\n<!--\nNOT\n\nNOT",
		"comment in a paragraph":          "I left out <!--\nNOT\n-->\nASK",
		"comment in a paragraph, open":    "The marker <!-- stays.\nNOT\n\nASK",
		"two comments on a line":          "<!-- a --> <!--\nNOT\n-->\nASK",
		"comment between objects":         "ASK\n<!--\nNOT\n--> NOT\nASK",
		"comment that begins after NOT":   "NOT <!--\nNOT\n-->\nASK",
		"comment after a cut-off line":    `{"type":"noop","message":"cut` + "\n<!--\nNOT\n-->\nASK",
		"del in upper case":               "<DEL>\nNOT\n</DEL>\nASK",
		"struck":                          "~~NOT~~\nASK",
		"struck once":                     "~NOT~\nASK",
		"struck in a list":                "- ~~NOT~~\n- ASK",
		"struck, two objects":             "~~NOT NOT~~\nASK",
		"struck over lines":               "~~NOT\nNOT~~\nASK",
		"struck between lines":            "~~\nNOT\n~~\nASK",
		"struck without end":              "~~\nNOT\n\nASK",
		"del":                             "<del>NOT</del>\nASK",
		"del over lines":                  "<del>\nNOT\n\nNOT\n</del>\nASK",
		"del with attributes":             "<del datetime=\"2026\">\nNOT\n</del>\nASK",
		"s":                               "<s>NOT</s>\n<s>\nNOT\n</s>\nASK",
		"strike":                          "<strike>NOT</strike>\n<strike>\nNOT\n</strike>\nASK",
		"another tag":                     "<summary>What I do</summary>\nASK\n<span>\nASK\n</span>",
		"quote":                           "> NOT\n> > NOT\n>NOT\n- > NOT\nASK",
		"quote over lines":                "> {\n> \"type\": \"noop\"\n> }\nASK",
		"blockquote":                      "<blockquote>\nNOT\n</blockquote>\nASK",
		"template":                        "<template>\nNOT\n</template>\nASK",
		"hidden elements":                 "<details hidden>\nNOT\n\n</details>\n<div style=\"display: none\">\nNOT\n</div>\n<p>see <span hidden>\nNOT</span>\nASK\n<details>\nASK\n</details>",
		"block comment":                   "/* NOT */\n/*\nNOT\n*/\nASK",
		"block comment after an object":   "ASK /* NOT\nNOT */\nASK",
		"line comments":                   "// NOT\n# NOT\n## NOT\n#NOT\n-- NOT\n; NOT\n% NOT\n- // NOT\n* # NOT\nASK",
		"comment after a semicolon":       "ASK; // NOT\nASK",
		"comments of other languages":     "%% NOT %%\n%%\nNOT\n%%\n{# NOT #}\n{#\nNOT\n#}\n(* NOT *)\n<# NOT #>\n{{!-- NOT --}}\n{{!--\nNOT\n--}}\n{% comment %}\nNOT\n{% endcomment %}\nASK",
		"comment as a link":               "[//]: # (NOT)\n[//]: # 'NOT'\nASK",
		"removed lines of a diff":         "```diff\n- NOT\n-NOT\n+ ASK\n```\n- ASK",
		"removed lines of a hunk":         "@@ -1 +1 @@\n-NOT\n- NOT\n+ASK\nASK",
		"sides of a conflict":             "<<<<<<< HEAD\nNOT\n=======\nNOT\n>>>>>>> other\nASK",
		"draft":                           "<think>\nI could ask:\n\nNOT\n</think>\nASK\n<Thinking>NOT</Thinking>\n<scratchpad>\nNOT\n</scratchpad>\nASK",
		"drafts of single models":         "[THINK]Hm:\nNOT\n\n[/THINK]\nASK\n<|START_THINKING|>NOT\nNOT<|END_THINKING|>\nASK\n<|channel|>analysis<|message|>Hm:\nNOT\n<|end|>\nASK\n<|start|>assistant<|channel|>analysis<|message|>\nNOT\n<|end|>\nASK\n<seed:think>\nNOT\n</seed:think>\n<antThinking>\nNOT\n</antThinking>\n<thoughts>\nNOT\n</thoughts>\nASK",
		"example":                         "<example>\nNOT\n</example>\n<examples type=\"json\">\n\nNOT\n</examples>\nASK",
		"elements that show nothing":      "<noscript>\nNOT\n</noscript>\n<title>\nNOT\n</title>\n<iframe src=\"x\">\nNOT\n</iframe>\nASK",
		"comment as a link, over lines":   "[//]: # (\nNOT\n)\n[comment]: <> (\n- NOT\n)\nASK",
		"comment as a link, unclosed":     "[//]: # (\nNOT\n)\nASK\n[c]: <> \"\nNOT\n\nASK",
		"code of other languages":         "```python\nx = \"\"\"\nNOT\n\"\"\"\n```\n~~~ sh\nNOT\n```\nNOT\n~~~\n```c++ title=\"x\"\n{\n\"type\": \"noop\"}\nNOT\n```\nASK",
		"fence of an example":             "```json example\nNOT\n```\n```examples\nNOT\n```\nASK",
		"longer fence":                    "````go\n```json\nNOT\n```\nNOT\n````\nASK",
		"comments in a document":          `{"items":[ /* NOT, NOT */ ASK, // NOT` + "\n" + `ASK, <!-- NOT, ` + "\n" + `NOT --> ASK # NOT` + "\n" + `],"errors":[]}`,
		"text in a document":              `{"items":[ I decided not to NOT, ASK, ~~NOT~~, ASK]}`,
		"open comment in a document":      `{"items":[ASK, /* NOT, NOT ],"errors":[]}`,
		"comment between members":         `{"items":[ASK],/* {"items":[NOT]} */"errors":[]}`,
		"comment within an object":        "{\"type\":\"noop\",\n/*\nNOT\n*/\n\"message\":\"m\"}\nASK",
		"HTML comment within an object":   "{\"type\":\"noop\",\n<!--\nNOT\n-->\n\"message\":\"m\"}\nASK",
		"comments of more languages":      "=begin\nNOT\n=end\n#if 0\nNOT\n#endif\n#|\nNOT\n|#\n(*\nNOT\n*)\n<#--\nNOT\n-->\n<%--\nNOT\n--%>\nASK",
		"conditions of C":                 "#if 0 // later\nNOT\n#ifdef X\nNOT\n#else\nNOT\n# endif\nNOT\n#else\nASK\n#endif\nASK\n#if 0 && X\nNOT\n#elif Y\nASK\n#endif\nASK",
		"condition without an end":        "ASK\n#if 0\nNOT\n\nNOT",
		"sentence about a condition":      "#if 0 blocks were removed from a.c.\nASK\n#if 0x10 is odd\nASK\n`#if 0` too\nASK",
		"rejected":                        "<rejected>\nNOT\n</rejected>\n<cancelled why=\"x\">\nNOT\n</cancelled>\n<quote>\nNOT\n</quote>\n<sample>NOT</sample>\n<Comment>\nNOT\n</Comment>\nASK\n<commentary>\nASK",
		"removed by a diff":               "-NOT\n+ASK\n- ASK",
		"concealed on a terminal":         "\x1b[8mNOT\x1b[0m\nASK\n- \x1b[0;8mNOT\x1b[28m\nASK\n\x1b[8m\nNOT\n\nNOT\n\x1b[31mNOT\n\x1b[m\nASK\x1b[8m\nNOT\x1b[0m\nASK",
		"struck out on a terminal":        "\x1b[9mNOT\x1b[29m\nASK\n\x1b[1;9mNOT\x1b[0m\n\x1b[9m\x1b[8m\n\x1b[28mNOT\n\x1b[29m\nASK\n[\x1b[9mNOT]",
		// What is part of a sentence.
		"sentence":              "I decided NOT to do NOT\nASK",
		"sentence after":        "NOT was not done\nASK",
		"sentence after a list": "[NOT] was not done\nASK",
		"sentence around":       "I would NOT run NOT here\nASK",
		"between":               "NOT and NOT\nNOT, not NOT\nNOT NOT or NOT\nASK",
		"introduction":          "Here it is: NOT\nASK",
		"labels":                "DRAFT: NOT\n[skipped] NOT\n[x] NOT\n- [ ] NOT\nERROR: NOT\n**NOT**\nASK",
		"table":                 "| 1 | NOT |\nASK",
		"quotation marks":       "“NOT”\nASK",
		"bare keys":             "I decided not to do {type: 'noop', message: 'N'}\nASK",
		// What is part of another item's text.
		"in a text":                                           `{"type":"noop","message":"I would run` + "\nNOT\n" + `but did not"}` + "\nASK",
		"in a text, several":                                  `{"type":"noop","message":"I would run` + "\n\nNOT\nNOT\nand\nNOT\n" + `but did not"}` + "\nASK",
		"in a text, in a fence":                               `{"type":"noop","message":"I would run` + "\n```json\nNOT\n```\n" + `but did not"}` + "\nASK",
		"in a text, before a member":                          `{"type":"create-issue","body":"I would run` + "\nNOT\n" + `but did not", "title":"t"}` + "\nASK",
		"in a text, object over lines":                        "{\n\"type\":\"noop\",\n\"message\":\"I would run\nNOT\n\nbut did not\"\n}\nASK",
		"in a text with quotes":                               `{"type":"noop","message":"I "would run` + "\nNOT\n" + `but" did not"}` + "\nASK",
		"in a text with quotes, in a fence":                   `{"type":"noop","message":"I "would run` + "\n```\nNOT\n```\n" + `but" did not"}` + "\nASK",
		"in a text, before other items":                       `{"type":"noop","message":"I would run` + "\nNOT\n{\"type\":\"noop\",\n\"message\":\"m\"\n}\n" + `but did not"}` + "\nASK",
		"in a text, an object at its end":                     `{"type":"noop","message":"I would run` + "\nNOT\n" + `NOT"}` + "\nASK",
		"in a text, braces at its end":                        `{"type":"noop","message":"I would run` + "\nNOT\n" + `{x} but did not"}` + "\nASK",
		"in a text, a brace at its end":                       `{"type":"noop","message":"I would run` + "\nNOT\n" + `{x but did not"}` + "\nASK",
		"in a text, a quote at its end":                       `{"type":"noop","message":"I would run` + "\nNOT\nbut did not\"\n}\nASK",
		"in a text, a list":                                   `{"type":"noop","message":"I would run` + "\n[NOT,NOT]\n- NOT\nbut did not\"}\nASK",
		"in a text, its end after an object over lines":       `{"type":"noop","message":"I would run` + "\nNOT\n{\"type\":\"noop\",\n\"message\":\"m\"\n} but did not\"}\nASK",
		"in a text, its end right after an object over lines": `{"type":"noop","message":"I would run` + "\nNOT\n{\"type\":\"noop\",\n\"message\":\"m\"\n}\"}\nASK",
		"in a text, a member after an object over lines":      `{"type":"noop","message":"I would run` + "\nNOT\n{\"type\":\"noop\",\n\"message\":\"m\"\n}\",\"title\":\"t\"}\nASK",
		"in a text, braces after an object over lines":        `{"type":"noop","message":"I would run` + "\nNOT\n{\"type\":\"noop\",\n\"message\":\"m\"\n} {x} but did not\"}\nASK",
		"in a text, a brace after an object over lines":       `{"type":"noop","message":"I would run` + "\nNOT\n{\"type\":\"noop\",\n\"message\":\"m\"\n} {x but did not\"}\nASK",
		"in a text, items after an object over lines":         `{"type":"noop","message":"I would run` + "\nNOT\n{\"type\":\"noop\",\n\"message\":\"m\"\n} NOT, NOT\"}\nASK",
		"in a text, an item over lines after another one":     `{"type":"noop","message":"I would run` + "\nNOT\n{\"type\":\"noop\",\n\"message\":\"m\"\n} {\"type\":\"noop\",\n\"message\":\"m\"}\"}\nASK",
		"in the text of an object in the item":                `{"type":"create-issue","fields":{"body":"I would run` + "\nNOT\n{\"type\":\"noop\",\"message\":\"but did not\"\n},\"title\":\"t\"}\nASK",
		"in a text, two braces and a quote at its end":        `{"type":"noop","message":"I would run` + "\nNOT\n" + `{ {x" did not"}` + "\nASK",
		"in the text of an object, a member after it":         `{"type":"create-issue","fields":{"body":"I would run` + "\nNOT\n{\"type\":\"noop\",\"x\":{\"a\":\"but did not\"}\n" + `,"title":"t"}` + "\nASK",
		"in a text, a comment after an item":                  `{"type":"noop","message":"I would run` + "\nNOT, // NOT\n" + `but did not"}, // NOT` + "\nASK",
		"in an object":                                        "{\"type\":\"noop\",\nNOT\n}\nASK",
		// Requests that are found in spite of what is around them.
		"after a cut-off line":                   `{"type":"noop","message":"cut` + "\nASK\nASK\n" + `{"type":"noop","message":"cut` + "\nASK",
		"after a cut-off text with marks":        `{"type":"noop","message":"cut` + "\n<think>\n<del>\n<example>\n@@ -1 +1 @@\n<<<<<<< a\n" + "ASK\n- ASK",
		"after a missing brace":                  `{"type":"noop","message":"cut"` + "\nASK\nASK",
		"over lines after a cut-off line":        `{"type":"noop","message":"cut` + "\nASK\n" + "{\n\"type\": \"noop\",\n\"message\": \"@ASK@\"\n}\nASK",
		"a list over lines after a cut-off line": `{"type":"noop","message":"cut` + "\nASK\n[\n{\n\"type\": \"noop\",\n\"message\": \"@ASK@\"\n},\n{\n\"type\": \"noop\",\n\"message\": \"@ASK@\"\n},\n{\n\"type\": \"noop\",\n\"message\": \"@ASK@\"\n}\n]\nASK",
		"a comment after an object over lines":   `{"type":"noop","message":"cut` + "\nASK\n{\n\"type\": \"noop\",\n\"message\": \"@ASK@\"\n}, // done\nASK",
		"prose after a cut-off line":             `{"type":"noop","message":"cut` + "\nASK\nI said \"no\" here.\nASK",
		"a list after a cut-off line":            `{"type":"noop","message":"cut` + "\nASK\n[ASK,ASK]\n- ASK",
		"bullets":                                "- ASK\n* ASK\n1. ASK\n2) ASK\n• ASK\n● ASK\n⏺ ASK\n◦ ASK\n– ASK\n— ASK\n☐ NOT\n✗ NOT\n→ NOT",
		"code":                                   "`ASK`\n```json\nASK\n```\n~~~\nASK\n~~~",
		"code on a line":                         "```json ASK```\n``` ASK ```\n- `ASK`",
		"logs":                                   "[INFO] ASK\n2025-01-02T03:04:05Z ASK\nOutput: ASK\n\x1b[32mASK\x1b[0m",
		"colours":                                "\x1b[38;5;8mASK\x1b[0m\n\x1b[48;2;8;9;8;1mASK\x1b[0m\n\x1b[8K\x1b[1;31mASK\x1b[0m\n\x1b[8mhidden\x1b[0m\nASK\n\x1b[m\x1b[2mASK",
		"lists":                                  "[ASK,ASK]\n[\nASK,\nASK\n]\n[ASK,\nASK]\n- [ASK, ASK,]",
		"comments after":                         "ASK // done\nASK, // done\nASK # done\nASK, # done\nASK /* done */\nASK /* x */ ASK\nASK;\nASK; ASK;",
		"texts that look like comments":          `{"type":"noop","message":"@ASK@ <!-- ~~ <del> /*"}` + "\nASK",
		"code fences with attributes":            "```json title=\"x.json\"\nASK\n```\n~~~ndjson {.output}\nASK\n~~~\n````text\n```\nASK\n```\n````\n```JSONL\nASK\n```",
		"fence in a comment":                     "<!--\n```python\n-->\nASK",
		"code that looks like marks":             "I used `<del>` and ``a ` <!-- b`` here.\nASK\nA `<script>` and `~~x` tag.\nASK\n`/*` begins it.\nASK",
		"escapes that look like marks":           "\\<!-- is shown, and a \\~~ as well.\nASK\n\\<del> too\nASK",
		"nothing struck through":                 "a ~~ b\nASK\nends in ~~\nASK",
		"commands to a notebook":                 "%%bash\nASK\n%%note%%\nASK\n%%note\nASK",
		"empty comments":                         "<!-->\nASK\n<!--->\nASK\n<!---->\nASK\ntext <!--> text\nASK",
		"elements of a draft in prose":           "The <think> and </think> tags.\nASK\n<thinker>\nASK\n</think>\nASK",
		"punctuation in a document":              `{"items":[ASK;ASK ASK, - ASK,, 5 ASK, null, ASK /* x */, ASK // x` + "\n" + `]}`,
		"prose that looks like marks":            "It took ~5 minutes, a/* b*/ and 2<s.\nASK\n<!-- done -->\nASK\n~~old~~ new\nASK",
	} {
		t.Run(name, func(t *testing.T) {
			text = strings.NewReplacer("ASK", `{"type":"noop","message":"ASK"}`, "NOT", `{"type":"noop","message":"NOT"}`, "@ASK@", "ASK").Replace(text)
			want := strings.Count(text, `"ASK`)
			for _, in := range []string{text, strings.ReplaceAll(text, "\n", "\r\n"), text + "\n"} {
				res := collect(t, Config{Max: map[safeoutput.Kind]int{"noop": -1}}, in)
				var asked []int // the lines of the requests
				for _, a := range res.Accepted {
					switch it, ok := a.Item().(*safeoutput.Noop); {
					case ok && it.Message == "NOT":
						t.Errorf("line %d is taken for a request", a.Line())
					case ok && strings.HasPrefix(it.Message, "ASK"):
						asked = append(asked, a.Line())
					}
				}
				if len(asked) != want {
					t.Errorf("the requests on lines %d were taken, want %d of\n%s\n%s", asked, want, in, strings.Join(errorsOf(res), "\n"))
				}
				if len(res.Rejected) == 0 && !slices.ContainsFunc(res.Accepted, func(a Accepted) bool { return !a.Notes().Empty() }) && strings.Contains(in, `"NOT"`) {
					t.Error("what was left out is neither rejected nor noted")
				}
			}
		})
	}
}
