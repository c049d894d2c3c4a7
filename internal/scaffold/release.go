package scaffold

import (
	"cmp"
	"fmt"
	"strings"
)

// A Release is the version of Airlock that a workflow is to use.
type Release struct {
	// Version is that of a release, such as v1.2.3, or of a development build.
	Version string
	// Commit is the commit of the actions, "" where this binary does not know it.
	Commit string
}

const repository = "agent-airlock/airlock"

// isReleased reports whether there is a release of this version, with its binaries and images.
func (r Release) isReleased() bool {
	version, hasV := strings.CutPrefix(r.Version, "v")
	isNumeric := strings.Trim(version, "0123456789.") == ""
	isDevelopment := strings.HasPrefix(version, "0.0.0")
	return hasV && strings.Count(version, ".") == 2 && isNumeric && !isDevelopment
}

// ref returns the text after the @ of an action: the commit with a comment, or the release if the
// commit is not known, or v1 if it is not a release either.
func (r Release) ref() string {
	switch {
	case r.Commit != "" && r.isReleased():
		return r.Commit + " # " + r.Version
	case r.Commit != "":
		return r.Commit + " # not a release"
	case r.isReleased():
		return r.Version
	}
	return "v1"
}

// gitRef returns the name of the version for git and in addresses: a tag, a commit or main.
func (r Release) gitRef() string {
	switch {
	case r.isReleased():
		return r.Version
	case r.Commit != "":
		return r.Commit
	}
	return "main"
}

// note returns what a person has to know about the versions of actions in the workflows; "" if
// nothing.
func (r Release) note() string {
	switch {
	case r.Commit != "" && r.isReleased():
		return ""
	case r.Commit != "":
		return fmt.Sprintf("This airlock (%s) is not a release. The workflows name its commit, and install airlock from it with Go. The actions build their images in every run. Run 'airlock init' of a release before others rely on it.", r.Version)
	case r.isReleased():
		return fmt.Sprintf("This airlock does not know the commit of %s, so the workflows name its tag, which can be moved. 'git ls-remote https://github.com/%s %s' prints the commit to put there; the released binaries know theirs.", r.Version, repository, r.Version)
	}
	return fmt.Sprintf("This airlock (%s) does not know which version it is. The workflows name the tag v1, which moves with each release. Run 'airlock init' of a release before others rely on it.", r.Version)
}

// schemaURL returns where editors find the configuration's schema.
func (r Release) schemaURL() string {
	return "https://raw.githubusercontent.com/" + repository + "/" + r.gitRef() + "/schemas/safe-outputs-config.json"
}

// installSteps returns the steps that put airlock on PATH in a job.
func (r Release) installSteps() string {
	if r.isReleased() {
		return "      - uses: " + repository + "/actions/setup@" + r.ref() + "\n        with:\n          version: " + r.Version + "\n"
	}
	return "      - uses: " + actionSetupGo + "\n        with:\n          go-version: stable\n" +
		"      - run: go install github.com/" + repository + "/cmd/airlock@" + cmp.Or(r.Commit, "latest") + "\n"
}

// The third-party actions of the workflows, by commit, with the version in a comment. A test
// holds them equal to those of this repository's own workflows.
const (
	actionCheckout  = "actions/checkout@fbc6f3992d24b796d5a048ff273f7fcc4a7b6c09 # v5.1.0"
	actionUpload    = "actions/upload-artifact@ea165f8d65b6e75b540449e92b4886f43607fa02 # v4.6.2"
	actionDownload  = "actions/download-artifact@634f93cb2916e3fdff6788551b99b062d0335ce0 # v5.0.0"
	actionSetupGo   = "actions/setup-go@924ae3a1cded613372ab5595356fb5720e22ba16 # v6.5.0"
	actionSetupNode = "actions/setup-node@a0853c24544627f65ddf259abe73b1d18a591444 # v5.0.0"
)
