package reviewer

import (
	"fmt"
	"strings"
	"testing"
)

func TestCredentialsAreFoundWhereTheyStand(t *testing.T) {
	for name, c := range map[string]struct {
		path, code string
		want       string // line:column-end of each finding
	}{
		"Go":                                  {"a.go", "func f() {\n\tdbPassword := \"hunter2\"\n}\n", "2:17-24"},
		"Go that compares":                    {"a.go", "func f(password string) bool {\n\treturn password == \"Mew!\"\n}\n", "2:22-26"},
		"Go's driver for MySQL":               {"a.go", "const dsn = \"app:horse7@tcp(db1:3306)/app\"\n", "1:18-24"},
		"Python, by name":                     {"a.py", "db = connect(user='app', password='s3cr+t')\n", "1:36-42"},
		"a password of mixed letters":         {"a.py", "DB_PASSWORD = 'x9Kd82mQpz71'\n", "1:16-28"},
		"mixed letters among arguments":       {"a.py", "c = connect(password='s3cr3tPazz9')\n", "1:23-34"},
		"a version called a password":         {"a.py", "password = 'v1beta1'\n", ""},
		"mixed letters of something else":     {"a.py", "password_key = 'x9Kd82mQpz71'\n", ""},
		"Python's dictionary":                 {"a.py", "settings = {'PASSWORD': 'Zebra+17'}\n", "1:26-34"},
		"Ruby":                                {"a.rb", "config.password = \"hunter2\"\n", "1:20-27"},
		"Java that compares":                  {"A.java", "class A { boolean f(String password) { return password.equals(\"Mew!\"); } }", "1:64-68"},
		"Java's connection":                   {"A.java", "class A { void f() { DriverManager.getConnection(url, \"scott\", \"tiger\"); } }\n", "1:65-70"},
		"Java's password from elsewhere":      {"A.java", "class A { void f() { DriverManager.getConnection(url, user, password); } }\n", ""},
		"Go's request":                        {"a.go", "func f() {\n\treq.SetBasicAuth(\"app\", \"horse7\")\n}\n", "2:27-33"},
		"Go's password from elsewhere":        {"a.go", "func f() {\n\treq.SetBasicAuth(\"app\", os.Getenv(\"P\"))\n}\n", ""},
		"Python's request":                    {"a.py", "requests.get(u, auth=('app', 'horse7'))\n", "1:31-37"},
		"Python's request with a token":       {"a.py", "requests.get(u, auth=(token, ''))\n", ""},
		"Ruby's basic_auth in brackets":       {"a.rb", "request.basic_auth(\"app\", \"horse7\")\n", "1:28-34"},
		"Java's field":                        {"A.java", "class A { static final String PASSWORD = \"admin\"; }", "1:43-48"},
		"Rust":                                {"src/a.rs", "const API_KEY: &str = \"k1+Horse9\";\n", "1:24-33"},
		"TypeScript's field":                  {"a.ts", "class A { private password: string = 'hunter2'; }\n", "1:39-46"},
		"an address after an emoji":           {"a.js", "const a = '😀', u = 'redis://:horse7@cache:6379/0';\n", "1:31-37"},
		"settings":                            {"app.yaml", "db:\n  user: app\n  password: hunter2 # of the database\n", "3:13-20"},
		"an environment":                      {".env", "A=1\r\nexport DB_PASSWORD=\"Zebra+17\"\r\n", "2:21-29"},
		"settings of .NET":                    {"web.config", "<add name=\"x\" connectionString=\"Server=db1;Database=app;User Id=app;Password=horse-7\" />\n", "1:78-85"},
		"an address in a text":                {"deploy.sh", "curl https://app:horse-7@files.internal/x\n", "1:18-25"},
		"two in a dictionary":                 {"a.py", "s = {'password': 'Zebra+17', 'api_key': 'Yak+18'}\n", "1:19-27 1:42-48"},
		"two of one name":                     {"a.js", "const a = [{ password: 'Zebra+17' }, { password: 'Yak+18' }];\n", "1:25-33 1:51-57"},
		"two that are given at once":          {"a.go", "func f() {\n\tapiKey, secret := \"Zebra+17\", \"Yak+18\"\n}\n", "2:21-29 2:33-39"},
		"names and one value":                 {"a.py", "connect(\n  secret, mode='Zebra+17')\n", ""},
		"one of two that are given":           {"a.py", "user, password = 'Zebra+17', 'Yak+18'\n", "1:31-37"},
		"two in Java":                         {"A.java", "class A { String password = \"Zebra+17\", secret = \"Yak+18\"; }\n", "1:30-38 1:51-57"},
		"two in one line of settings":         {"app.json", "{\"password\": \"Zebra+17\", \"api_key\": \"Yak+18\"}\n", "1:15-23 1:38-44"},
		"two addresses":                       {"a.py", "u = ['redis://:horse7@cache:6379/0', 'redis://:horse8@cache:6379/0']\n", "1:16-22 1:48-54"},
		"two connections":                     {"a.py", "c = 'host=db1 user=app password=horse7;host=db2 user=app password=horse8'\n", "1:33-39 1:67-73"},
		"a value from elsewhere":              {"app.yaml", "password: ${DB_PASSWORD}\nsecret: '{{ vault_secret1 }}'\n", ""},
		"a name of something else":            {"a.js", "const passwordField = 'field7', passwordHash = 'a1b2c3+', resetPassword = 'route9!';\n", ""},
		"a text for people":                   {"a.js", "const t = { password: 'At least 8 signs!' };\n", ""},
		"a key of a text":                     {"a.js", "const t = { password: 'login.password2' };\n", ""},
		"the name of an algorithm":            {"a.py", "password = 'pbkdf2_sha256'\n", ""},
		"a password that is put together":     {"a.go", "func f() {\n\tpassword := \"hunter2\" + random()\n}\n", ""},
		"a test":                              {"a_test.go", "const password = \"hunter2\"\n", ""},
		"an example":                          {"examples/a.go", "const password = \"hunter2\"\n", ""},
		"a document":                          {"README.md", "https://app:horse-7@files.internal/x\n", ""},
		"a service's default password":        {"app.env", "URL=postgres://app:root@db:5432/app\n", ""},
		"a default password at a full domain": {"app.env", "URL=postgres://app:root@db.internal:5432/app\n", "1:20-24"},
		"a service that is started":           {"stack.yml", "services:\n  db:\n    image: db:5\n    environment:\n      - DB_PASSWORD=Horse@123\n", ""},
		"a service without an image":          {"stack.yml", "services:\n  db:\n    environment:\n      - DB_PASSWORD=Horse@123\n", "4:21-30"},
		"question marks for a key":            {"app.yaml", "api-key: sk-??\n", ""},
		"the machine itself":                  {"a.py", "u = 'postgres://app:horse7@localhost/app'\n", ""},
		"a database on the machine itself":    {"a.py", "c = 'host=localhost user=app password=horse7'\n", ""},
		"a user without a password":           {"a.py", "u = 'ssh://git@files.internal/x'\n", ""},
		"the user's name again":               {"a.py", "u = 'postgres://postgres:postgres@db/app'\n", ""},
		"a placeholder for a password":        {"a.py", "u = 'https://[[user][:pass7]@]host.internal'\nv = f'https://app:{pw}@host.internal'\n", ""},
		"a comment about a name":              {"a.go", "// password := \"hunter2\"\n", ""},
		"an element of XML":                   {"settings.xml", "<server><password>Zebra+17</password></server>\n", "1:19-27"},
		"an attribute of XML":                 {"users.xml", "<user username=\"app\" password=\"Zebra+17\"/>\n", "1:32-40"},
		"a property of XML":                   {"a.xml", "<property name=\"db.password\" value=\"Zebra+17\"/>\n<property name=\"password\">\n  <value>Yak+18</value>\n", "1:37-45 3:10-16"},
		"a type of XML":                       {"a.xml", "<xs:element name=\"password\" type=\"xs:string1\"/><input type=\"password\" name=\"password2\"/>\n", ""},
		"an encrypted element of XML":         {"settings.xml", "<password>{jSMOWnoPFgsHVpMvz5VrIt5k=}</password>\n", ""},
		"a constant of PHP":                   {"config.php", "<?php\ndefine('DB_PASSWORD', 'Zebra+17');\n", "2:24-32"},
		"a variable and an array of PHP":      {"config.php", "<?php\n$db_password = 'Zebra+17';\nreturn ['password' => 'Yak+18'];\n", "2:17-25 3:24-30"},
		"a rule and a constant of PHP":        {"a.php", "<?php\n$r = ['password' => 'required|min:8'];\ndefine('PASSWORD_ALGO', 'sha256');\nif ($password == 'abc1def2') {}\n", ""},
		"a user of PostgreSQL":                {"db/init.sql", "CREATE USER app\n  WITH ENCRYPTED PASSWORD 'Zebra+17';\n", "2:28-36"},
		"a user of MySQL in code":             {"a.py", "db.execute(\"CREATE USER 'app'@'%' IDENTIFIED BY 'Zebra+17'\")\n", "1:50-58"},
		"a user whose password is filled in":  {"a.py", "db.execute(f\"ALTER ROLE app PASSWORD '{password1}'\")\n", ""},
		"a user whose password is hashed":     {"init.sql", "ALTER USER app PASSWORD 'md5a3556571e93b0d20722ba62be61e8c2d';\n-- CREATE USER app PASSWORD 'Zebra+17';\n", ""},
		"Ansible's inventory":                 {"inventory/hosts", "web1 ansible_host=10.0.0.1 ansible_become_pass=Zebra+17\n", "1:48-56"},
		"Ansible's variable":                  {"group_vars/all.yml", "ansible_become_pass: Zebra+17\nansible_ssh_pass: \"{{ vault_pass1 }}\"\n", "1:22-30"},
		"a short name in settings":            {"app.properties", "db.pass = Zebra+17\nby_pass = cache\n", "1:11-19"},
		"a default of Terraform":              {"vars.tf", "variable \"db_password\" {\n  type    = string\n  default = \"Zebra+17\"\n}\n", "3:14-22"},
		"Oracle's address":                    {"a.properties", "url=jdbc:oracle:thin:app/Zebra+17@db1:1521:orcl\n", "1:26-34"},
		"commands":                            {"deploy.sh", "sshpass -p 'Zebra+17' ssh db1\nmysql -u app -pZebra+17 app\ndocker login -u app -p Zebra+17 r.internal\n", "1:13-21 2:16-24 3:24-32"},
		"commands with variables":             {"deploy.sh", "mysql -u app -p\"$PASSWORD1\"\nmysql -p app1db\ndocker login -u app -p $(cat p1)\npsql -p 5432 -U app1\n", ""},
		"a shell's variable":                  {"deploy.sh", "export PGPASSWORD=Zebra+17\nPASSWORD=$(pwgen 12 1)\n", "1:19-27"},
		"PowerShell":                          {"a.ps1", "$p = ConvertTo-SecureString \"Zebra+17\" -AsPlainText -Force\n", "1:30-38"},
		"a header":                            {"a.go", "func f() {\n\treq.Header.Set(\"Authorization\", \"Bearer x9Kd82mQpz71Lw3Rt5e7\")\n}\n", "2:42-62"},
		"a header from elsewhere":             {"a.py", "h = {'Authorization': 'Bearer your-own-token-goes-here-1'}\nh = {'Authorization': 'Bearer ' + token1}\n", ""},
		"a key of random letters":             {"a.js", "const jwtSecret = 'x9Kd82mQpz71Lw3Rt5';\n", "1:20-38"},
		"a name of a secret":                  {"a.yml", "secret: app-3f2-7d9-1a4-name\nclient_secret: projects/1/secrets/a2/versions/3\n", ""},
		"the key of a token":                  {"a.js", "jwt.sign(payload, 'Zebra+17');\njwt.verify(token, 'RS256');\njwt.verify(token, key1);\n", "1:20-28"},
		"an example in a comment":             {"a.py", "# such as https://app:horse7@files.internal/x\n", ""},
		"a comment of settings":               {"app.ini", "; host=db1 user=app password=horse7\n", ""},
		"a flag that begins a line":           {"deploy.sh", "run \\\n  --from https://app:horse7@files.internal/x\n", "2:22-28"},
		"a manual without an extension":       {"src/README", "https://app:horse7@files.internal/x\n", ""},
		"an administrator's password":         {"app.env", "ADMIN_PASSWORD=Zebra+17\nexchange.password=Yak+18\nMIN_PASSWORD=Zebra+17\n", "1:16-24 2:19-25"},
		"letters without the form of a name":  {"config.php", "<?php\ndefine('DB_PASSWORD', 'utKysQL3aGTe');\ndefine('DB_PASSWORD', 'keyOfPart1Name');\n", "2:24-36"},
		"signs of code in a constant of PHP":  {"config.php", "<?php\ndefine('DB_PASSWORD', 'Lvt+;wF^n!z(');\ndefine('DB_PASSWORD', 'Config::get(DB1)');\n", "2:24-36"},
		"an entry of XML":                     {"a.xml", "<entry key=\"db.password\">Zebra+17</entry>\n", "1:26-34"},
		"a right for a user of MySQL":         {"init.sql", "GRANT ALL ON app.* TO 'app'@'%' IDENTIFIED BY 'Zebra+17';\nGRANT ALL ON app.* TO app;\n", "1:48-56"},
		"what standard input gets":            {"deploy.sh", "docker login -u app --password-stdin <<< 'Zebra+17'\necho Yak+18 | podman login -u app --password-stdin\necho \"app:Zebra+17\" | sudo chpasswd\n", "1:43-51 2:6-12 3:11-19"},
		"what standard input gets, variables": {"deploy.sh", "docker login -u app --password-stdin <<< \"$PASS1\"\necho $PASS1 | docker login -u app --password-stdin\ncat p1 | docker login --password-stdin\n", ""},
		"more commands":                       {"deploy.sh", "curl -u app:Zebra+17 https://a.internal\nredis-cli -h db1 -a Zebra+17 ping\nopenssl rsa -in k.pem -passin pass:Zebra+17\nkeytool -list -storepass Zebra+17\n", "1:13-21 2:21-29 3:36-44 4:26-34"},
		"more commands with variables":        {"deploy.sh", "curl -u \"app:$PASS1\" https://a.internal\ncurl -u app1 https://a.internal:8080/x1y2z3\nopenssl rsa -passin env:PASS1\nredis-cli -h db1 -p 6379\n", ""},
		"a file for PostgreSQL":               {"deploy/.pgpass", "# host:port:database:user:password1\n*:*:*:app:Zebra+17\n", "2:11-19"},
		"a line for a file for PostgreSQL":    {"deploy.sh", "echo \"db1:5432:app:app:Zebra+17\" > ~/.pgpass\n", "1:24-32"},
		"a file for logins":                   {".netrc", "machine a.internal\n  login app\n  password Zebra+17\nmachine b login app password ${PASS1}\n", "3:12-20"},
		"parameters of an address":            {"a.properties", "url=jdbc:mysql://db1:3306/app?user=app&password=Zebra+17\nu2=jdbc:mysql://db1/app?user=app&password=${PASS1}\n", "1:49-57"},
		"parameters of an address in XML":     {"a.xml", "<p name=\"url\" value=\"jdbc:mysql://db1/app?user=app&amp;password=Zebra+17\"/>\n", "1:65-73"},
		"parameters of the machine itself":    {"a.properties", "url=jdbc:mysql://localhost:3306/app?user=app&password=Zebra+17\n", ""},
		"the token of kubectl":                {"kubeconfig", "kind: Config\nusers:\n- name: app\n  user:\n    token: x9Kd82mQpz71Lw3Rt5e7\n", "5:12-32"},
		"settings of MySQL":                   {".my.cnf", "[client]\npassword=Zebra+17\n", "2:10-18"},
		"a pass of a renderer":                {"app.properties", "render.first.pass=stage1\nshadow_pass = depth2\ndb.pass = stage1\n", "3:11-17"},
		"lines that begin like comments":      {"a.js", "class Db {\n  #password = \"x9Kd82mQ1z\"\n}\n;const password = \"x9Kd82mQ1z\"\n/* db1 */ const password = \"x9Kd82mQ1z\"\n", "2:16-26 4:20-30 5:29-39"},
		"far from the beginning of a line":    {"a.xml", strings.Repeat("<a/>", 2000) + "<password>Zebra+17</password>\n", ""},
		"an address that has no end":          {"a.py", "u = 'https://app:" + strings.Repeat("a1", 500) + "@b.internal'\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, f := range security(t, Config{Only: []string{"hard-coded-credential"}}, File{Path: c.path, Text: c.code}).Findings {
				got = append(got, fmt.Sprintf("%d:%d-%d", f.Range.StartLine, f.Range.StartColumn, f.Range.EndColumn))
				for _, secret := range []string{"hunter2", "Mew!", "horse", "s3cr", "Zebra", "Yak", "x9Kd", "tiger", "admin", "Horse"} {
					if strings.Contains(f.Message, secret) {
						t.Errorf("the message shows the credential: %s", f.Message)
					}
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("found at %v, want %q", got, c.want)
			}
		})
	}
}

// TestCredentialsAreFoundOnce asserts that a credential that the scanner of secrets also finds is
// reported once, by the rule for secrets.
func TestCredentialsAreFoundOnce(t *testing.T) {
	got := security(t, Config{}, File{Path: "a.go", Text: "const a = \"https://app:" + credential() + "@files.internal/\"\n"}).Findings
	if len(got) != 1 || got[0].Rule != secretRule {
		t.Errorf("%+v", got)
	}
}
