package secrets

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestEveryIssuerRuleFindsWhatItsExpressionDescribes(t *testing.T) {
	sampler, scanner := newSamples(), New(nil)
	ids := map[string]bool{}
	for _, r := range issuerRules() {
		if ids[r.id] {
			t.Errorf("%s is there twice", r.id)
		}
		ids[r.id] = true
		e := newExpression(r.expression, r.keywords)
		e.re.MatchString("") // panics unless it is valid
		if e.endless {
			t.Errorf("%s: the length of a match has no bound", r.id)
		}
		for range 20 {
			sample := sampler.match(t, r.expression)
			if r.id == jwkRule {
				sample = `{"kty":"oct",` + sample + "}"
			}
			for _, text := range []string{sample, "a\nb = " + sample + "\nc", "x(" + sample + ")", "see '" + sample + "', and"} {
				middle := strings.Index(text, sample) + len(sample)/2
				if !covered(scanner.Scan(text), middle, middle+1) {
					t.Errorf("%s: nothing found in %q", r.id, text)
				}
			}
		}
	}
}

// documented are the forms of secrets as their issuers, or the programs that read them, document
// them: expressions in Go's syntax, except those of literal.
var documented = map[string]string{
	"1Password service account": `ops_eyJ[A-Za-z0-9]{300}`,
	"Airtable":                  `pat[A-Za-z0-9]{14}\.[0-9a-f]{64}`,
	"Aiven":                     `AVNS_[A-Za-z0-9]{20}`,
	"Alibaba":                   `LTAI5t[A-Za-z0-9]{18}`,
	"Anthropic API":             `sk-ant-api03-[A-Za-z0-9_-]{93}AA`,
	"Anthropic admin":           `sk-ant-admin01-[A-Za-z0-9_-]{93}AA`,
	"Anthropic OAuth":           `sk-ant-oat01-[A-Za-z0-9_-]{95}`,
	"Anthropic refresh":         `sk-ant-ort01-[A-Za-z0-9_-]{95}`,
	"Artifactory":               `AKCp[A-Za-z0-9]{69}`,
	"Asana":                     `2/12[0-9]{14}/12[0-9]{14}:[0-9a-f]{32}`,
	"Atlassian":                 `ATATT3xFfGF0[A-Za-z0-9_=-]{180}`,
	"AWS long-lived":            `AKIA[A-Z2-7]{16}`,
	"AWS temporary":             `ASIA[A-Z2-7]{16}`,
	"AWS secret":                `AWS_SECRET_ACCESS_KEY=[A-Za-z0-9/+]{40}`,
	"AWS secret in YAML":        `aws_secret_access_key: "[A-Za-z0-9/+]{40}"`,
	"AWS secret in JSON":        `"SecretAccessKey": "[A-Za-z0-9/+]{40}"`,
	"AWS session":               `IQoJb3JpZ2luX2VjE[A-Za-z0-9/+]{300}`,
	"Azure AD client":           `client_secret = "[A-Za-z0-9]{3}8Q~[A-Za-z0-9._~]{31}[a-z0-9]{3}"`,
	"Azure DevOps":              `[A-Za-z0-9]{52}JQQJ99[A-Z0-9]{18}AZDO[A-Za-z0-9]{4}`,
	"Azure SAS":                 `https://acme\.blob\.core\.windows\.net/c\?sv=2024-11-04&ss=b&se=2030-01-01&sig=[A-Za-z0-9]{40}%2B[0-9A-Z]{2}%3D`,
	"Azure service bus":         `Endpoint=sb://acme\.servicebus\.windows\.net/;SharedAccessKeyName=Root;SharedAccessKey=[A-Za-z0-9+/]{43}=`,
	"Azure storage":             `DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=[A-Za-z0-9+/]{86}==;EndpointSuffix=core\.windows\.net`,
	"Bitbucket app password":    `ATBB[A-Za-z0-9]{32}`,
	"Bitbucket access":          `ATCTT3xFfG[A-Za-z0-9_=-]{170}`,
	"Braintree":                 `access_token\$production\$[0-9a-z]{16}\$[0-9a-f]{32}`,
	"Brevo":                     `xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16}`,
	"Buildkite":                 `bkua_[0-9a-f]{40}`,
	"CircleCI personal":         `CCIPAT_[A-Za-z0-9]{22}_[0-9a-f]{40}`,
	"CircleCI project":          `CCIPRJ_[A-Za-z0-9]{22}_[0-9a-f]{40}`,
	"ClickUp":                   `pk_[0-9]{8}_[A-Z0-9]{32}`,
	"Cloudflare":                `cfut_[A-Za-z0-9]{48}`,
	"Cloudflare origin":         `v1\.0-[0-9a-f]{24}-[0-9a-f]{146}`,
	"Cockroach":                 `CCDB1_[A-Za-z0-9]{22}_[A-Za-z0-9]{40}`,
	"Contentful":                `CFPAT-[A-Za-z0-9_-]{43}`,
	"crates.io":                 `cio[A-Za-z0-9]{32}`,
	"Databricks":                `dapi[0-9a-f]{32}`,
	"Datadog":                   `DATADOG_APP_KEY=[0-9a-f]{40}`,
	"dbt":                       `dbtu_[A-Za-z0-9_]{40}`,
	"DeepSeek":                  `sk-[0-9a-f]{32}`,
	"DigitalOcean":              `dop_v1_[0-9a-f]{64}`,
	"Discord webhook":           `https://discord\.com/api/webhooks/[0-9]{19}/[A-Za-z0-9_-]{68}`,
	"Docker personal":           `dckr_pat_[A-Za-z0-9_-]{27}`,
	"Docker organization":       `dckr_oat_[A-Za-z0-9_-]{32}`,
	"Doppler personal":          `dp\.pt\.[A-Za-z0-9]{43}`,
	"Doppler service":           `dp\.st\.prd\.[A-Za-z0-9]{43}`,
	"Dynatrace":                 `dt0c01\.[A-Z2-7]{24}\.[A-Z2-7]{64}`,
	"ElevenLabs":                `sk_[0-9a-f]{48}`,
	"Figma":                     `figd_[A-Za-z0-9_-]{40}`,
	"Firebase server":           `AAAA[A-Za-z0-9_-]{7}:APA91b[A-Za-z0-9_-]{134}`,
	"Fly":                       `FlyV1 fm2_[A-Za-z0-9+/]{160}`,
	"GitHub personal":           `ghp_[A-Za-z0-9]{36}`,
	"GitHub OAuth":              `gho_[A-Za-z0-9]{36}`,
	"GitHub user":               `ghu_[A-Za-z0-9]{36}`,
	"GitHub server":             `ghs_[A-Za-z0-9]{36}`,
	"GitHub server, stateless":  `ghs_[0-9]{7}_eyJ[A-Za-z0-9_-]{80}\.eyJ[A-Za-z0-9_-]{160}\.[A-Za-z0-9_-]{86}`,
	"GitHub refresh":            `ghr_[A-Za-z0-9]{76}`,
	"GitHub fine-grained":       `github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}`,
	"GitLab personal":           `glpat-[A-Za-z0-9_-]{20}`,
	"GitLab routable":           `glpat-[A-Za-z0-9_-]{27}\.01\.[0-9a-z]{9}`,
	"GitLab deploy":             `gldt-[A-Za-z0-9_-]{20}`,
	"GitLab runner":             `glrt-[A-Za-z0-9_-]{20}`,
	"GitLab OAuth":              `gloas-[0-9a-f]{64}`,
	"GitLab trigger":            `glptt-[0-9a-f]{40}`,
	"GitLab CI job":             `glcbt-64_[A-Za-z0-9_-]{20}`,
	"GitLab agent":              `glagent-[A-Za-z0-9_-]{50}`,
	"GitLab workspace":          `glwt-[A-Za-z0-9_-]{20}`,
	"Google API":                `AIza[A-Za-z0-9_-]{35}`,
	"Google OAuth client":       `GOCSPX-[A-Za-z0-9_-]{28}`,
	"Google access":             `ya29\.[A-Za-z0-9_-]{180}`,
	"Google refresh":            `1//0[A-Za-z0-9_-]{98}`,
	"Grafana cloud":             `glc_eyJ[A-Za-z0-9+/]{120}==`,
	"Grafana service account":   `glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}`,
	"Groq":                      `gsk_[A-Za-z0-9]{52}`,
	"Heroku":                    `HRKU-AA[A-Za-z0-9_-]{58}`,
	"Honeycomb":                 `hcaik_01[0-9a-z]{56}`,
	"HubSpot":                   `pat-na1-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`,
	"Hugging Face":              `hf_[a-zA-Z]{34}`,
	"LangSmith":                 `lsv2_pt_[0-9a-f]{32}_[0-9a-f]{10}`,
	"LaunchDarkly":              `sdk-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`,
	"Linear":                    `lin_api_[A-Za-z0-9]{40}`,
	"Mailchimp":                 `[0-9a-f]{32}-us[1-9]`,
	"MailerSend":                `mlsn\.[0-9a-f]{64}`,
	"Mailgun":                   `key-[0-9a-f]{32}`,
	"Mapbox":                    `sk\.eyJ1Ijoi[A-Za-z0-9_-]{60}\.[A-Za-z0-9_-]{22}`,
	"Neon":                      `napi_[a-z0-9]{64}`,
	"Netlify":                   `nfp_[A-Za-z0-9]{36}`,
	"New Relic user":            `NRAK-[A-Z0-9]{27}`,
	"New Relic license":         `[0-9a-f]{36}NRAL`,
	"Notion":                    `ntn_[0-9]{11}[A-Za-z0-9]{35}`,
	"Notion, older":             `secret_[A-Za-z0-9]{43}`,
	"npm":                       `npm_[A-Za-z0-9]{36}`,
	"NuGet":                     `oy2[a-z0-9]{43}`,
	"NVIDIA":                    `nvapi-[A-Za-z0-9_-]{64}`,
	"OneSignal":                 `os_v2_app_[a-z2-7]{103}`,
	"OpenAI project":            `sk-proj-[A-Za-z0-9_-]{74}T3BlbkFJ[A-Za-z0-9_-]{74}`,
	"OpenAI service account":    `sk-svcacct-[A-Za-z0-9_-]{74}T3BlbkFJ[A-Za-z0-9_-]{74}`,
	"OpenAI project, shorter":   `sk-proj-[A-Za-z0-9]{48}`,
	"OpenAI, older":             `sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}`,
	"OpenRouter":                `sk-or-v1-[0-9a-f]{64}`,
	"Perplexity":                `pplx-[A-Za-z0-9]{48}`,
	"Pinecone":                  `pcsk_[A-Za-z0-9]{6}_[A-Za-z0-9]{63}`,
	"PlanetScale":               `pscale_tkn_[A-Za-z0-9_]{43}`,
	"Postman":                   `PMAK-[0-9a-f]{24}-[0-9a-f]{34}`,
	"PostHog":                   `phx_[A-Za-z0-9]{47}`,
	"Pulumi":                    `pul-[0-9a-f]{40}`,
	"PyPI":                      `pypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{150}`,
	"Replicate":                 `r8_[A-Za-z0-9]{37}`,
	"Resend":                    `re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}`,
	"RubyGems":                  `rubygems_[0-9a-f]{48}`,
	"SendGrid":                  `SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}`,
	"Sentry user":               `sntryu_[0-9a-f]{64}`,
	"Sentry organization":       `sntrys_eyJ[A-Za-z0-9+/]{120}_[A-Za-z0-9+/]{43}`,
	"Shopify":                   `shpat_[0-9a-f]{32}`,
	"Slack bot":                 `xoxb-[0-9]{12}-[0-9]{12}-[A-Za-z0-9]{24}`,
	"Slack user":                `xoxp-[0-9]{12}-[0-9]{12}-[0-9]{12}-[0-9a-f]{32}`,
	"Slack app":                 `xapp-1-A[A-Z0-9]{10}-[0-9]{13}-[0-9a-f]{64}`,
	"Slack browser":             `xoxc-[0-9]{12}-[0-9]{12}-[0-9]{12}-[0-9a-f]{64}`,
	"Slack webhook":             `https://hooks\.slack\.com/services/T[A-Z0-9]{10}/B[A-Z0-9]{10}/[A-Za-z0-9]{24}`,
	"Snyk":                      `snyk_uat\.[0-9a-f]{8}\.[A-Za-z0-9_.-]{60}`,
	"SonarQube":                 `sqp_[0-9a-f]{40}`,
	"Sourcegraph":               `sgp_[0-9a-f]{16}_[0-9a-f]{40}`,
	"Square":                    `sq0csp-[A-Za-z0-9_-]{43}`,
	"Stripe":                    `sk_live_[A-Za-z0-9]{99}`,
	"Stripe restricted":         `rk_live_[A-Za-z0-9]{24}`,
	"Stripe webhook":            `whsec_[A-Za-z0-9]{32}`,
	"Supabase":                  `sbp_[0-9a-f]{40}`,
	"Supabase secret":           `sb_secret_[A-Za-z0-9_-]{31}`,
	"Tailscale":                 `tskey-auth-k[A-Za-z0-9]{10}CNTRL-[A-Za-z0-9]{32}`,
	"Telegram":                  `[1-9][0-9]{9}:AA[A-Za-z0-9_-]{33}`,
	"Tencent":                   `AKID[A-Za-z0-9]{32}`,
	"Terraform cloud":           `[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9]{67}`,
	"Trello":                    `ATTA[0-9a-f]{72}`,
	"Twilio":                    `SK[0-9a-f]{32}`,
	"Typeform":                  `tfp_[A-Za-z0-9]{44}_[A-Za-z0-9]{14}`,
	"Vault service":             `hvs\.CAES[A-Za-z0-9_-]{90}`,
	"Vault, short":              `hvs\.[A-Za-z0-9]{24}`,
	"Vault batch":               `hvb\.AAAAAQ[A-Za-z0-9_-]{140}`,
	"Vercel":                    `vcp_[A-Za-z0-9]{56}`,
	"xAI":                       `xai-[A-Za-z0-9]{80}`,
	"Yandex":                    `AQVN[A-Za-z0-9_-]{36}`,
	"age":                       `AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}`,
	"PuTTY":                     `PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: k\nPublic-Lines: 2\nAAAAC3NzaC1lZDI1NTE5AAAAI[A-Za-z0-9+/]{39}\n[A-Za-z0-9+/]{16}\nPrivate-Lines: 1\n[A-Za-z0-9+/]{47}=\nPrivate-MAC: [0-9a-f]{64}\n`,
	"PEM":                       `-----BEGIN RSA PRIVATE KEY-----\n([A-Za-z0-9+/]{64}\n){9}[A-Za-z0-9+/]{40}==\n-----END RSA PRIVATE KEY-----`,
	"PEM in a query":            `key=-----BEGIN\+RSA\+PRIVATE\+KEY-----%0A([A-Za-z0-9]{61}%2B%0A){9}[A-Za-z0-9]{40}%3D%3D%0A-----END\+RSA\+PRIVATE\+KEY-----%0A`,
	"OpenSSH":                   `-----BEGIN OPENSSH PRIVATE KEY-----\n([A-Za-z0-9+/]{70}\n){5}-----END OPENSSH PRIVATE KEY-----`,
	"PGP":                       `-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n([A-Za-z0-9+/]{64}\n){10}=[A-Za-z0-9+/]{4}\n-----END PGP PRIVATE KEY BLOCK-----`,
	"Google service account":    `"private_key": "-----BEGIN PRIVATE KEY-----\\n([A-Za-z0-9+/]{64}\\n){9}-----END PRIVATE KEY-----\\n"`,
	"SSH2":                      `---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nComment: "k"\n([A-Za-z0-9+/]{70}\n){5}---- END SSH2 ENCRYPTED PRIVATE KEY ----`,
	"JSON Web Key":              `\{"kty": "EC", "crv": "P-256", "x": "[A-Za-z0-9_-]{43}", "y": "[A-Za-z0-9_-]{43}", "d": "[A-Za-z0-9_-]{43}"\}`,
	"WireGuard":                 `\[Interface\]\nPrivateKey = [A-Za-z0-9+/]{42}A=\nAddress = 10\.0\.0\.2/32`,
	"postgres":                  `postgres://app:[A-Za-z0-9]{16}@db\.internal\.acme\.io:5432/prod`,
	"postgresql with a driver":  `postgresql\+asyncpg://app:[A-Za-z0-9]{16}@10\.2\.3\.4/prod`,
	"mysql":                     `mysql://root:[A-Za-z0-9]{14}@mysql-1\.acme\.io:3306/shop`,
	"mongodb":                   `mongodb\+srv://admin:[A-Za-z0-9]{18}@cluster0\.ab1cd\.mongodb\.net/test`,
	"redis":                     `redis://:[A-Za-z0-9]{32}@cache\.acme\.io:6379/0`,
	"amqp":                      `amqps://svc:[A-Za-z0-9]{20}@mq\.acme\.io/vhost`,
	"https":                     `https://deploy:[A-Za-z0-9]{20}@git\.acme\.io/team/repo\.git`,
	"smtp":                      `smtp://mailer:[A-Za-z0-9]{16}@smtp\.acme\.io:587`,
	"ftp with an escape":        `ftp://u:[A-Za-z0-9]{10}%40[A-Za-z0-9]{4}@ftp\.acme\.io/`,
	"URL in JSON":               `"DATABASE_URL": "postgres:\\/\\/app:[A-Za-z0-9]{16}@db\.acme\.io\\/prod"`,
	"JDBC":                      `jdbc:postgresql://db\.acme\.io/prod\?user=app&password=[A-Za-z0-9]{16}`,
	"ADO":                       `Server=tcp:acme\.database\.windows\.net,1433;Database=shop;User ID=app;Password=[A-Za-z0-9]{18};Encrypt=True`,
	".netrc":                    `machine git\.acme\.io login deploy password [A-Za-z0-9]{20}`,
	".netrc on lines":           `machine git\.acme\.io\n  login deploy\n  password [A-Za-z0-9]{20}\n`,
	".npmrc token":              `//registry\.acme\.io/:_authToken=[A-Za-z0-9]{36}`,
	".npmrc password":           `//registry\.acme\.io/:_password="[A-Za-z0-9]{30}"`,
	"Docker's configuration":    `{"auths": {"registry.acme.io": {"auth": "` + base64.StdEncoding.EncodeToString([]byte("deploy:"+randomText(alphanumeric, 18))) + `"}}}`,
	".npmrc auth":               `_auth=` + base64.StdEncoding.EncodeToString([]byte("deploy:"+randomText(alphanumeric, 18))),
	"basic authentication":      `Authorization: Basic ` + base64.StdEncoding.EncodeToString([]byte("deploy:"+randomText(alphanumeric, 18))),
	"a value with a name":       `api_key = "[A-Za-z0-9]{32}"`,
	"a password with a name":    `DB_PASSWORD=[A-Za-z]{9}[0-9][A-Za-z0-9]{18}`,
	"JWT that stays valid":      `eyJhbGciOiJIUzI1NiJ9\.eyJzdWIiOiJzZXJ2aWNlIn0\.[A-Za-z0-9_-]{43}`,
	"Kubernetes secret":         "apiVersion: v1\nkind: Secret\nmetadata:\n  name: x\ndata:\n  user: " + base64.StdEncoding.EncodeToString([]byte("admin")) + "\n  password: " + base64.StdEncoding.EncodeToString([]byte(randomText(alphanumeric, 20))) + "\n",
}

