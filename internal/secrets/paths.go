package secrets

import (
	"strings"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

var (
	// testPath matches the files of tests, and the files that tests read.
	testPath = lazyregexp.New(`(?i)(^|/)(tests?|testing|specs?|__tests__|testdata|test[-_]?(?:fixtures?|helpers?|utils?|resources?|integration)|fixtures?|e2e|mocks?|__mocks__|[a-z0-9]+[-_]tests?)/|` +
		`[_.-](tests?|specs?|mocks?|fixtures?)\.[a-z]+$|(^|/)(test_[^/]*\.(py|rb)|conftest\.py|(tests?|test[-_]?keys?|mocks?)\.[a-z]+)$|(?-i:Tests?|IT)\.(java|kt|cs|php|swift|scala)$`)
	// docsPath matches documentation and examples: by a directory of their own, or by a name such as
	// a_example.go.
	docsPath = lazyregexp.New(`(?i)(^|/)(docs?|documentation|website|guides?|examples?|samples?)/|[_.-](examples?|samples?)\.[a-z]+$`)
)

// madeInTests are the rules about values that people make up for their tests, such as keys, tokens
// that such a key signs, and passwords. No issuer knows such a value, so only its place
// distinguishes it from a value in use.
var madeInTests = map[string]bool{
	keyRule: true, jwtRule: true, jwkRule: true, kubernetesRule: true, terraformRule: true, "jwt-base64": true, "age-secret-key": true, "putty-private-key": true,
	"ssh2-private-key": true, "xml-private-key": true, "wireguard-key": true, "extended-private-key": true, "nuget-config-password": true,
	"curl-auth-user": true, "curl-auth-header": true, "netrc-password": true, "basic-auth": true, "docker-auth": true, "npmrc-auth": true,
	"sql-password": true, "xml-password": true, "php-password": true, "ansible-password": true,
}

// explainByPath sets Explained of the hits that the path of their file explains.
func explainByPath(path string, hits []Hit) {
	path = strings.TrimPrefix(path, "./")
	for i := range hits {
		h := &hits[i]
		switch {
		case path == "" || h.Rule != GeneralRule && !madeInTests[h.Rule]:
		case testPath.MatchString(path):
			h.Explained = "a test"
		case h.Rule == GeneralRule && docsPath.MatchString(path):
			h.Explained = "documentation"
		}
	}
}
