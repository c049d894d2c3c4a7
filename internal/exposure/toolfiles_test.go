package exposure_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/agent-airlock/airlock/internal/shorttest"
)

// TestCredentialsOfTools asserts that a tool's file is found with a credential in it, and not without
// one. Where harmless is "", the file is removed.
func TestCredentialsOfTools(t *testing.T) {
	t.Parallel()
	const long = "Q3Zt8LwX1vRb6NcYpK0s"
	const pem = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEA\n-----END OPENSSH PRIVATE KEY-----\n"
	for _, c := range shorttest.First(4, []struct{ path, leaking, harmless string }{
		{"home/.git-credentials", "https://me:" + long + "@github.com\n", "\n"},
		{"home/.config/git/credentials", "https://me:" + long + "@github.com\n", ""},
		{"home/.netrc", "machine github.com\n  login me\n  password " + long + "\n", "machine github.com login me\n"},
		{"home/_netrc", "machine github.com login me password " + long, "machine github.com"},
		{"home/.config/gh/hosts.yml", "github.com:\n    user: me\n    oauth_token: gho_" + long + "\n", "github.com:\n    user: me\n    oauth_token:\n    git_protocol: https\n"},
		{"home/.config/hub", "github.com:\n- user: me\n  oauth_token: " + long + "\n", "github.com:\n- user: me\n"},
		{"home/.config/glab-cli/config.yml", "hosts:\n  gitlab.com:\n    token: " + long + "\n", "hosts:\n  gitlab.com:\n    token:\n    api_host: gitlab.com\n"},
		{"home/.docker/config.json", `{"auths": {"ghcr.io": {"auth": "bWU6` + long + `"}}}`, `{"auths": {"ghcr.io": {}}, "credHelpers": {}}`},
		{"home/.docker/config.json", `{"credsStore": "desktop"}`, `{"credsStore": ""}`},
		{"home/.docker/config.json", `{"credHelpers": {"x.amazonaws.com": "ecr-login"}}`, `{}`},
		{"home/.config/containers/auth.json", `{"auths": {"ghcr.io": {"auth": "bWU6` + long + `"}}}`, `{"auths": {}}`},
		{"home/.npmrc", "//registry.npmjs.org/:_authToken=npm_" + long + "\n", "# _authToken=npm_" + long + "\n//registry.npmjs.org/:_authToken=${NPM_TOKEN}\nfund=false\n"},
		{"home/.npmrc", "_auth = " + long + "\n", "registry=https://registry.npmjs.org/\n"},
		{"home/.yarnrc.yml", "npmAuthToken: \"" + long + "\"\n", "npmAuthToken: \"${NPM_TOKEN}\"\n"},
		{"home/.pypirc", "[pypi]\nusername = __token__\npassword = pypi-" + long + "\n", "[pypi]\nusername = __token__\n"},
		{"home/.aws/credentials", "[default]\naws_access_key_id = AKIA" + long + "\naws_secret_access_key = " + long + "\n", "[default]\nregion = eu-west-1\n"},
		{"home/.config/gcloud/application_default_credentials.json", `{"type": "authorized_user", "refresh_token": "1//` + long + `"}`, `{"type": "external_account"}`},
		{"home/.azure/msal_token_cache.json", `{"AccessToken": {"x": {"secret": "` + long + `"}}}`, `{}`},
		{"home/.kube/config", "users:\n- name: me\n  user:\n    token: " + long + "\n", "users:\n- name: me\n  user:\n    token:\n    exec: x\n"},
		{"home/.cargo/credentials.toml", "[registry]\ntoken = \"" + long + "\"\n", "[registry]\n"},
		{"home/.cargo/credentials", "[registry]\ntoken = \"" + long + "\"\n", "# token = \"" + long + "\"\n"},
		{"home/.gem/credentials", "---\n:rubygems_api_key: rubygems_" + long + "\n", "---\n:rubygems_api_key:\n"},
		{"home/.bundle/config", "---\nBUNDLE_RUBYGEMS__PKG__GITHUB__COM: \"me:" + long + "\"\n", "---\nBUNDLE_PATH: \"vendor\"\n"},
		{"home/.m2/settings.xml", "<server><password>" + long + "</password></server>", "<server><password>${env.TOKEN}</password><passphrase></passphrase></server>"},
		{"home/.gradle/gradle.properties", "mavenPassword=" + long + "\n", "org.gradle.parallel=true\n"},
		{"home/.nuget/NuGet/NuGet.Config", `<add key="ClearTextPassword" value="` + long + `" />`, `<add key="ClearTextPassword" value="%NUGET_TOKEN%" />`},
		{"home/.composer/auth.json", `{"http-basic": {"x": {"password": "` + long + `"}}}`, `{"http-basic": {}}`},
		{"home/.config/composer/auth.json", `{"bearer": {"x": "y"}, "bearer": "` + long + `"}`, `{}`},
		{"home/.terraform.d/credentials.tfrc.json", `{"credentials": {"app.terraform.io": {"token": "` + long + `"}}}`, `{}`},
		{"home/.vault-token", long, "\n"},
		{"home/.ssh/id_rsa", pem, "ssh-rsa AAAA\n"}, {"home/.ssh/id_ecdsa", pem, ""}, {"home/.ssh/id_ed25519", pem, ""},
		{"repo/sub/gha-creds-0f4c2f4e.json", "{}", ""},
		{"temp/gha-script.sh", "curl -H 'Authorization: token " + leaked + "' https://api.github.com\n", "curl https://api.github.com\n"},
		{"temp/0f4c2f4e", pem, "x"},
	}) {
		t.Run(filepath.Base(c.path), func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			file := m.write(c.path, c.leaking)
			if got := m.places(); !slices.Equal(got, []string{c.path}) {
				t.Errorf("%q contains a credential; found %q", c.leaking, got)
			}
			m.write(c.path, c.harmless)
			if c.harmless == "" {
				if err := os.Remove(file); err != nil {
					t.Fatal(err)
				}
			}
			if got := m.places(); got != nil {
				t.Errorf("%q contains no credential; found %q", c.harmless, got)
			}
		})
	}
}

// TestCredentialsWhereVariablesPoint asserts that the places that variables name are
// searched in addition to the usual ones.
func TestCredentialsWhereVariablesPoint(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	dir := filepath.Join(m.base, "d")
	npm, usual := m.write("d/npm", "_authToken=q3Zt8LwX1vRb6"), m.write("home/.npmrc", "_authToken=q3Zt8LwX1vRb6")
	kube := m.write("d/kube2", "token: q3Zt8LwX1vRb6")
	m.write("d/config.json", `{"credsStore": "desktop"}`)
	m.write("d/hosts.yml", "oauth_token: q3Zt8LwX1vRb6")
	m.write("d/credentials.toml", "token = \"q3Zt8LwX1vRb6\"")
	m.env = append(m.env, "NPM_CONFIG_USERCONFIG="+npm, "KUBECONFIG="+dir+"/kube1"+string(os.PathListSeparator)+kube, "DOCKER_CONFIG="+dir, "GH_CONFIG_DIR="+dir, "CARGO_HOME="+dir)
	want := []string{"d/config.json", "d/credentials.toml", "d/hosts.yml", "d/kube2", "d/npm", "home/.npmrc"}
	m.expect(want...)
	if err := os.Remove(usual); err != nil {
		t.Fatal(err)
	}
	m.expect(want[:5]...)
}
