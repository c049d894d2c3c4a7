package toolreport

import (
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
)

// annotationReader reads the commands with which a tool annotates a workflow run of GitHub:
// "::error file=a.js,line=1,title=RULE::MESSAGE". The value of format is the tool's title for a file
// that is not formatted, "" if there is none, and that of parse for a file that cannot be parsed.
type annotationReader struct {
	*collector
	format, parse string
}

// annotations returns the readers of a tool's annotations.
func annotations(format, parse string) opener {
	return bothStreams(func(c *collector) lineReader { return &annotationReader{c, format, parse} })
}

var annotationLevels = map[string]finding.Severity{"error": finding.High, "warning": finding.Medium, "notice": finding.Low}

func (a *annotationReader) line(line string) {
	head, message, ok := strings.Cut(strings.TrimPrefix(line, "::"), "::")
	level, properties, hasProperties := strings.Cut(head, " ")
	severity := annotationLevels[level]
	if !ok || !hasProperties || severity == "" || !strings.HasPrefix(line, "::") {
		return
	}
	f := finding.Finding{Message: unescaped(message), Severity: severity}
	for property := range strings.SplitSeq(properties, ",") {
		name, escaped, _ := strings.Cut(property, "=")
		value := unescaped(escaped)
		switch name {
		case "file":
			f.Path = value
		case "line":
			f.Range.StartLine = atoi(value)
		case "endLine":
			f.Range.EndLine = atoi(value)
		case "col":
			f.Range.StartColumn = atoi(value)
		case "endColumn":
			f.Range.EndColumn = atoi(value)
		case "title":
			f.Rule = value
		}
	}
	a.recognised = true
	switch {
	case a.format != "" && f.Rule == a.format:
		a.add(unformatted(f.Path)) // its place is where the file begins
	case f.Rule == a.parse:
		f.Rule = ""
		a.addUnparsed(f)
	default:
		a.add(f)
	}
}

// unescaped undoes what the commands escape.
func unescaped(text string) string {
	return strings.NewReplacer("%0A", "\n", "%0D", "\r", "%3A", ":", "%2C", ",", "%25", "%").Replace(text)
}
