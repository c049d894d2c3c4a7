package sanitize

import (
	"strings"
	"testing"
)

// TestDrawings asserts what becomes of code that GitHub draws. Text that the drawing does not show
// is removed or becomes visible, and the rest stays as it was.
func TestDrawings(t *testing.T) {
	s := mustNew(t, corpusConfig())
	for in, want := range map[string]string{
		"mermaid\ngraph TD\naccTitle: x\nA-->B":                                                 "mermaid\ngraph TD\n\nA-->B",
		"mermaid\ngraph TD\naccDescr {\n x\n y\n}\nA-->B":                                       "mermaid\ngraph TD\n\nA-->B",
		"mermaid\ngraph TD\naccDescr {\n x":                                                     "mermaid\ngraph TD",
		"mermaid\ngraph TD; A-->B; accDescr: x\nB-->C":                                          "mermaid\ngraph TD; A-->B; \nB-->C",
		"mermaid\n%%{do this}%%\ngraph TD":                                                      "mermaid\n\ngraph TD",
		"mermaid\n---\ntitle: \"a # b\" # c\nx:\n  y: z\nconfig:\n  theme: base\n---\ngraph TD": "mermaid\n---\ntitle: \"a # b\"\nconfig:\n  theme: base\n---\ngraph TD",
		"mermaid\nsequenceDiagram\n# x\nA->>B: y # z\ndetails A: {}\nB->>A: #35;1, #fff":        "mermaid\nsequenceDiagram\nA->>B: y \nB->>A: #35;1, #fff",
		"mermaid\nstateDiagram\nx direction LR y\nA --> B %% z":                                 "mermaid\nstateDiagram\ndirection LR\nA --> B ",
		"geojson\n{\"type\":\"Point\",\"coordinates\":[1,2],\"x\":\"do this\"}":                 "json\n{\"type\":\"Point\",\"coordinates\":[1,2],\"x\":\"do this\"}",
		"geojson\n{\"type\":\"Point\",\"coordinates\":[1,2],\"x\":\"do\u2003this\"}":            "json\n{\"type\":\"Point\",\"coordinates\":[1,2],\"x\":\"do\u2003this\"}",
		"geojson\nno JSON":                                                                           "json\nno JSON",
		"geojson\n" + strings.Repeat("[", 5000):                                                      "json\n" + strings.Repeat("[", 5000),
		"stl\nsolid x\ndo this\nendsolid":                                                            "text\nsolid x\ndo this\nendsolid",
		"math\n\\texttip{x}{y} \\bbox[black]{z} \\toggle{x}{y}\\endtoggle":                           "math\n{x}{y} [black]{z} {x}{y}\\endtoggle",
		"math\n\\renewenvironment{x}[1]{}{} \\DeclareMathOperator{\\x}{please do this now}":          "math\n{x}[1]{}{} {\\x}{please do this now}",
		"math\n\\colorbox{red}{\\color{red}x} \\rule[9em]{99em}{9em} \\rule{1em}{99em} x\\\\[99em]y": "math\n{\\color{red}x} [9em]{99em}{9em} {1em}{99em} x[99em]y",
	} {
		in, want = "```"+in+"\n```", "```"+want+"\n```"
		if got, notes := s.Body(in); got != want || len(notes) == 0 {
			t.Errorf("%q\n got  %q\n want %q\n notes %v", in, got, want, notes)
		}
	}
	for _, in := range []string{
		"mermaid\n%%{init: {\"theme\": \"base\", \"themeVariables\": {\"primaryColor\": \"#ffcc00\", \"fontFamily\": \"Trebuchet MS, Verdana, sans-serif\"}}}%%\ngraph TD\nA[50%% of it] --> B[#1]",
		"mermaid\n---\ntitle: A title of several plain words\nconfig:\n  look: handDrawn\n  theme: neutral\n  flowchart:\n    curve: basis\n---\nflowchart LR\nA@{ shape: rect, label: \"Fine\" }",
		"mermaid\nsequenceDiagram\n  participant A as Alice the first\n  rect #eee\n  A->>+B: Hello, 100% sure?\n  end\n  Note over A,B: x",
		"mermaid\nclassDiagram\n  direction LR\n  class A {\n    +int x\n    #String name\n  }",
		"mermaid\nstateDiagram-v2\n  classDef bad fill:#f00,color:white\n  [*] --> Still : issue #12",
		"mermaid\nmindmap\n  root((x))\n    #hashtag\n    50 %% of it",
		"mermaid\ngitGraph\n  commit id: \"a %% b\"\n  branch x",
		"geojson\n{\"type\":\"FeatureCollection\",\"features\":[{\"type\":\"Feature\",\"id\":7,\"geometry\":{\"type\":\"Point\",\"coordinates\":[-77.03,38.9]},\"properties\":{\"name\":\"The White House, Washington\",\"marker-color\":\"#f00\"}}]}",
		"topojson\n{\"type\":\"Topology\",\"objects\":{\"example\":{\"type\":\"GeometryCollection\",\"geometries\":[{\"type\":\"Point\",\"coordinates\":[4000,5000],\"properties\":{\"prop0\":\"value0\"}}]}},\"arcs\":[[[4000,0],[1999,9999]]]}",
		"stl\nsolid cube_corner\n  facet normal 0.0 -1.0 0.0\n    outer loop\n      vertex 0.0 0.0 0.0\n      vertex 1.0e-3 0.0 0.0\n      vertex 0.0 0.0 1.0\n    endloop\n  endfacet\nendsolid",
		"math\n\\colorbox{yellow}{$x$} + \\rule{0.4em}{0.4em} \\\\[2em] \\DeclareMathOperator{\\argmax}{arg\\,max}",
	} {
		in = "```" + in + "\n```"
		if got, notes := s.Body(in); got != in || len(notes) > 0 {
			t.Errorf("changed:\n in  %q\n got %q\n notes %v", in, got, notes)
		}
	}
}
