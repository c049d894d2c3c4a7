package config

import (
	"errors"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/secrets"
	"github.com/agent-airlock/airlock/internal/text"
)

// secretKeys returns the table of keys below allowed-secrets.
func secretKeys() []key[secrets.Allowed] {
	return []key[secrets.Allowed]{
		into("files", "Patterns of files that may contain what looks like a secret. Default: none.", patterns(), func(a *secrets.Allowed) *[]string { return &a.Files }),
		into("rules", "Rules that find nothing, by the names in denials. Default: none.", secretRules(), func(a *secrets.Allowed) *[]string { return &a.Rules }),
		into("values", "Values that are not secrets, by their SHA-256, which a denial shows. Default: none.", secretDigests(), func(a *secrets.Allowed) *[]string { return &a.Values }),
	}
}

func setSecrets(d *decoder, given *node, _ any, c *SafeOutputs) {
	section(d, "allowed-secrets", given.entries, secretKeys(), &c.AllowedSecrets)
}

// secretRules returns the shape of names of rules about secrets.
func secretRules() shape {
	return texts(`{"type": "string", "pattern": "^[a-z0-9-]{3,60}$"}`, "[generic-api-key]", func(s string) error {
		if s == secrets.KnownRule {
			return errors.New("cannot be allowed: these are the token and the values of the input secrets; remove the value there")
		}
		rules, err := secrets.Rules()
		if err != nil || slices.Contains(rules, s) {
			return err
		}
		why := "is not a rule about secrets; a denial names its rule"
		if near := text.Nearest(s, rules); near != "" {
			why += "; did you mean " + near + "?"
		}
		return errors.New(why)
	})
}

// secretDigests returns the shape of SHA-256 digests of values, in hexadecimal. An error does not
// repeat a text that is not a digest: it may be the value itself.
func secretDigests() shape {
	list := texts(`{"type": "string", "pattern": "^([Ss][Hh][Aa]256:)?[0-9a-fA-F]{64}$"}`, "[sha256:0f1e...], of 64 hexadecimal digits each", anyText)
	return shape{list.schema, list.wants, func(n *node) (any, *fault) {
		read, f := list.parse(n)
		if f != nil {
			return nil, f
		}
		digests := read.([]string)
		var found faults
		for i, d := range digests {
			digests[i] = strings.TrimPrefix(strings.ToLower(d), "sha256:")
			if len(digests[i]) != 64 || strings.Trim(digests[i], "0123456789abcdef") != "" {
				found.add(n.itemAt(i), "expected the SHA-256 of a value, 64 hexadecimal digits as a denial shows them; never write the value itself")
			}
		}
		return digests, found.first
	}}
}
