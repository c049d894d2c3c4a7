package reviewer

// passwordAt are calls that take a password, and which of their arguments it is.
var passwordAt = map[string]int{
	"getConnection": 3, "PasswordAuthentication": 2, "UsernamePasswordCredentials": 2, "setBasicAuth": 2, "SetBasicAuth": 2,
	"basicAuth": 2, "basic_auth": 2, "HTTPBasicAuth": 2, "BasicAuth": 2,
}

// calledCredential finds a password among the arguments of a call such as
// DriverManager.getConnection(url, "scott", "tiger"), and in Python's
// auth=("user", "password"). The word at index i is the name.
func (s *source) calledCredential(i int) []writtenCredential {
	name := s.written(i)
	at, open := passwordAt[name], i+1
	if name == "auth" && s.is(i+1, "=") && s.lang.name == "python" {
		at, open = 2, i+2
	}
	if at == 0 || !s.is(open, "(") || s.is(i-1, "func") || s.is(i-1, "def") || s.is(i-1, "fn") {
		return nil
	}
	list := s.arguments(open)
	if len(list) != at && (len(list) < at || at == 3) {
		return nil
	}
	x := list[at-1].extent
	said, ok := s.plainText(x)
	if !ok || !plausible(said) {
		return nil
	}
	literal := s.tokens[x.from]
	if literal.kind != stringText {
		literal = s.tokens[x.from+1]
	}
	return []writtenCredential{{int(literal.from), int(literal.to), "An argument of " + name + " is a password that is written down"}}
}
