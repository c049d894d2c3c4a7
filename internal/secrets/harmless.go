package secrets

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"
	"unicode"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

// placeholderWords are words of placeholders for secrets.
var placeholderWords = []string{
	"example", "placeholder", "redacted", "changeme", "change_me", "change-me", "your_", "your-", "yourtoken", "yourkey", "yoursecret",
	"dummy", "notareal", "not_a_real", "not-a-real", "xxxxxx", "......", "******", "<your", "${", "{{",
}

// isPlaceholder reports whether a text is a placeholder for a secret: it has a word such as
// EXAMPLE or your-token, it consists of stars, or the part after a vendor's prefix is padded or a
// sequence.
func isPlaceholder(secret string) bool {
	lower := strings.ToLower(secret)
	for _, word := range placeholderWords {
		if strings.Contains(lower, word) {
			return true
		}
	}
	if strings.Trim(secret, "*") == "" {
		return true
	}
	random := secret // what follows the vendor's prefix, such as ghp_
	if i := strings.LastIndexAny(secret[:len(secret)*2/3], "_-."); i >= 0 {
		random = secret[i+1:]
	}
	return len(random) >= 8 && (isPadded(random) || isSequence(random))
}

// isPadded reports whether equal characters fill up the end of a text, as in
// PersonalAccessToken00000000. The end of Base64 does not count.
func isPadded(text string) bool {
	const fewest = 8 // no random secret ends in as many
	last := text[len(text)-1]
	return last != '=' && len(text)-len(strings.TrimRight(text, string(rune(last)))) >= fewest
}

// isSequence reports whether a text is made of at most three different characters, or two thirds
// of its characters repeat or continue the one before, as in xxxx, 0000 and abcdefgh123456.
func isSequence(text string) bool {
	var seen [256]bool
	kinds, steps := 0, 0
	for i := range len(text) {
		if !seen[text[i]] {
			seen[text[i]] = true
			kinds++
		}
		if i > 0 && continues(text[i-1], text[i]) {
			steps++
		}
	}
	return kinds <= 3 || steps*3 >= (len(text)-1)*2
}

// continues reports whether a character repeats the one before, or continues it in upper or lower
// case; 9 is followed by 0 or a, z by a or 0.
func continues(before, c byte) bool {
	lowerBefore, lower := unicode.ToLower(rune(before)), unicode.ToLower(rune(c))
	return c == before || c == before+1 || lower == lowerBefore+1 ||
		before == '9' && (c == '0' || lower == 'a') || lowerBefore == 'z' && (lower == 'a' || c == '0')
}

// hasKey reports whether there is a key in a PEM block: forty characters of Base64 in
// runs of sixteen or more, each with digits and letters of both cases. Mentioning the two
// boundary lines is not enough.
func hasKey(block string) bool {
	const digits, uppers, lowers = 1, 2, 4 // kinds of characters
	total, length, kinds := 0, 0, 0
	for i := range len(block) + 1 {
		if i < len(block) && encodedByte(block[i]) && block[i] != '-' && block[i] != '_' {
			length++
			switch c := block[i]; {
			case digit(c):
				kinds |= digits
			case upper(c):
				kinds |= uppers
			case lowerLetter(c):
				kinds |= lowers
			}
			continue
		}
		if length >= 16 && kinds == digits|uppers|lowers {
			total += length
		}
		length, kinds = 0, 0
	}
	return total >= 40
}

// digestLabel is the pattern of an algorithm's name, with the sign that separates it from a digest.
const digestLabel = `h1:|(?i:md5|sha(?:3-)?(?:1|224|256|384|512))[:=-]`

