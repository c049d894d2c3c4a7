package phase

import "strings"

// javaCommands returns Maven's commands if there is a pom.xml, followed by those of Maven's wrapper
// for machines without Maven. Otherwise it returns the commands of Gradle's nearest wrapper, or of
// the installed Gradle if the project has no wrapper.
func (p *project) javaCommands(dir string) commands {
	if p.has(dir, "pom.xml") {
		c := p.mavenCommands(dir, "mvn")
		if mvnw, ok := p.wrapper(dir, "mvnw"); ok {
			c = c.orElse(p.mavenCommands(dir, mvnw))
		}
		return c
	}
	var w wording
	gradle := "gradle"
	if gradlew, ok := p.wrapper(dir, "gradlew"); ok {
		gradle = gradlew
		w.replace = [][2]string{{"gradle ", gradle + " "}}
	}
	return commands{style: p.style(dir, Java, w), build: checksOnly(known("gradle", gradle, "build")), tests: checksOnly(known("gradle", gradle, "test")), adapt: w}
}

// mavenCommands returns Maven's commands. program is mvn or the path of a wrapper.
func (p *project) mavenCommands(dir, program string) commands {
	var w wording
	others := map[Check][]string{}
	for _, plugin := range []struct {
		check            Check
		artifact, prefix string
	}{{Formatter, spotlessPlugin, "spotless"}, {Linter, checkstylePlugin, "checkstyle"}} {
		use := p.mavenPlugin(dir, plugin.artifact)
		for _, module := range use.others {
			others[plugin.check] = append(others[plugin.check], plugin.artifact+" of "+module)
		}
		run := program
		if !use.all { // other modules do not use the plugin, or would be checked by its defaults
			run += " -pl " + strings.Join(use.modules, ",")
		}
		for _, goal := range []string{"check", "apply"} {
			goals := []string{plugin.prefix + ":" + goal}
			if len(use.ids) > 0 {
				goals = nil
			}
			for _, id := range use.ids {
				goals = append(goals, plugin.prefix+":"+goal+"@"+id)
			}
			w.replace = append(w.replace, [2]string{"mvn " + plugin.prefix + ":" + goal, run + " " + strings.Join(goals, " ")})
		}
	}
	style := p.style(dir, Java, w)
	for check, chosen := range style {
		chosen.others = append(chosen.others, others[check]...)
		style[check] = chosen
	}
	return commands{style: style, build: checksOnly(known("maven", program, "compile")), tests: checksOnly(known("maven", program, "test")), adapt: w}
}

// orElse adds the candidates of other commands, which are used if none of c's is installed.
func (c commands) orElse(others commands) commands {
	c.build, c.tests = append(c.build, others.build...), append(c.tests, others.tests...)
	for check, chosen := range c.style {
		chosen.candidates = append(chosen.candidates, others.style[check].candidates...)
		c.style[check] = chosen
	}
	return c
}

// wrapper returns the path, from a directory, of the nearest wrapper of a build tool.
func (p *project) wrapper(dir, name string) (file string, ok bool) {
	up := "./"
	ok = p.walkUp(dir, func(p *project, dir string) bool {
		found := p.has(dir, name)
		if !found {
			up = strings.TrimPrefix(up, "./") + "../"
		}
		return found
	})
	return up + name, ok
}
