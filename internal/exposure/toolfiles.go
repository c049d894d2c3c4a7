package exposure

import (
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

// Patterns of credentials in files. Their group is the text that has to be plausible: the secret
// itself, the program that has it, or the kind of a private key.
var (
	storedPassword = lazyregexp.New(`(?m)^[a-z]+://([^@\s]+)@`)
	privateKey     = lazyregexp.New(`-----BEGIN ([A-Z0-9 ]*PRIVATE KEY)`)
	jsonSecret     = lazyregexp.New(`"(?:auth|identitytoken|registrytoken|password|token|refresh_token|private_key|secret|access_token|accessToken|bearer)"\s*:\s*"([^"]*)`)
	jsonHelper     = lazyregexp.New(`"(?:credsStore|credHelpers)"\s*:\s*\{?\s*"([^"]+)`)
	assigned       = lazyregexp.New(`(?im)^[^#;\n]*(?:token|_auth|passw(?:or)?d|secret|access_?key|api_?key)[\w-]*["']?[ \t]*[=:][ \t]*["']?([^\s"']*)`)
	element        = lazyregexp.New(`(?i)<(?:password|passphrase|privateKey)>([^<]*)`)
	clearText      = lazyregexp.New(`(?i)key="(?:ClearText)?Password"\s+value="([^"]*)`)
	netrcWord      = lazyregexp.New(`(?m)(?:^|\s)password\s+(\S+)`)
	gemKey         = lazyregexp.New(`(?m)^:\w+:[ \t]*(\S+)`)
	bundleLogin    = lazyregexp.New(`(?m)^BUNDLE_[A-Z0-9_]+__[A-Z0-9_]+:[ \t]*"?([^\s"]+)`)
	clientKey      = lazyregexp.New(`(?m)^\s*(?:token|client-key-data|password):[ \t]*["']?([^\s"']*)`)
	anything       = lazyregexp.New(`(\S+)`)
)

// knownFiles are the files in which common tools keep credentials: in the user's home
// directory, and where a variable points to.
var knownFiles = []struct {
	path     string // relative to the home directory; .config/ is the user's directory of configurations
	variable string // the variable that names another place, or a list of places; "" if there is none
	name     string // the file's name in that place; "" if the place is the file itself
	pattern  *lazyregexp.Regexp
}{
	{".git-credentials", "", "", storedPassword},
	{".config/git/credentials", "", "", storedPassword},
	{".netrc", "NETRC", "", netrcWord},
	{"_netrc", "", "", netrcWord},
	{".config/gh/hosts.yml", "GH_CONFIG_DIR", "hosts.yml", assigned},
	{".config/hub", "HUB_CONFIG", "", assigned},
	{".config/glab-cli/config.yml", "GLAB_CONFIG_DIR", "config.yml", assigned},
	{".docker/config.json", "DOCKER_CONFIG", "config.json", jsonSecret},
	{".docker/config.json", "DOCKER_CONFIG", "config.json", jsonHelper},
	{".config/containers/auth.json", "REGISTRY_AUTH_FILE", "", jsonSecret},
	{".npmrc", "NPM_CONFIG_USERCONFIG", "", assigned},
	{".npmrc", "npm_config_userconfig", "", assigned},
	{".yarnrc.yml", "", "", assigned},
	{".pypirc", "", "", assigned},
	{".aws/credentials", "AWS_SHARED_CREDENTIALS_FILE", "", assigned},
	{".config/gcloud/application_default_credentials.json", "CLOUDSDK_CONFIG", "application_default_credentials.json", jsonSecret},
	{".azure/msal_token_cache.json", "AZURE_CONFIG_DIR", "msal_token_cache.json", jsonSecret},
	{".kube/config", "KUBECONFIG", "", clientKey},
	{".cargo/credentials.toml", "CARGO_HOME", "credentials.toml", assigned},
	{".cargo/credentials", "CARGO_HOME", "credentials", assigned},
	{".gem/credentials", "", "", gemKey},
	{".bundle/config", "BUNDLE_USER_CONFIG", "", bundleLogin},
	{".m2/settings.xml", "", "", element},
	{".gradle/gradle.properties", "GRADLE_USER_HOME", "gradle.properties", assigned},
	{".nuget/NuGet/NuGet.Config", "", "", clearText},
	{".composer/auth.json", "COMPOSER_HOME", "auth.json", jsonSecret},
	{".config/composer/auth.json", "", "", jsonSecret},
	{".terraform.d/credentials.tfrc.json", "", "", jsonSecret},
	{".vault-token", "", "", anything},
	{".ssh/id_rsa", "", "", privateKey},
	{".ssh/id_ecdsa", "", "", privateKey},
	{".ssh/id_ed25519", "", "", privateKey},
}

// toolFiles judges the files of common tools.
func (s *search) toolFiles() {
	for _, f := range knownFiles {
		path := s.inHome(f.path)
		if rest, ok := strings.CutPrefix(f.path, ".config/"); ok {
			path = s.inConfig(rest)
		}
		s.toolFile(path, f.pattern)
		for _, dir := range filepath.SplitList(s.env[f.variable]) {
			s.toolFile(filepath.Join(resolve(s.cfg.Dir, dir), f.name), f.pattern)
		}
	}
}

// toolFile judges one file by a pattern. It ignores the path "".
func (s *search) toolFile(path string, pattern *lazyregexp.Regexp) {
	if path == "" {
		return
	}
	content, why := read(path)
	if why != "" {
		s.add(place(path, 0), "this file of credentials cannot be judged: "+why)
	}
	for _, m := range pattern.FindAllStringSubmatchIndex(content, -1) {
		if plausible(content[m[2]:m[3]]) {
			s.add(place(path, 1+strings.Count(content[:m[0]], "\n")), "a tool keeps its credentials there")
			return
		}
	}
}

// maxTempFile is how large a file of the runner's temporary directory may be to be searched,
// in bytes: larger ones are archives of the steps before.
const maxTempFile = 64 << 10

// runnerTemp judges the files that earlier steps left in the runner's temporary directory:
// credentials of actions/checkout from version 6 on and its SSH keys, and scripts of steps
// into which secrets were written.
func (s *search) runnerTemp() {
	temp := s.env["RUNNER_TEMP"]
	if temp == "" {
		return
	}
	s.walk(temp, func(name string, e fs.DirEntry) bool {
		if ok, _ := path.Match("git-credentials-*.config", e.Name()); ok {
			s.gitConfig(gitFile{path: name})
			return false
		}
		if info, err := e.Info(); err != nil || !info.Mode().IsRegular() || info.Size() > maxTempFile {
			return false
		}
		content, _ := read(name)
		if privateKey.MatchString(content) {
			s.add(place(name, 0), "it is a private key, as actions/checkout leaves one unless persist-credentials is false")
		} else if hits := s.scanner.Scan(content); len(hits) > 0 {
			s.add(place(name, hits[0].Line), "an earlier step left what looks like a credential")
		}
		return false
	})
}
