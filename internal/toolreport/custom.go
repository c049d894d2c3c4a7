package toolreport

import (
	"fmt"
	"strings"

	"github.com/reviewdog/errorformat"
)

// custom reads with patterns of the configuration, one line each. Patterns over
// several lines are refused: what they keep has no bound.
func custom(formats []string) (opener, error) {
	for _, p := range formats {
		if len(p) > 1 && p[0] == '%' && strings.IndexByte("DXAEWICZGOPQ+-", p[1]) >= 0 {
			return nil, fmt.Errorf("the format %q is one of several lines (%s); each format must match one whole line", p, p[:2])
		}
		if err := compiles(p); err != nil {
			return nil, err
		}
	}
	f := form{formats: formats, any: true}
	return func(c *collector) [2]lineReader {
		c.recognised = true
		return text(f)(c)
	}, nil
}

// compiles reports why a pattern is none. The library indexes behind the end of
// some that are cut off.
func compiles(pattern string) (err error) {
	defer func() {
		if recover() != nil {
			err = fmt.Errorf("the format %q is cut off", pattern)
		}
	}()
	if _, err := errorformat.NewEfm(pattern); err != nil {
		return fmt.Errorf("the format %q is wrong: %w", pattern, err)
	}
	return nil
}
