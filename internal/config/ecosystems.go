package config

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed ecosystems.txt
var ecosystemsText string

// ecosystems are the hosts that each name stands for: "name: host host", continued on lines that
// are indented. A line that begins with # is a comment.
var ecosystems = sync.OnceValue(func() map[string][]string {
	table := map[string][]string{}
	name := ""
	for line := range strings.Lines(ecosystemsText) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		hosts := strings.Fields(line)
		if !strings.HasPrefix(line, " ") && len(hosts) > 0 {
			name, hosts = strings.TrimSuffix(hosts[0], ":"), hosts[1:]
		}
		table[name] = append(table[name], hosts...)
	}
	return table
})

// ecosystemHosts returns the hosts that the name of an ecosystem stands for.
func ecosystemHosts(name string) (hosts []string, known bool) {
	if name == "default-safe-outputs" { // what links usually lead to
		for _, part := range []string{"defaults", "dev-tools", "github", "local"} {
			hosts = append(hosts, ecosystems()[part]...)
		}
		return hosts, true
	}
	hosts, known = ecosystems()[name]
	return hosts, known
}
