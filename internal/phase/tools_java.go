package phase

// The plugins of Maven that check the style.
const (
	spotlessPlugin   = "spotless-maven-plugin"
	checkstylePlugin = "maven-checkstyle-plugin"
)

// javaTools returns the tools of Java: Maven's plugins, and Gradle's.
func javaTools() []tool {
	return []tool{
		{
			check: Formatter, name: "Spotless for Maven", reads: "maven", signs: []sign{{plugin: spotlessPlugin}},
			run: []string{"mvn spotless:check"}, write: "mvn spotless:apply", fix: "mvn spotless:apply",
		},
		{
			check: Formatter, name: "Spotless for Gradle", reads: "gradle", signs: gradle("spotless"),
			run: []string{"gradle spotlessCheck"}, write: "gradle spotlessApply", fix: "gradle spotlessApply",
		},
		{
			check: Linter, name: "Checkstyle for Maven", reads: "maven", signs: []sign{{plugin: checkstylePlugin}},
			run: []string{"mvn checkstyle:check"},
		},
		{
			check: Linter, name: "Checkstyle for Gradle", reads: "gradle", signs: gradle("checkstyle"),
			run: []string{"gradle checkstyleMain checkstyleTest"},
		},
	}
}

// gradle returns the signs that a build uses a plugin: in its own file, in that of a subproject,
// or in files that these share.
func gradle(plugin string) (signs []sign) {
	for _, file := range []string{"build.gradle*", "*/build.gradle*", "gradle/*", "buildSrc/src/main/*/*.gradle*"} {
		signs = append(signs, mention(file, plugin))
	}
	return signs
}
