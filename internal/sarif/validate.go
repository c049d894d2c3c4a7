package sarif

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/agent-airlock/airlock/internal/schema"
)

// maxInputResults bounds what one log may cost to check; code scanning takes
// 25,000 results in all.
const maxInputResults = 200_000

// Validate returns every way in which a log is not SARIF 2.1.0, or not SARIF
// that code scanning could take: no runs, a tool without a name, no result with
// a location. What can be
// mended without loss (see Prepare) is not reported; members that are null
// count as absent. An error is ours.
func Validate(log []byte) ([]schema.Violation, error) {
	o, nulls, err := decode(log)
	if err != nil {
		return []schema.Violation{{Path: "$", Message: err.Error()}}, nil
	}
	if found := tooMany(o); found != nil {
		return found, nil
	}
	if quick().surely(o) {
		return blanks(o), nil
	}
	s, err := compiled()
	if err != nil {
		return nil, err
	}
	if nulls > 0 {
		log = encode(o)
	}
	found, err := s.Validate(log)
	if err != nil {
		return nil, err
	}
	return append(found, blanks(o)...), nil
}

func tooMany(o object) []schema.Violation {
	total := 0
	for _, run := range objects(list(o, "runs")) {
		total += len(list(run, "results"))
	}
	if total <= maxInputResults {
		return nil
	}
	return []schema.Violation{{Path: "$.runs", Message: fmt.Sprintf("there are %d results, at most %d can be read", total, maxInputResults)}}
}

// blanks reports what the schema cannot: required texts that are blank.
func blanks(o object) (found []schema.Violation) {
	runs, ok := o["runs"].([]any)
	if ok && len(runs) == 0 {
		found = append(found, schema.Violation{Path: "$.runs", Message: "there is no run in the log", SchemaPath: "properties.runs"})
	}
	for i, run := range objects(runs) {
		results := objects(list(run, "results"))
		if len(results) > 0 && !slices.ContainsFunc(results, func(r object) bool { return len(list(r, "locations")) > 0 }) {
			found = append(found, schema.Violation{
				Path:       fmt.Sprintf("$.runs[%d].results", i),
				Message:    "none of the results has a location, so that code scanning cannot show any: 'locations[0].physicalLocation.artifactLocation.uri' must name a file",
				SchemaPath: "definitions.result.properties.locations",
			})
		}
	}
	for i, r := range runs {
		run, _ := r.(object)
		name, isText := child(child(run, "tool"), "driver")["name"].(string)
		if isText && strings.TrimSpace(name) == "" {
			found = append(found, schema.Violation{
				Path:       fmt.Sprintf("$.runs[%d].tool.driver.name", i),
				Message:    "the tool's name is blank",
				SchemaPath: "definitions.toolComponent.properties.name",
			})
		}
	}
	return found
}

// quickNode is one schema of the SARIF schema, for checking fast what is valid:
// the full validator costs some hundred times as much, and is asked only about
// logs that this check is not sure of.
type quickNode struct {
	Ref        string                `json:"$ref"`
	Type       string                `json:"type"`
	Enum       []string              `json:"enum"`
	Required   []string              `json:"required"`
	Properties map[string]*quickNode `json:"properties"`
	Additional json.RawMessage       `json:"additionalProperties"`
	Items      *quickNode            `json:"items"`
	MinItems   int                   `json:"minItems"`
	Minimum    *float64              `json:"minimum"`
	Maximum    *float64              `json:"maximum"`
	Format     string                `json:"format"`
	Pattern    string                `json:"pattern"`
	AnyOf      []*quickNode          `json:"anyOf"`
	OneOf      []*quickNode          `json:"oneOf"`

	closed bool       // no other members
	others *quickNode // what other members are
	known  bool       // the check understands the schema
}

// quick returns the log's own schema, with all references resolved.
var quick = sync.OnceValue(func() *quickNode {
	var doc struct {
		quickNode
		Definitions map[string]*quickNode `json:"definitions"`
	}
	if err := json.Unmarshal(oasisSchema, &doc); err != nil {
		return &quickNode{} // unknown: the full validator is asked
	}
	for _, d := range doc.Definitions {
		d.link(doc.Definitions)
	}
	doc.link(doc.Definitions)
	return &doc.quickNode
})

