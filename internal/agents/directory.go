package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
	"github.com/agent-airlock/airlock/internal/schema"
	"github.com/agent-airlock/airlock/internal/text"
	"go.yaml.in/yaml/v3"
)

// MaxFile is how large the file of a blueprint may be, in bytes.
const MaxFile = 1 << 20

// Further limits of the owner's files.
const (
	maxFiles     = 1000
	maxFileDepth = 100
	maxFileNodes = 50_000
)

// ReadDirectory returns the blueprints of a directory, in the order of its files' names: one from
// each file that is named *.yaml, *.yml or *.json. The error joins the problems of all files, with
// their lines.
func ReadDirectory(dir fs.FS) ([]Blueprint, error) {
	entries, err := fs.ReadDir(dir, ".")
	if err != nil {
		return nil, err
	}
	var list []Blueprint
	var problems []error
	named := map[string]string{}
	for _, e := range entries {
		if e.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(e.Name())) {
			continue
		}
		if len(list) >= maxFiles {
			return nil, fmt.Errorf("there are more than %d files", maxFiles)
		}
		b, err := readFile(dir, e.Name())
		switch other := named[b.Name]; {
		case err != nil:
			problems = append(problems, err)
		case other != "":
			problems = append(problems, fmt.Errorf("%s: the agent %s is in %s already: rename one", e.Name(), b.Name, other))
		default:
			named[b.Name] = e.Name()
			list = append(list, b)
		}
	}
	return list, errors.Join(problems...)
}

func readFile(dir fs.FS, name string) (Blueprint, error) {
	// A FIFO is not opened, because that would wait for its other end.
	info, err := fs.Stat(dir, name)
	if err != nil {
		return Blueprint{}, err
	}
	if !info.Mode().IsRegular() {
		return Blueprint{}, fmt.Errorf("%s: it is not a regular file", name)
	}
	f, err := dir.Open(name)
	if err != nil {
		return Blueprint{}, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return Blueprint{}, fmt.Errorf("%s: %w", name, err)
	}
	raw, lines, err := fromYAML(data)
	if err != nil {
		return Blueprint{}, fmt.Errorf("%s: %w", name, err)
	}
	b, violations, err := parse(raw)
	if err != nil {
		return b, fmt.Errorf("%s: %w", name, err)
	}
	var problems []error
	for _, v := range violations {
		problems = append(problems, fmt.Errorf("%s:%d: %s: %s", name, lines.line(v), v.Path, v.Message))
	}
	b.Source = File
	return b, errors.Join(problems...)
}

// ToJSON converts one YAML document to JSON. The document may be JSON, because JSON is YAML.
func ToJSON(data []byte) (json.RawMessage, error) {
	raw, _, err := fromYAML(data)
	return raw, err
}

// yamlLines has the line of each value by its path.
type yamlLines map[string]int

// line returns the line of a violation: that of its value, or of the innermost value around it that
// has a line.
func (l yamlLines) line(v schema.Violation) int {
	for p := v.Path; ; {
		if line, ok := l[p]; ok {
			return line
		}
		cut := strings.LastIndexAny(p, ".[")
		if cut <= 0 {
			return max(l["$"], 1)
		}
		p = p[:cut]
	}
}

// fromYAML is ToJSON, and also returns the lines of the document's values.
func fromYAML(data []byte) (json.RawMessage, yamlLines, error) {
	if len(data) > MaxFile {
		return nil, nil, fmt.Errorf("it is larger than %s", text.Bytes(MaxFile))
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, nil, errors.New("the file is empty")
	} else if err != nil {
		return nil, nil, errors.New(text.OneLine(strings.TrimPrefix(err.Error(), "yaml: ")))
	}
	if err := dec.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, nil, errors.New("there is more than one document: write one agent a file")
	}
	c := yamlConverter{lines: yamlLines{}}
	value, err := c.convert(&doc, "$", 0)
	if err != nil {
		return nil, nil, err
	}
	raw, err := json.Marshal(value)
	return raw, c.lines, err
}

type yamlConverter struct {
	lines yamlLines
	nodes int // with those that aliases repeat
}

// jsonNumber matches what JSON writes as a number. YAML has more forms.
var jsonNumber = lazyregexp.New(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

func (c *yamlConverter) convert(n *yaml.Node, path string, depth int) (any, error) {
	if c.nodes++; c.nodes > maxFileNodes {
		return nil, fmt.Errorf("line %d: there are more than %d values, those that aliases repeat included", n.Line, maxFileNodes)
	}
	if depth > maxFileDepth {
		return nil, fmt.Errorf("line %d: nested more than %d deep", n.Line, maxFileDepth)
	}
	c.lines[path] = n.Line
	switch n.Kind {
	case yaml.DocumentNode:
		return c.convert(n.Content[0], path, depth)
	case yaml.AliasNode:
		return c.convert(n.Alias, path, depth+1)
	case yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for i, item := range n.Content {
			v, err := c.convert(item, path+"["+strconv.Itoa(i)+"]", depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	case yaml.MappingNode:
		return c.mapping(n, path, depth)
	}
	switch n.ShortTag() {
	case "!!null":
		return nil, nil
	case "!!bool":
		return strconv.ParseBool(strings.ToLower(n.Value))
	case "!!int", "!!float":
		if jsonNumber.MatchString(n.Value) && schema.BoundedNumber(n.Value) {
			return json.Number(n.Value), nil
		}
		return nil, fmt.Errorf("line %d: %q is not a number in JSON: write it in decimal, or in quotes if it is a text", n.Line, text.Truncate(n.Value, 40))
	}
	return n.Value, nil // a text, or a value of a type that only YAML has, such as a date
}

func (c *yamlConverter) mapping(n *yaml.Node, path string, depth int) (any, error) {
	m := make(map[string]any, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode || key.ShortTag() == "!!merge" {
			return nil, fmt.Errorf("line %d: only a text can name a member", key.Line)
		}
		if _, twice := m[key.Value]; twice {
			return nil, fmt.Errorf("line %d: %q is there twice", key.Line, text.Truncate(key.Value, 40))
		}
		v, err := c.convert(value, path+"."+key.Value, depth+1)
		if err != nil {
			return nil, err
		}
		m[key.Value] = v
	}
	return m, nil
}
