package secrets

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

func TestWeakPasswordsAreNoSecrets(t *testing.T) {
	s := New(nil)
	for _, weak := range []string{
		"password", "pass", "secret", "hunter2", "changeme", "postgres", "mysecretpassword", "password123", "admin1234", "guest", "s3cr3t", "${DB_PASSWORD}", "$PASSWORD",
		"<password>", "{password}", "[password]", "%s", "********", "xxxxxxxxxxxx", "your-password", "YOUR_PASSWORD", "example-password", "supersecret1", "testpass1",
		"correct-horse-battery-staple", "{{password}}", "$(cat", "...", "abcdefgh12345678", "user_password", "Summer2024", "this-real-77zq9",
	} {
		for _, form := range []string{
			"postgres://app:%s@db.acme.io/app", "https://u:%s@git.acme.io/x.git", "redis://:%s@cache.acme.io", "jdbc:mysql://h/d?user=u&password=%s", "Server=h;Password=%s;Encrypt=True",
			"machine git.acme.io login u password %s", "curl -u admin:%s https://api.acme.io/", "//npm.acme.io/:_authToken=%s",
			"CREATE USER app WITH PASSWORD '%s';", "alter user 'app'@'%%' identified by '%s';", "<password>%s</password>", "define('DB_PASSWORD', '%s');", "ansible_become_pass: %s", "define('DB_PASS', '%s');",
			"sshpass -p '%s' ssh db1", "docker login -u app -p '%s'", "docker login -u app --password-stdin <<< \"%s\"", "echo '%s' | podman login -u app --password-stdin r.acme.io", "echo 'root:%s' | sudo chpasswd",
			"db1:5432:app:app:%s", "echo \"*:*:*:app:%s\" > ~/.pgpass",
		} {
			text := fmt.Sprintf(form, weak)
			if hits := s.Scan(text); len(hits) != 0 {
				t.Errorf("%s: %v", text, hits)
			}
		}
		encoded := base64.StdEncoding.EncodeToString([]byte("user:" + weak))
		for _, text := range []string{`{"auths": {"h": {"auth": "` + encoded + `"}}}`, "Authorization: Basic " + encoded, "_auth=" + encoded} {
			if hits := s.Scan(text); len(hits) != 0 {
				t.Errorf("%s: %v", text, hits)
			}
		}
	}
}

func TestStrongPasswordsAreSecrets(t *testing.T) {
	s := New(nil)
	random := randomText(alphanumeric, 14)
	for _, strong := range []string{random, random[:9], "S3cr3tPassw0rd", "Tr0ub4dor&3", random[:5] + "$" + random[5:], random[:5] + "!" + random[5:] + "*", "P4ssw0rd-" + random[:4]} {
		for _, form := range []string{
			"postgres://app:%s@db.acme.io/app", "mongodb+srv://app:%s@cluster0.ab1cd.mongodb.net/?retryWrites=true", "postgres://app:%s@db1.acme.io,db2.acme.io/app", `"postgres:\/\/app:%s@db.acme.io\/app"`,
			"postgres%%3A%%2F%%2Fapp%%3A%s%%40db.acme.io%%2Fapp", "Server=h;Password=%s;Encrypt=True", "machine git.acme.io login u password %s",
			"CREATE USER app WITH PASSWORD '%s';", "alter user 'app'@'%%' identified by '%s';", "<password>%s</password>", "define('DB_PASSWORD', '%s');", "ansible_become_pass: %s", "define('DB_PASS', '%s');",
			"sshpass -p '%s' ssh db1", "docker login -u app -p '%s'", "docker login -u app --password-stdin <<< \"%s\"", "echo '%s' | podman login -u app --password-stdin r.acme.io", "echo 'root:%s' | sudo chpasswd",
			"db1:5432:app:app:%s", "echo \"*:*:*:app:%s\" > ~/.pgpass",
		} {
			text := fmt.Sprintf(form, strong)
			if strings.Contains(strong, "&") && strings.Contains(form, ";Password") {
				continue // an & ends a password among parameters
			}
			if hits := s.Scan(text); len(hits) != 1 || s.Mask(text) != strings.Replace(text, strong, "***", 1) {
				t.Errorf("%s: %v, masked %s", text, hits, s.Mask(text))
			}
		}
	}
	for host, found := range map[string]bool{
		"localhost": false, "127.0.0.1:5432": false, "127.0.0.1": false, "127.0.0.1:$PORT": false, "127.1": false, "db": false, "db:5432": false, "db.example.com": false, "db.acme.io": true,
		"127.acme.io": true, "127.0.0.1.acme.io:5432": true, "127.0.0.1-acme.io": true, "127.0.0.1%2eacme.io": true, "1270.0.0.1": true, "0.0.0.0:5432": false,
		"[::1]": false, "[::1]:5432": false, "[0:0:0:0:0:0:0:1]": false, "[::]:5432": false, "[::ffff:127.0.0.1]:5432": false, "[host]:5432": false,
		"[2001:db8::5]": true, "[2001:db8::5]:5432": true, "[2001:DB8::5]:5432": true, "[fe80::1%25eth0]:5432": true, "[::ffff:192.0.2.1]": true, "[2001:db8::5]:5432,[::1]": true,
	} {
		if hits := s.Scan("postgres://app:p4ssw0rd-t3st@" + host + "/app"); len(hits) > 0 != found {
			t.Errorf("%s: %v", host, hits)
		}
		if hits := s.Scan("postgres://app:" + random + "@" + host + "/app"); len(hits) != 1 {
			t.Errorf("%s: a random password was not found", host)
		}
	}
}

