package phase

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"io"
	"path"
	"slices"
	"strings"
)

// pom is what a pom.xml says about plugins and modules.
type pom struct {
	dir        string
	ArtifactID string      `xml:"artifactId"`
	Parent     *pomParent  `xml:"parent"`
	Modules    []string    `xml:"modules>module"`
	Plugins    []pomPlugin `xml:"build>plugins>plugin"`
	Managed    []pomPlugin `xml:"build>pluginManagement>plugins>plugin"`
	Profiles   []struct {
		Default string      `xml:"activation>activeByDefault"`
		Modules []string    `xml:"modules>module"`
		Plugins []pomPlugin `xml:"build>plugins>plugin"`
		Managed []pomPlugin `xml:"build>pluginManagement>plugins>plugin"`
	} `xml:"profiles>profile"`
}

type pomParent struct {
	ArtifactID   string  `xml:"artifactId"`
	RelativePath *string `xml:"relativePath"`
}

// pomPlugin is a plugin as one pom.xml names it.
type pomPlugin struct {
	ArtifactID    string    `xml:"artifactId"`
	Inherited     string    `xml:"inherited"`
	Configuration *struct{} `xml:"configuration"`
	Executions    []struct {
		ID            string    `xml:"id"`
		Goals         []string  `xml:"goals>goal"`
		Configuration *struct{} `xml:"configuration"`
	} `xml:"executions>execution"`
}

// pom returns the pom.xml of a directory, nil if there is none that can be read, or if very many
// were read. What is wrong in it, Maven reports.
func (p *project) pom(dir string) *pom {
	found, known := p.poms[dir]
	if !known && len(p.poms) < mostPoms {
		found = p.readPom(dir)
		p.poms[dir] = found
	}
	return found
}

// readPom reads the pom.xml of a directory. Profiles that are active by default count as the pom
// itself.
func (p *project) readPom(dir string) *pom {
	raw, err := p.read(path.Join(dir, "pom.xml"))
	if err != nil {
		return nil
	}
	// The parts that are read are ASCII, which is the same in all usual encodings.
	d := xml.NewDecoder(bytes.NewReader(bytes.ToValidUTF8(raw, []byte("?"))))
	d.CharsetReader = func(_ string, from io.Reader) (io.Reader, error) { return from, nil }
	found := &pom{dir: dir}
	if d.Decode(found) != nil {
		return nil
	}
	for _, profile := range found.Profiles {
		if strings.TrimSpace(profile.Default) == "true" {
			found.Modules = append(found.Modules, profile.Modules...)
			found.Plugins, found.Managed = append(found.Plugins, profile.Plugins...), append(found.Managed, profile.Managed...)
		}
	}
	return found
}

// Bounds of what is looked at: modules of a build, and poms of a repository.
const (
	maxModules = 500
	mostPoms   = 4 * maxModules
)

// buildOf returns the modules of the Maven build in a directory, beginning with the directory's
// own. Their directories are relative to the repository, which buildOf returns as well, because a
// module's parent may be above the working directory.
func (p *project) buildOf(dir string) (modules []*pom, repository *project) {
	if p.outer != nil {
		dir, p = path.Join(p.prefix, dir), p.outer
	}
	return cached(p.modules, dir, p.readModules), p
}

// readModules reads the modules of the Maven build in a directory.
func (p *project) readModules(dir string) (modules []*pom) {
	seen := map[string]bool{dir: true}
	for next := []string{dir}; len(next) > 0 && len(modules) < maxModules; next = next[1:] {
		m := p.pom(next[0])
		if m == nil {
			continue
		}
		modules = append(modules, m)
		for _, name := range m.Modules {
			if moduleDir := pomDir(m.dir, name); !seen[moduleDir] && len(seen) < mostPoms {
				seen[moduleDir] = true
				next = append(next, moduleDir)
			}
		}
	}
	return modules
}

