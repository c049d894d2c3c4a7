package token

import (
	"fmt"
	"io"
	"log/slog"
)

// stars is what a token shows of itself, whoever asks.
const stars = "***"

// Format implements fmt.Formatter: every verb prints ***.
func (Token) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, stars) }

// String implements fmt.Stringer.
func (Token) String() string { return stars }

// GoString implements fmt.GoStringer.
func (Token) GoString() string { return stars }

// LogValue implements slog.LogValuer.
func (Token) LogValue() slog.Value { return slog.StringValue(stars) }

// MarshalText implements encoding.TextMarshaler, which XML, flags and map keys
// use too.
func (Token) MarshalText() ([]byte, error) { return []byte(stars), nil }

// MarshalJSON implements json.Marshaler.
func (Token) MarshalJSON() ([]byte, error) { return []byte(`"` + stars + `"`), nil }

// MarshalYAML implements the YAML packages' Marshaler.
func (Token) MarshalYAML() (any, error) { return stars, nil }

// MarshalBinary implements encoding.BinaryMarshaler, which gob uses.
func (Token) MarshalBinary() ([]byte, error) { return []byte(stars), nil }