// TestPasswordsWithSigns asserts that a password in quotes, or in an element, ends where these end.
func TestPasswordsWithSigns(t *testing.T) {
	s := New(nil)
	for text, password := range map[string]string{
		"define('DB_PASSWORD', 'Lvt+;wF^n!z(9k');":      "Lvt+;wF^n!z(9k",
		"CREATE USER app IDENTIFIED BY 'Lv;t+wF^n!z9k'": "Lv;t+wF^n!z9k",
		"<password>x9Kd&amp;82mQpzRt</password>":        "x9Kd&amp;82mQpzRt",
	} {
		if hits := s.Scan(text); len(hits) != 1 || text[hits[0].Start:hits[0].End] != password {
			t.Errorf("%s: %+v", text, hits)
		}
	}
}

// TestPasswordsOfTests asserts that a password in a file of tests is Explained by the path.
func TestPasswordsOfTests(t *testing.T) {
	text := "CREATE USER app PASSWORD '" + randomText(alphanumeric, 14) + "';"
	for path, want := range map[string]string{"db/testdata/a.sql": "a test", "db/a.sql": ""} {
		if hits := New(nil).ScanFile(path, text); len(hits) != 1 || hits[0].Explained != want {
			t.Errorf("%s: %+v", path, hits)
		}
	}
}

// TestPasswordsThatAreNotGiven asserts that no rule about passwords finds anything in texts that only
// look as if they gave a password: the password is missing, is a hash, or does not stand in its
// place.
func TestPasswordsThatAreNotGiven(t *testing.T) {
	s, random := New(nil), randomText(alphanumeric, 14)
	for _, form := range []string{
		"ALTER USER app IDENTIFIED BY '*2470C0C06DEE42FD1618BB99005ADCA2EC9D1E19'", "CREATE ROLE app PASSWORD 'md5a3556571e93b0d20722ba62be61e8c2d'",
		"INSERT INTO users (password) VALUES ('%s')", "CREATE USER app; SELECT password '%s'", "CREATE USER app PASSWORD '%s", "CREATE USER app PASSWORD '",
		"docker login --password-stdin < %s", "echo app | docker login %s", "the login -p of %s", "sshpass -f %s ssh db1", "arn:aws:logs:*:*:%s", "db1:5432:5432:%s", "a:b:*:*:%s", "db1:5432:app:app:&lt;%s&gt;", "<password>&lt;%s&gt;</password>", "x :5432:app:app:%s",
		"<password>%s", "<password>", "ansible_become_pass %s", "ansible_become_pass", "notdefine('DB_PASSWORD', '%s",
	} {
		for _, h := range s.Scan(strings.ReplaceAll(form, "%s", random)) {
			if strings.HasSuffix(h.Rule, "-password") || h.Rule == "pgpass" {
				t.Errorf("%s: %v", form, h)
			}
		}
	}
}

