package schema

import (
	"encoding/json"
	"fmt"
	"math"
)

// Int is an integer of a JSON document, in each form that the type "integer" of a schema accepts:
// 60, 60.0 and 6e1. Go's int takes only the first.
type Int int

// UnmarshalJSON implements json.Unmarshaler. As for an int, null changes nothing.
func (n *Int) UnmarshalJSON(raw []byte) error {
	f := float64(*n)
	if err := json.Unmarshal(raw, &f); err != nil {
		return err
	}
	if f != math.Trunc(f) || math.Abs(f) > math.MaxInt32 {
		return fmt.Errorf("%s is not an integer from -%d to %d", raw, math.MaxInt32, math.MaxInt32)
	}
	*n = Int(f)
	return nil
}
