package fixloop

import (
	"fmt"
	"time"

	"github.com/agent-airlock/airlock/internal/text"
)

// Duration is a time in whole seconds.
type Duration int64

// seconds rounds a duration down, as a clock does. A negative one counts as 0.
func seconds(d time.Duration) Duration { return Duration(max(d, 0) / time.Second) }

// clock writes a time as HH:MM:SS.
func (d Duration) clock() string {
	return fmt.Sprintf("%02d:%02d:%02d", d/3600, d/60%60, d%60)
}

// minutes writes a time as MM:SS.
func (d Duration) minutes() string { return fmt.Sprintf("%02d:%02d", d/60, d%60) }

// inWords writes a time of whole minutes as the spec does, "5 minutes", and any other in seconds.
func (d Duration) inWords() string {
	if d%60 != 0 {
		return text.Count(int(d), "second")
	}
	return text.Count(int(d/60), "minute")
}