func TestHarmlessGeneralValues(t *testing.T) {
	sampler, s := newSamples(), New(nil)
	for name, form := range map[string]string{
		"a UUID":                  `api_key = "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"`,
		"a UUID in capitals":      `TOKEN: '[0-9A-F]{8}-[0-9A-F]{4}-4[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}'`,
		"a UUID in a name":        `"key": "Q-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}-0"`,
		"a request of Heroku":     `host=app\.herokuapp\.com request_id=[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12} x`,
		"a setting":               `pgp_encrypt\('Secret', 'key', 's2k-count=1024'\)`,
		"a form's password":       `"user=x&password=wrong\\r\\n"`,
		"a page":                  `"NextToken": "[A-Za-z0-9+/]{40}"`,
		"a page's name":           `pageToken=[A-Za-z0-9]{40}`,
		"a handshake":             `Sec-WebSocket-Key: [A-Za-z0-9]{22}==`,
		"a form's token":          `authenticity_token: "[A-Za-z0-9]{44}"`,
		"a public key":            `public_key = "[A-Za-z0-9+/]{60}"`,
		"a key's id":              `"access_key_id": "[A-Z0-9]{20}"`,
		"an identifier":           `secretId: "[a-z0-9]{25}"`,
		"a commit":                `token-action-revision: "[0-9a-f]{40}"`,
		"a pinned action":         `- uses: acme/auth-token@[0-9a-f]{40}`,
		"an image":                `image: registry\.k8s\.io/kube-apiserver:[0-9a-f]{32}`,
		"an integrity":            `integrity_key: "sha512-[A-Za-z0-9+/]{86}=="`,
		"an integrity of SHA-3":   `api_secret: "sha3-512-[A-Za-z0-9+/]{86}=="`,
		"a checksum":              `token_checksum = "[0-9a-f]{64}"`,
		"a hash":                  `password_hash: "[0-9a-f]{64}"`,
		"a type":                  `PrivateKeyFlags: PrivateKeyAttributesV[0-9]`,
		"a class":                 `token-class: "incorrect-break-h[0-9]"`,
		"a mode":                  `"authtype":"v4-unsigned-body"`,
		"a media type":            `keys = \['application/x-iwork-keynote-sffkey[0-9]'\]`,
		"text in Base64":          `token: "dGhlIHNhbXBsZSBub25jZQ=="`,
		"a weak login in Base64":  `auth: "dXNlcm5hbWU6cGFzc3dvcmQ="`,
		"the beginning of a key":  `Key 1: wcBMA37rwGt6FS1VAQgAk1q8XQh6yc\.\.\.`,
		"a function":              `key = makeKey2FromV3Token4\(x\)`,
		"a search-only key":       `ALGOLIA_SEARCH_ONLY_API_KEY=[0-9a-f]{32}`,
		"a key that is published": `NEXT_PUBLIC_API_KEY=[A-Za-z0-9]{32}`,
	} {
		for range 10 {
			text := sampler.match(t, form)
			if hits := s.ScanFile("src/a.yaml", text); len(hits) != 0 {
				t.Errorf("%s: %s: %v", name, text, hits)
				break
			}
		}
	}
}

func TestPathsExplainOnlyWhatTestsMakeUp(t *testing.T) {
	sampler, s := newSamples(), New(nil)
	key := "-----BEGIN PRIVATE KEY-----\n" + sampler.match(t, `([A-Za-z0-9+/]{64}\n){8}`) + "-----END PRIVATE KEY-----\n"
	general := sampler.match(t, `api_key = "[a-f0-9]{8}[A-Z]{4}[a-z0-9]{20}"`)
	pat := sampler.match(t, `ghp_[0-9a-zA-Z]{36}`)
	for path, want := range map[string][3]string{ // of the key, the general value and the token
		"":                              {},
		"src/a.go":                      {},
		"README.md":                     {},
		"latest/a.go":                   {},
		"contest/a.go":                  {},
		"src/attestation.go":            {},
		"internal/a_test.go":            {"a test", "a test"},
		"testdata/key.pem":              {"a test", "a test"},
		"tests/unit/test_a.py":          {"a test", "a test"},
		"reg-tests/ssl/common.pem":      {"a test", "a test"},
		"src/a.test.ts":                 {"a test", "a test"},
		"src/test/java/a/KeyTest.java":  {"a test", "a test"},
		"pkg/fixtures/secret.yaml":      {"a test", "a test"},
		"Tests/Fixtures/container1.php": {"a test", "a test"},
		"docs/guide.md":                 {"", "documentation"},
		"examples/a/main.tf":            {"", "documentation"},
		"config.example.yml":            {"", "documentation"},
	} {
		for i, text := range []string{key, general, pat} {
			hits := s.ScanFile(path, text)
			if len(hits) != 1 || hits[0].Explained != want[i] {
				t.Errorf("%q, text %d: %v, want %q", path, i, hits, want[i])
			}
		}
	}
}

func TestTokensThatGiveNobodyAccess(t *testing.T) {
	s := New(nil)
	encode := base64.RawURLEncoding.EncodeToString
	for claims, found := range map[string]bool{
		`{"sub":"service","iat":1700000000}`:                     true,
		`{"sub":"service","exp":4102444800}`:                     true,
		`{"sub":"service","exp":1700000000}`:                     false, // expired
		`{"sub":"1234567890","name":"John Doe"}`:                 false, // the format's own example
		`{"iss":"supabase","role":"anon","exp":4102444800}`:      false, // meant to be public
		`{"iss":"supabase","role":"service_role","exp":4102444}`: false, // expired in 1970
		`{"iss":"supabase","role":"service_role"}`:               true,
	} {
		token := encode([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + encode([]byte(claims)) + "." + randomText(alphanumeric, 43)
		if hits := s.Scan("token: " + token); len(hits) > 0 != found {
			t.Errorf("%s: %v", claims, hits)
		}
	}
}