// link settles what the node's members are, and whether it is understood.
func (n *quickNode) link(definitions map[string]*quickNode) {
	n.known = len(n.OneOf) == 0
	resolve := func(c *quickNode) *quickNode {
		if c.Ref != "" {
			if d := definitions[refName(c.Ref)]; d != nil {
				return d
			}
			return &quickNode{}
		}
		c.link(definitions)
		return c
	}
	for name, p := range n.Properties {
		n.Properties[name] = resolve(p)
	}
	if n.Items != nil {
		n.Items = resolve(n.Items)
	}
	switch a := string(n.Additional); {
	case a == "" || a == "true":
	case a == "false":
		n.closed = true
	default:
		var others quickNode
		n.known = n.known && json.Unmarshal(n.Additional, &others) == nil
		n.others = resolve(&others)
	}
	for _, alternative := range n.AnyOf {
		n.known = n.known && len(alternative.Required) > 0 && alternative.Type == ""
	}
}

// surely reports whether a value certainly conforms.
func (n *quickNode) surely(v any) bool {
	if !n.known || n.Pattern != "" || len(n.Enum) > 0 && !slices.Contains(n.Enum, asText(v)) {
		return false
	}
	switch v := v.(type) {
	case object:
		return (n.Type == "object" || n.Type == "") && n.surelyObject(v)
	case []any:
		if n.Type != "array" && n.Type != "" || len(v) < n.MinItems {
			return false
		}
		for _, e := range v {
			if n.Items != nil && !n.Items.surely(e) {
				return false
			}
		}
		return true
	case string:
		return (n.Type == "string" || n.Type == "") && ofFormat(v, n.Format)
	case bool:
		return n.Type == "boolean" || n.Type == ""
	case json.Number:
		if n.Type == "" {
			return len(v) < 20
		}
		i, err := strconv.ParseInt(string(v), 10, 32)
		f := float64(i)
		return err == nil && (n.Type == "integer" || n.Type == "number") && (n.Minimum == nil || f >= *n.Minimum) && (n.Maximum == nil || f <= *n.Maximum)
	}
	return v == nil && n.Type == ""
}

func (n *quickNode) surelyObject(o object) bool {
	for _, name := range n.Required {
		if _, ok := o[name]; !ok {
			return false
		}
	}
	fits := func(alternative *quickNode) bool {
		return !slices.ContainsFunc(alternative.Required, func(name string) bool { _, ok := o[name]; return !ok })
	}
	if len(n.AnyOf) > 0 && !slices.ContainsFunc(n.AnyOf, fits) {
		return false
	}
	for name, v := range o {
		p := n.Properties[name]
		switch {
		case p == nil && n.closed:
			return false
		case p == nil:
			p = n.others
		}
		if p != nil && !p.surely(v) {
			return false
		}
		if p == nil && !bounded(v) {
			return false
		}
	}
	return true
}

// bounded reports whether a value that no schema describes has only numbers
// that the full validator takes, too.
func bounded(v any) bool {
	switch v := v.(type) {
	case json.Number:
		return len(v) < 20 && !strings.ContainsAny(string(v), "eE")
	case []any:
		return !slices.ContainsFunc(v, func(e any) bool { return !bounded(e) })
	case object:
		for _, e := range v {
			if !bounded(e) {
				return false
			}
		}
	}
	return true
}

func asText(v any) string { s, _ := v.(string); return s }

// ofFormat knows the formats that Validate insists on.
func ofFormat(s, format string) bool {
	switch format {
	case "", "uri", "uri-reference":
		return true
	case "date-time":
		_, err := time.Parse(time.RFC3339Nano, s)
		return err == nil
	case "uuid":
		return isUUID(s)
	}
	return false
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		if _, hex := hexDigit(s[i]); hex == (i == 8 || i == 13 || i == 18 || i == 23) || !hex && s[i] != '-' {
			return false
		}
	}
	return true
}