var (
	// codeName matches names as they are written in code: words of two letters or more,
	// numbers, dots and underscores.
	codeName = lazyregexp.New(`^(?:[A-Z]?[a-z]{2,}|[A-Z]{2,}|[0-9]+|[._])+$`)
	// publicName matches names of values that are public although they look random: digests,
	// versions, identifiers, and the cursors of lists.
	publicName = lazyregexp.New(`(?i)fingerprint|public|publishable|search[ _-]?only|thumbprint|checksum|digest|sha-?[0-9]|hash|commit|revision|etag|integrity|image|nonce|csrf|xsrf|authenticity|websocket|cursor|` +
		`(?:next|page|paging|continuation|change|sync|marker|sequence|lock|idempotency|cancel|request|client|resume|upload)[ _-]?token|accessor|` +
		`pub(?:lic)?[ _-]?key|(?:cache|partition|primary|foreign|sort|object|row|storage|map|hot|repository|root|signing|targets|snapshot|bucket|shard|lookup|issue|translation|i18n|event|config|registry|answer|route|dedup\w*|group\w*)[ _-]?key|` +
		`key[ _-]?(?:id|path|name|file|type|usage|prefix|words?|board|frame|code|chain|ring|space|stone|spec|alias|arn|uri|url)|(?:token|secret|credential|access|auth\w*|api)[ _-]?(?:id|name|path|type|file|uri|url|endpoint|version|arn|class|method|mode|scope|level)\b|[a-z](?:_id|-id|(?-i:Id|ID))["']?[ \t]*[:=]`)
	// digestPrefix matches the beginning of a digest of a module or a package as lock files have it,
	// such as h1: and sha512-.
	digestPrefix = lazyregexp.New(`^(?:` + digestLabel + `)`)
	// afterDigestPrefix matches the same directly before the value.
	afterDigestPrefix = lazyregexp.New(`\b(?:` + digestLabel + `)$`)
	// openName matches names of issuers' keys that everybody may know.
	openName = lazyregexp.New(`(?i)public|publishable|search[ _-]?only`)
	// idName matches a name that ends in id, uuid or guid, with the operator after it.
	idName = lazyregexp.New(`(?:(?i:_|-|\b)(?i:(?:uu|gu)?id)|[a-z0-9](?:Id|ID|Uuid|UUID|Guid|GUID))["']?[ \t]*[:=>]`)
	// pinWords matches words that stand before a commit or a digest in hexadecimal digits.
	pinWords = lazyregexp.New(`(?i)commit|revision|\brev\b|\bref\b|sha-?[0-9]|md5|hash|digest|checksum|integrity|image|etag|oid|blob|tree|parent|version|pin(?:ned)?\b|uses:|@|\bh1:`)
	// inSignature matches what follows the id of an AWS access key in a signature: the day and the
	// region for which it is valid, with slashes or their escapes.
	inSignature = lazyregexp.New(`^(?:/|%2[Ff]|%252[Ff])20[0-9]{6}(?:/|%2[Ff]|%252[Ff])[a-z]{2}-`)
	// commitName matches the name of a commit, as git writes it.
	commitName = lazyregexp.New(`^[0-9a-f]{40}$`)
)

// isHarmless reports whether text[start:end], a value that the general rule found, is not a secret
// but a name, a digest, an identifier, words or an example. The value's own name begins at
// nameStart.
func isHarmless(text string, nameStart, start, end int) bool {
	value := text[start:end]
	name := text[nameStart:start]
	switch {
	case isDigest(text, start, end), isNameInCode(text, start, end), isHarmlessJWT(value), publicName.MatchString(name):
		return true
	case containsUUID(value), isShortSetting(value):
		return true
	case isWords(strings.TrimRight(value, "=")), isBareWords(strings.ToLower(value)):
		return true
	case start > 0 && text[start-1] == '@', end < len(text) && strings.IndexByte("([{$", text[end]) >= 0:
		return true // a pinned version; the name of a function
	case strings.HasSuffix(value, "...") || strings.HasPrefix(value, "..."):
		return true // the beginning of a value, shown as an example
	case isHex(value) && pinWords.MatchString(text[lineStart(text, start):start]):
		return true // a commit, a digest, an image
	}
	if decoded, isText := decodedText(value); isText {
		return isWeak(afterUser(decoded), true) || strings.ContainsAny(decoded, " \n")
	}
	return false
}

// containsUUID reports whether a value is a UUID, alone or with a few other characters.
func containsUUID(value string) bool {
	const length, mostOthers = 36, 8
	others := len(value) - length
	if others < 0 || others > mostOthers {
		return false
	}
	for i := range others + 1 {
		if isUUID(value[i : i+length]) {
			return true
		}
	}
	return false
}

// isShortSetting reports whether a value is another name with a short value of its own, as in
// "count=1024".
func isShortSetting(value string) bool {
	i := strings.LastIndexByte(strings.TrimRight(value, "="), '=')
	return i > 0 && len(value)-i-1 < 8
}

// lineStart returns where the line of an offset begins, but at most 256 bytes before the offset.
func lineStart(text string, offset int) int {
	from := max(0, offset-256)
	return from + strings.LastIndexByte(text[from:offset], '\n') + 1
}

// isInBase64 reports whether text[start:end] is only a part of data in Base64, on one line or
// several. It consists of characters of Base64, and so do the thirty characters before it, of
// which the last is a slash or a plus sign.
func isInBase64(text string, start, end int) bool {
	isData := func(c byte) bool { return encodedByte(c) && c != '-' && c != '_' }
	for i := start; i < end; i++ {
		if !isData(text[i]) {
			return false
		}
	}
	if start == 0 || text[start-1] != '/' && text[start-1] != '+' {
		return false
	}
	const before = 30
	uppers, lowers, count := 0, 0, 0
	for i := start - 1; i >= 0 && count < before; i-- {
		c := text[i]
		switch {
		case c == '\n' || c == '\r':
			continue
		case !isData(c):
			return false
		case upper(c):
			uppers++
		case lowerLetter(c):
			lowers++
		}
		count++
	}
	return count == before && uppers > 1 && lowers > 1 // a path seldom has both
}

