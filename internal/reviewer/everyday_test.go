package reviewer

import (
	"slices"
	"testing"
)

// TestEverydayWeaknessesAreFound asserts that weaknesses as people write them every day are found,
// and that safe code which looks alike is not.
func TestEverydayWeaknessesAreFound(t *testing.T) {
	for _, c := range []struct {
		path, rule, code string
		want             bool
	}{
		{"a.go", "go/ssrf", "package a\n\nfunc proxy(w http.ResponseWriter, r *http.Request) {\n\tclient := &http.Client{Timeout: 5 * time.Second}\n\thost := r.URL.Query().Get(\"host\")\n\tresp, err := client.Post(\"https://\"+host+\"/hook\", \"application/json\", r.Body)\n\tpipe(w, resp, err)\n}\n", true},
		{"a.go", "go/ssrf", "package a\n\nfunc proxy(w http.ResponseWriter, r *http.Request) {\n\tc := http.Client{}\n\tresp, err := c.Get(r.FormValue(\"url\"))\n\tpipe(w, resp, err)\n}\n", true},
		{"a.go", "go/ssrf", "package a\n\nfunc proxy(w http.ResponseWriter, r *http.Request) {\n\tclient := &http.Client{}\n\tresp, err := client.Post(\"https://api.example.com/\"+r.URL.Query().Get(\"id\"), \"application/json\", r.Body)\n\tpipe(w, resp, err)\n}\n", false},
		{"a.go", "go/ssrf", "package a\n\nfunc (s *S) proxy(w http.ResponseWriter, r *http.Request) {\n\tresp, err := s.httpClient.Do(mustRequest(s.base + \"/x\"))\n\tpipe(w, resp, err)\n\tv := cache.Get(r.FormValue(\"key\"))\n\tuse(v)\n}\n", false},
		{"a.py", "python/xss", "from flask import Flask, request\napp = Flask(__name__)\n\n@app.route('/hello')\ndef hello():\n    name = request.args.get('name', '')\n    return f'<h1>Hello {name}</h1>'\n", true},
		{"a.py", "python/xss", "from flask import Flask\napp = Flask(__name__)\n\n@app.route('/u/<name>')\ndef user(name):\n    return '<p>%s</p>' % name\n", true},
		{"a.py", "python/xss", "from flask import Flask, request, make_response\napp = Flask(__name__)\n\n@app.get('/hello')\ndef hello():\n    resp = make_response('<h1>' + request.args['q'] + '</h1>')\n    return resp\n", true},
		{"a.py", "python/xss", "from flask import Flask, request\nfrom markupsafe import escape\napp = Flask(__name__)\n\n@app.route('/hello')\ndef hello():\n    name = request.args.get('name', '')\n    return f'<h1>Hello {escape(name)}</h1>'\n", false},
		{"a.py", "python/xss", "from flask import Flask, request, jsonify\napp = Flask(__name__)\n\n@app.route('/hello/<int:n>')\ndef hello(n):\n    return f'<b>{n}</b>'\n\n@app.route('/j')\ndef j():\n    return jsonify(name=request.args['name'])\n", false},
		{"A.java", "java/xxe", "class A { Document read(InputStream in) throws Exception {\n  DocumentBuilderFactory f = DocumentBuilderFactory.newInstance();\n  f.setNamespaceAware(true);\n  DocumentBuilder b = f.newDocumentBuilder();\n  return b.parse(in);\n} }\n", true},
		{"A.java", "java/xxe", "class A { void read(InputStream in) throws Exception {\n  SAXParserFactory.newInstance().newSAXParser().parse(in, new Handler());\n}\n void safe(InputStream in) throws Exception {\n  SAXParserFactory f = SAXParserFactory.newInstance();\n  f.setFeature(\"http://apache.org/xml/features/disallow-doctype-decl\", true);\n  f.newSAXParser().parse(in, new Handler());\n} }\n", true},
		{"A.java", "java/xxe", "class A { Document read(InputStream in) throws Exception {\n  DocumentBuilderFactory f = DocumentBuilderFactory.newInstance();\n  f.setFeature(XMLConstants.FEATURE_SECURE_PROCESSING, true);\n  f.setFeature(\"http://apache.org/xml/features/disallow-doctype-decl\", true);\n  return f.newDocumentBuilder().parse(in);\n} }\n", false},
		{"A.java", "java/unsafe-deserialization", "class A { Object read(HttpServletRequest request) throws Exception {\n  ObjectInputStream in = new ObjectInputStream(request.getInputStream());\n  return in.readObject();\n} }\n", true},
		{"A.java", "java/unsafe-deserialization", "class A { Object read(byte[] data) throws Exception {\n  try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(data))) {\n    return in.readObject();\n  }\n} }\n", true},
		{"A.java", "java/unsafe-deserialization", "class A { Object read(Socket socket) throws Exception {\n  InputStream in = socket.getInputStream();\n  return new ObjectInputStream(in).readObject();\n} }\n", true},
		{"A.java", "java/unsafe-deserialization", "class A { Object read(byte[] data) throws Exception {\n  ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(data));\n  in.setObjectInputFilter(ObjectInputFilter.Config.createFilter(\"a.*;!*\"));\n  return in.readObject();\n} }\n", false},
		{"A.java", "java/path-traversal", "class A { byte[] get(@RequestParam String name) throws IOException {\n  Path p = Paths.get(\"/srv/files\", name);\n  return Files.readAllBytes(p);\n} }\n", true},
		{"A.java", "java/path-traversal", "class A { Resource get(@PathVariable String name) throws IOException {\n  Path p = Paths.get(\"/srv/files/\" + name);\n  return new UrlResource(p.toUri());\n} }\n", true},
		{"A.java", "java/path-traversal", "class A { byte[] get() throws IOException {\n  return Files.readAllBytes(Paths.get(\"/srv/files\", \"a.txt\"));\n} }\n", false},
		{"A.java", "java/path-traversal", "class A { byte[] get(@RequestParam String name) throws IOException {\n  Path p = Paths.get(\"/srv/files\").resolve(name).normalize();\n  if (!p.startsWith(\"/srv/files\")) throw new IOException();\n  return Files.readAllBytes(p);\n} }\n", false},
		{"A.java", "java/sql-injection", "class A { User find(String name) {\n  return jdbcTemplate.queryForObject(\"SELECT * FROM users WHERE name = '\" + name + \"'\", mapper);\n} }\n", true},
		{"A.java", "java/sql-injection", "class A { List<User> find(@RequestParam String q) {\n  String sql = String.format(\"SELECT * FROM users WHERE name LIKE '%%%s%%'\", q);\n  return jdbcTemplate.query(sql, mapper);\n} }\n", true},
		{"A.java", "java/sql-injection", "class A { void f(@RequestParam String col) {\n  jdbcTemplate.update(\"UPDATE users SET \" + col + \" = 1\");\n} }\n", true},
		{"A.java", "java/sql-injection", "class A { User find(String name) {\n  return jdbcTemplate.queryForObject(\"SELECT * FROM users WHERE name = ?\", mapper, name);\n} }\n", false},
		{"a.rb", "ruby/xss", "def show\n  @bio = params[:bio].html_safe\nend\n", true},
		{"a.rb", "ruby/xss", "def show\n  @bio = \"<b>#{params[:name]}</b>\".html_safe\nend\n", true},
		{"a.rb", "ruby/xss", "def show\n  @bio = sanitize(params[:bio]).html_safe\n  @x = '<br>'.html_safe\nend\n", false},
		{"a.rb", "ruby/path-traversal", "def list\n  Dir.chdir(params[:dir]) { Dir.glob('*') }\nend\n", true},
		{"a.rb", "ruby/path-traversal", "def list\n  Dir.chdir(File.join(ROOT, params[:dir]))\nend\n", true},
		{"a.rb", "ruby/path-traversal", "def list\n  Dir.chdir(Rails.root)\n  Dir.chdir(File.basename(params[:dir]))\nend\n", false},
		{"a.py", "python/path-traversal", "import tarfile\n\ndef unpack(path, to):\n    with tarfile.open(path) as tar:\n        tar.extractall(to)\n", true},
		{"a.py", "python/path-traversal", "import tarfile\n\ndef unpack(path, to):\n    archive = tarfile.open(path)\n    archive.extractall(path=to)\n", true},
		{"a.py", "python/path-traversal", "import tarfile, zipfile\n\ndef unpack(path, to):\n    with tarfile.open(path) as tar:\n        tar.extractall(to, filter='data')\n    with zipfile.ZipFile(path) as z:\n        z.extractall(to)\n", false},
		{"a.js", "javascript/path-traversal", "const path = require('path');\nfunction target(req) {\n  return path.join(root, req.query.name);\n}\n", true},
		{"a.js", "javascript/path-traversal", "app.get('/f/:name', (req, res) => {\n  const file = path.join(__dirname, 'files', req.params.name);\n  res.sendFile(file);\n});\n", true},
		{"a.js", "javascript/path-traversal", "const file = path.join(__dirname, 'files', path.basename(req.params.name));\nres.sendFile(file);\n", false},
		{"a.ts", "javascript/xss", "constructor(private sanitizer: DomSanitizer, route: ActivatedRoute) {\n  this.html = this.sanitizer.bypassSecurityTrustHtml(route.snapshot.queryParams['q']);\n}\n", true},
		{"a.ts", "javascript/xss", "get url() { return this.domSanitizer.bypassSecurityTrustResourceUrl(this.video); }\n", true},
		{"a.ts", "javascript/xss", "const icon = sanitizer.bypassSecurityTrustHtml('<svg></svg>');\nthis.safe = this.sanitizer.sanitize(SecurityContext.HTML, text);\n", false},
	} {
		if found := slices.Contains(findingRules(t, c.path, SecurityReview, c.code), c.rule); found != c.want {
			t.Errorf("%s found: %v, want %v, in:\n%s", c.rule, found, c.want, c.code)
		}
	}
}

// TestSecretsInRecordedPagesAreNotFound asserts that text like a secret is not a finding in a page
// that a test has recorded, and that it is a finding elsewhere, such as in a template.
func TestSecretsInRecordedPagesAreNotFound(t *testing.T) {
	page := "<p data-key='AKIA" + "Z7QVTB3N4KXWMJ2R'></p>\n"
	for path, want := range map[string]int{"tests/data/page.html": 0, "templates/page.html": 1} {
		var found int
		for _, f := range security(t, Config{}, File{Path: path, Text: page}).Findings {
			if f.Rule == secretRule {
				found++
			}
		}
		if found != want {
			t.Errorf("%s: %d secrets, want %d", path, found, want)
		}
	}
}
