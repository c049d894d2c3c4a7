package builtin

import "testing"

// TestReadFixLoop asserts that an integer may be written in each form that the schema accepts, and
// that a loop has 5 iterations unless another number is given.
func TestReadFixLoop(t *testing.T) {
	t.Parallel()
	for parameters, want := range map[string]FixLoop{
		`{"issue":7.0,"directory":"/d","max_iterations":1e1}`: {Issue: 7, Directory: "/d", MaxIterations: 10},
		`{"issue":7,"directory":"/d"}`:                        {Issue: 7, Directory: "/d", MaxIterations: 5},
	} {
		if got, err := ReadFixLoop([]byte(parameters)); err != nil || got != want {
			t.Errorf("%s: %+v, %v", parameters, got, err)
		}
	}
}