// literal are the names in documented whose text is not an expression.
var literal = []string{"Docker's configuration", ".npmrc auth", "basic authentication", "Kubernetes secret"}

// TestSecretsInEveryEncoding asserts that a few secrets of different alphabets are found and masked
// in each encoding, in a line of other text.
func TestSecretsInEveryEncoding(t *testing.T) {
	sampler := newSamples()
	s := New([]Known{known("word", "Kn0wn-Value_98765+x")})
	encode := base64.StdEncoding.EncodeToString
	secrets := map[string]string{"a known value": "Kn0wn-Value_98765+x"}
	for _, name := range []string{"GitHub personal", "Anthropic OAuth", "AWS long-lived", "postgres", "npm", "Stripe", "Slack bot", "GitLab personal", "Google API", "PEM"} {
		secrets[name] = sampler.match(t, documented[name])
	}
	for encoding, write := range map[string]func(text string) string{
		"as it is":               func(text string) string { return text },
		"a query":                url.QueryEscape,
		"all percent":            func(text string) string { return everyByte("%%%02X", text) },
		"percent with u":         func(text string) string { return everyByte("%%u%04x", text) },
		"UTF-16":                 func(text string) string { return wideForms("\ufeffa = \"" + text + "\"\r\n")[0] },
		"UTF-16, big-endian":     func(text string) string { return wideForms("a = \"" + text + "\"\r\n")[1] },
		"Unicode escapes":        func(text string) string { return everyByte(`\u%04x`, text) },
		"braced Unicode escapes": func(text string) string { return everyByte(`\u{%x}`, text) },
		"hexadecimal escapes":    func(text string) string { return everyByte(`\x%02x`, text) },
		"octal escapes":          func(text string) string { return everyByte(`\%03o`, text) },
		"entities":               func(text string) string { return everyByte("&#x%x;", text) },
		"Markdown":               markdownEscapes.Replace,
		"Markdown in JSON":       func(text string) string { return fmt.Sprintf("%q", markdownEscapes.Replace(text)) },
		"underscores in Markdown": func(text string) string {
			return strings.ReplaceAll(text, "_", `\_`)
		},
		"Base64":       func(text string) string { return encode([]byte(text)) },
		"Base64 twice": func(text string) string { return encode([]byte(encode([]byte(text)))) },
		"Base64 in MIME": func(text string) string {
			return wrap(encode([]byte("words that make it longer: " + text + " and so on")))
		},
		"Base64 in YAML": func(text string) string {
			return "k: >-\n  " + strings.ReplaceAll(rows(encode([]byte("a "+text)), 60), "\n", "\n  ")
		},
		"a command of Windows": func(text string) string { return encode([]byte(wideForms("$t='" + text + "'")[0])) },
		"hexadecimal":          func(text string) string { return hex.EncodeToString([]byte(text)) },
		"JSON in JSON":         func(text string) string { return fmt.Sprintf("%q", fmt.Sprintf(`{"t":%q}`, text)) },
		"a patch":              func(text string) string { return "+" + strings.ReplaceAll(text, "\n", "\n+") },
		"a quotation":          func(text string) string { return "> " + strings.ReplaceAll(text, "\n", "\n> ") },
		"a list of values":     func(text string) string { return "a," + text + ",b" },
		"HTML":                 func(text string) string { return "<b>" + text + "</b>" },
		"a sentence":           func(text string) string { return "(" + text + ")." },
		"escaped line ends":    func(text string) string { return `a\n` + text + `\n` },
	} {
		for name, secret := range secrets {
			text := "before " + write(secret) + " after\n"
			if name == "PEM" && encoding == "HTML" {
				continue // </b> may be a part of a key
			}
			if hits := s.ScanFile("src/a.txt", text); len(hits) == 0 {
				t.Errorf("%s: %s was not found", encoding, name)
			}
			if masked := s.Mask(text); len(s.Scan(masked)) != 0 || strings.Contains(masked, write(secret)) {
				t.Errorf("%s: %s: masked: %q", encoding, name, masked)
			}
		}
	}
}