// isInKey reports whether text[start:end], the value of a member "d" or "k" of a JSON object, is the
// private part of a JSON Web Key: a member "kty" is near, and for "k" also "oct", the type of
// symmetric keys.
func isInKey(text string, start, end int) bool {
	const reach = 2048
	near := text[max(0, start-reach):min(len(text), end+reach)]
	if !strings.Contains(near, `"kty"`) {
		return false
	}
	return !strings.Contains(text[max(0, start-12):start], `"k"`) || strings.Contains(near, `"oct"`)
}

// kubernetesValues returns hits for the values of a Secret in YAML, which are in Base64: first, the
// rule's hit, which includes the value's name, and one for each value below it. Placeholders and
// certificates are left out.
func kubernetesValues(text string, first Hit) []Hit {
	var hits []Hit
	_, value, _ := strings.Cut(text[first.Start:first.End], ":")
	if isKubernetesValue(strings.Trim(value, " \t\r\n|>+-\"'")) {
		hits = append(hits, first)
	}
	const mostBytes, mostRows = 16 << 10, 50 // of one Secret that are read
	offset := first.End + strings.IndexByte(text[first.End:], '\n') + 1
	end := min(len(text), first.End+mostBytes)
	if offset == first.End {
		return hits // it is the last line
	}
	for inBlock, rows := false, 0; offset < end && rows < mostRows; rows++ {
		row, _, _ := strings.Cut(text[offset:end], "\n")
		name, value, ok := strings.Cut(row, ":")
		key := strings.Trim(name, " \t\"'")
		switch {
		case ok && (name == strings.TrimLeft(name, " \t") || key == "kind" || key == "data"):
			return hits // another part of the document
		case ok:
			inBlock = strings.ContainsAny(value, "|>")
		case !inBlock:
			return hits
		default:
			value = row
		}
		value = strings.Trim(value, " \t\r\"'")
		if value != "" && isKubernetesValue(value) {
			hit := first
			hit.Start = offset + strings.LastIndex(row, value)
			hit.End = hit.Start + len(value)
			hits = append(hits, hit)
		}
		offset += len(row) + 1
	}
	return hits
}

// isKubernetesValue reports whether a value of a Secret is more than a placeholder or a
// certificate.
func isKubernetesValue(value string) bool {
	if strings.ContainsAny(value, " {$<|>") {
		return false
	}
	if decoded, isText := decodedText(value); isText {
		return !isPublicPEM(decoded) && !isWeak(decoded, false)
	}
	return len(value) >= 10
}

// isPublicPEM reports whether a text is in PEM and is not a private key.
func isPublicPEM(text string) bool {
	return strings.HasPrefix(text, "-----BEGIN") && !strings.Contains(text, "PRIVATE KEY")
}

// isWeakCredential reports whether the credential that a command sends is weak. It is a token, or
// a user's name with a password.
func isWeakCredential(credential string) bool {
	credential = strings.Trim(credential, `"'`)
	if decoded, isText := decodedText(credential); isText && strings.Contains(decoded, ":") {
		credential = decoded
	}
	if _, password, hasUser := strings.Cut(credential, ":"); hasUser {
		return password == "" || isWeak(strings.Trim(password, `"'`), false)
	}
	return isUUID(credential) || strings.HasSuffix(credential, "...") || isWeak(credential, false)
}

// isHarmlessJWT reports whether a token gives nobody access: it has expired, it is not signed, it
// is for anonymous users, or its subject is the one of the format's own example.
func isHarmlessJWT(token string) bool {
	parts := strings.Split(token, ".")
	if len(parts) < 3 {
		return false
	}
	var claims struct {
		Exp       float64
		Sub, Role any
	}
	data, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil || json.Unmarshal(data, &claims) != nil {
		return false
	}
	expired := claims.Exp > 0 && claims.Exp < float64(time.Now().Unix())
	return expired || parts[2] == "" || claims.Role == "anon" || claims.Sub == "1234567890"
}

// isDigest reports whether text[start:end] is the digest of something: a prefix stands
// before it, or it begins with one.
func isDigest(text string, start, end int) bool {
	return afterDigestPrefix.MatchString(text[max(0, start-len("sha3-512-")-1):start]) || digestPrefix.MatchString(text[start:end])
}

// isNameInCode reports whether text[start:end] is the name of a variable or a type, such as
// ed25519.PrivateKey: not quoted, and of three words or more.
func isNameInCode(text string, start, end int) bool {
	if start > 0 && strings.IndexByte("\"'`", text[start-1]) >= 0 {
		return false
	}
	words, before := 0, byte('.')
	for i := start; i < end; i++ {
		c := text[i]
		isLetter := wordByte(c) && c != '_' && !digit(c)
		afterLetter := wordByte(before) && before != '_' && !digit(before)
		if isLetter && (!afterLetter || upper(c) && !upper(before)) {
			words++
		}
		before = c
	}
	return words >= 3 && codeName.MatchString(text[start:end])
}

// wordByte reports whether \w matches a byte.
func wordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || upper(c) || digit(c) || c == '_'
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

func upper(c byte) bool { return 'A' <= c && c <= 'Z' }