// pomDir returns the directory of a pom that another one names, as its directory or its file.
func pomDir(from, to string) string {
	to = path.Join(from, strings.TrimSpace(strings.ReplaceAll(to, `\`, "/")))
	if strings.HasSuffix(to, ".xml") {
		return path.Dir(to)
	}
	return to
}

// parentOf returns the parent of a pom if that is in the repository, otherwise nil.
func (p *project) parentOf(m *pom) *pom {
	if m.Parent == nil {
		return nil
	}
	relative := "../pom.xml"
	if m.Parent.RelativePath != nil {
		relative = strings.TrimSpace(*m.Parent.RelativePath)
	}
	if relative == "" { // it comes from a repository of artifacts
		return nil
	}
	above := p.pom(pomDir(m.dir, relative))
	if above == nil || above == m || strings.TrimSpace(above.ArtifactID) != strings.TrimSpace(m.Parent.ArtifactID) {
		return nil
	}
	return above
}

// pluginUse is how the modules of a build use a plugin.
type pluginUse struct {
	modules []string // their directories, relative to the build's
	all     bool     // they are all modules of the build
	ids     []string // the executions with configurations, in the modules whose plugin itself has none
	others  []string // modules that one command cannot run: they use it in another way, or need quotes
}

// mavenPlugin returns how the build in a directory uses a plugin, which has a goal "check".
func (p *project) mavenPlugin(dir, artifact string) (u pluginUse) {
	modules, repository := p.buildOf(dir)
	decided := false
	for _, m := range modules {
		used, configured, ids := m.uses(artifact, repository)
		if !used {
			continue
		}
		if !configured && !decided {
			decided, u.ids = true, ids
		}
		name := relativeTo(modules[0].dir, m.dir)
		needsQuotes := func(word string) bool { return !unquoted.MatchString(word) || word[0] == '-' }
		isRunnable := !needsQuotes(name) && !slices.ContainsFunc(ids, needsQuotes)
		if isRunnable && (configured || slices.Equal(ids, u.ids)) {
			u.modules = append(u.modules, name) // an execution that a module lacks runs with its plugin's configuration
		} else {
			u.others = append(u.others, name)
		}
	}
	u.all = len(u.modules) == len(modules)
	return u
}

// uses reports whether a module uses a plugin: the plugin stands below build in the module's own
// pom or in that of a parent in the repository. A plugin that is only managed or only used for
// reports, or that belongs to a profile somebody has to ask for, does not count. configured reports
// whether any of these poms configures the plugin outside its executions, under pluginManagement
// too; ids are its executions of the goal "check" with a configuration.
func (m *pom) uses(artifact string, repository *project) (used, configured bool, ids []string) {
	depth := 0
	for current := m; current != nil && depth < maxModules; current, depth = repository.parentOf(current), depth+1 {
		for i, plugin := range slices.Concat(current.Plugins, current.Managed) {
			if strings.TrimSpace(plugin.ArtifactID) != artifact || current != m && strings.TrimSpace(plugin.Inherited) == "false" {
				continue
			}
			used = used || i < len(current.Plugins)
			configured = configured || plugin.Configuration != nil
			for _, e := range plugin.Executions {
				if e.Configuration != nil && slices.ContainsFunc(e.Goals, func(g string) bool { return strings.TrimSpace(g) == "check" }) {
					ids = append(ids, cmp.Or(strings.TrimSpace(e.ID), "default"))
				}
			}
		}
	}
	slices.Sort(ids)
	return used, configured, slices.Compact(ids)
}

// relativeTo returns a clean path relative to a directory that need not contain it.
func relativeTo(dir, name string) string {
	up := ""
	for !isIn(dir, name) && dir != "." {
		dir, up = path.Dir(dir), up+"../"
	}
	if dir == name {
		return cmp.Or(strings.TrimSuffix(up, "/"), ".")
	}
	if dir != "." {
		name = strings.TrimPrefix(name, dir+"/")
	}
	return up + name
}
