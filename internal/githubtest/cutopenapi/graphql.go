package main

import (
	"bytes"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"
	"github.com/vektah/gqlparser/v2/parser"
)

// cutGraphQL drops the descriptions, and the second of each field that GitHub's
// file lists twice, which a strict parser refuses.
func cutGraphQL(src []byte) ([]byte, error) {
	doc, err := parser.ParseSchema(&ast.Source{Name: "schema.graphql", Input: string(src)})
	if err != nil {
		return nil, err
	}
	for _, def := range doc.Definitions {
		seen := map[string]bool{}
		fields := def.Fields[:0]
		for _, f := range def.Fields {
			if !seen[f.Name] {
				seen[f.Name] = true
				fields = append(fields, f)
			}
		}
		def.Fields = fields
	}
	var b bytes.Buffer
	formatter.NewFormatter(&b, formatter.WithoutDescription(), formatter.WithIndent(" ")).FormatSchemaDocument(doc)
	return b.Bytes(), nil
}