// markdownEscapes escapes the punctuation that Markdown's writers escape in a text.
var markdownEscapes = strings.NewReplacer("_", `\_`, "-", `\-`, ".", `\.`, "~", `\~`, "+", `\+`, "=", `\=`, ":", `\:`, "#", `\#`, "!", `\!`, "*", `\*`)

// passwordInURL matches the password of the URLs among the documented forms.
var passwordInURL = regexp.MustCompile(`/\w*:(\w+)@`)

func TestDocumentedFormsAreFound(t *testing.T) {
	// Of random passwords of 16 letters, one in a hundred reads as words do: docs/secrets.md.
	const samples, readAsWords = 20, 2
	sampler, scanner := newSamples(), New(nil)
	for _, name := range slices.Sorted(maps.Keys(documented)) {
		t.Run(name, func(t *testing.T) {
			missed := 0
			for range samples {
				secret := documented[name]
				if !slices.Contains(literal, name) {
					secret = sampler.match(t, secret)
				}
				for where, form := range map[string]string{"": "The value:\n%s\nand so on\n", "config/app.yaml": "x:\n  value: %s\n", "src/app.js": "call('%s');\n", "README.md": "Use `%s`.\n"} {
					text := fmt.Sprintf(form, secret)
					if strings.HasPrefix(name, ".netrc") && where == "src/app.js" {
						continue // the quote would belong to the password
					}
					hits := scanner.ScanFile(where, text)
					if len(hits) == 0 || hits[0].Explained != "" {
						if match := passwordInURL.FindStringSubmatch(secret); match != nil && isWords(match[1]) && missed < readAsWords {
							missed++
							break
						}
						t.Errorf("%s in %q: found %v", text, where, hits)
						return
					}
					if masked := scanner.Mask(text); strings.Contains(masked, secret) || len(scanner.Scan(masked)) != 0 {
						t.Errorf("masked: %s", masked)
						return
					}
				}
			}
		})
	}
}
