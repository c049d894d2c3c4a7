package config

import (
	"strings"

	"github.com/agent-airlock/airlock/internal/policy"
)

// Constructors of keys whose value goes into one variable.

func yesNo[T any](name, doc string, in func(*T) *bool) key[T] {
	return into(name, doc, boolean(), in)
}

func number[T any](name, doc string, takes shape, in func(*T) *int) key[T] {
	return into(name, doc, takes, in)
}

func word[T any](name, doc string, takes shape, in func(*T) *string) key[T] {
	return into(name, doc, takes, in)
}

func list[T any](name, doc string, takes shape, in func(*T) *[]string) key[T] {
	return into(name, doc, takes, in)
}

// into is a key whose shape yields what its variable holds.
func into[T, V any](name, doc string, takes shape, in func(*T) *V) key[T] {
	return key[T]{name: name, doc: doc, takes: takes,
		set: func(_ *decoder, _ *node, v any, k *T) { *in(k) = v.(V) }}
}

// optional is a key whose variable is nil where the key is not given.
func optional[T, V any](name, doc string, takes shape, in func(*T) **V) key[T] {
	return key[T]{name: name, doc: doc, takes: takes,
		set: func(_ *decoder, _ *node, v any, k *T) { *in(k) = new(v.(V)) }}
}

// Keys that several kinds have.

func maxKey(name, doc string, example int) key[policy.KindConfig] {
	return key[policy.KindConfig]{name: name, doc: doc, takes: limit(example),
		set: func(_ *decoder, _ *node, v any, k *policy.KindConfig) { k.Max = new(v.(int)) }}
}

func maxItems(byDefault int) []key[policy.KindConfig] {
	doc := "The most items of this kind; what is over it is listed and dropped. Default: " + itoa(byDefault) + "."
	return []key[policy.KindConfig]{maxKey("max", doc, byDefault)}
}

func targetKey() []key[policy.KindConfig] {
	return []key[policy.KindConfig]{{
		name: "target", takes: target(),
		doc: "What items may act on: \"triggering\" (what the event is about), \"*\" (the item names a number), or one number. Default: \"triggering\".",
		set: func(_ *decoder, _ *node, v any, k *policy.KindConfig) { k.Target = v.(policy.TargetRule) },
	}}
}

func titlePrefix() []key[policy.KindConfig] {
	return []key[policy.KindConfig]{word("title-prefix", "Begins every title, exactly as written. Default: none.", text(100, `"[ai] "`), func(k *policy.KindConfig) *string { return &k.TitlePrefix })}
}

func addLabels() []key[policy.KindConfig] {
	return []key[policy.KindConfig]{list("labels", "Labels that are added to those the item asks for. Default: none.", labels(), func(k *policy.KindConfig) *[]string { return &k.Labels })}
}

func allowedLabels(name string) []key[policy.KindConfig] {
	return []key[policy.KindConfig]{list(name, "Labels that an item may ask for; * stands for any text. Others are left out and listed. Default: all.", labels(), func(k *policy.KindConfig) *[]string { return &k.AllowedLabels })}
}

func blockedLabels(name string) []key[policy.KindConfig] {
	return []key[policy.KindConfig]{list(name, "Labels that no item may ask for; * stands for any text. Default: none.", labels(), func(k *policy.KindConfig) *[]string { return &k.BlockedLabels })}
}

func ownFooter() []key[policy.KindConfig] {
	return []key[policy.KindConfig]{{
		name: "footer", takes: footer(), doc: "As the footer at the top, for this kind alone.",
		set: func(_ *decoder, _ *node, v any, k *policy.KindConfig) { k.Footer = new(v.(policy.Footer)) },
	}}
}

// excludeKeys make keys that say false to leave out issues, pull requests or
// discussions.
func excludeKeys(names ...string) []key[policy.KindConfig] {
	into := map[string]func(*policy.KindConfig) *bool{
		"issues":        func(k *policy.KindConfig) *bool { return &k.Excludes.Issues },
		"pull-requests": func(k *policy.KindConfig) *bool { return &k.Excludes.Pulls },
		"discussions":   func(k *policy.KindConfig) *bool { return &k.Excludes.Discussions },
	}
	keys := make([]key[policy.KindConfig], len(names))
	for i, name := range names {
		in := into[name]
		keys[i] = key[policy.KindConfig]{
			name: name, takes: boolean(), doc: "Whether items may act on " + strings.ReplaceAll(name, "-", " ") + ". Default: true.",
			set: func(_ *decoder, _ *node, v any, k *policy.KindConfig) { *in(k) = !v.(bool) },
		}
	}
	return keys
}

// Keys of one kind.

func updateKeys() []key[policy.KindConfig] {
	one := func(name, also string, in func(*policy.KindConfig) *bool) key[policy.KindConfig] {
		k := yesNo(name, "Whether the "+name+" may be changed; no value means yes. Default: no.", in)
		k.also, k.takes = []string{also}, field()
		return k
	}
	return []key[policy.KindConfig]{
		one("status", "allow-status", func(k *policy.KindConfig) *bool { return &k.Update.Status }),
		one("title", "allow-title", func(k *policy.KindConfig) *bool { return &k.Update.Title }),
		one("body", "allow-body", func(k *policy.KindConfig) *bool { return &k.Update.Body }),
	}
}

func reviewKeys() []key[policy.KindConfig] {
	return []key[policy.KindConfig]{
		word("side", "The side of the diff for items that name none. Default: \"RIGHT\".", oneOf("LEFT", "RIGHT"), func(k *policy.KindConfig) *string { return &k.Review.Side }),
		{
			name: "outside-diff", takes: oneOf("body", "file", "drop"),
			doc: "What becomes of a comment on lines that the diff does not show: into the review's \"body\", a comment on the \"file\", or \"drop\" with a notice. Default: \"body\".",
			set: func(_ *decoder, _ *node, v any, k *policy.KindConfig) {
				k.Review.OutsideDiff = map[string]policy.OutsideDiff{"file": policy.OutsideFile, "drop": policy.OutsideDrop}[v.(string)]
			},
		},
	}
}
