package toolreport_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/toolreport"
)

// TestPytestNamesakes asserts that each of several tests with the same name has its own message and
// place, and not those of an error in the teardown of one of them. With a second session, each
// failure is listed twice, with the same message and place.
func TestPytestNamesakes(t *testing.T) {
	t.Parallel()
	const printed = `============================= test session starts ==============================
platform linux -- Python 3.11.2, pytest-7.2.1, pluggy-1.0.0+repack
rootdir: /repo
plugins: subtests-0.9.0, xdist-3.1.0
collected 2 items

test_a.py FE                                                             [ 50%]
test_b.py F                                                              [100%]

==================================== ERRORS ====================================
_________________________ ERROR at teardown of test_x __________________________

    @pytest.fixture
    def closing():
        yield
>       assert "closed" == "open"
E       AssertionError: assert 'closed' == 'open'
E         - open
E         + closed

test_a.py:6: AssertionError
=================================== FAILURES ===================================
____________________________________ test_x ____________________________________

closing = None

    def test_x(closing):
>       assert "one" == "two"
E       AssertionError: assert 'one' == 'two'
E         - two
E         + one

test_a.py:9: AssertionError
____________________________________ test_x ____________________________________

    def test_x():
>       assert 3 == 4
E       assert 3 == 4

test_b.py:5: AssertionError
=========================== short test summary info ============================
FAILED test_a.py::test_x - AssertionError: assert 'one' == 'two'
FAILED test_b.py::test_x - assert 3 == 4
ERROR test_a.py::test_x - AssertionError: assert 'closed' == 'open'
========================== 2 failed, 1 error in 0.02s ==========================
`
	want := []string{
		"test_a.py::test_x test_a.py:9 AssertionError: assert 'one' == 'two'\n- two\n+ one",
		"test_b.py::test_x test_b.py:5 assert 3 == 4",
	}
	for name, c := range map[string]struct {
		printed string
		want    []string
	}{
		"one session":  {printed, want},
		"two sessions": {printed + printed, append(want, want...)},
	} {
		tests := read(t, toolreport.Tool{Command: []string{"pytest"}, Check: "tests", Roots: []string{"/repo"}},
			output{Stdout: strings.NewReader(c.printed), Exit: toolreport.Exit{Code: 1}}).Tests
		var got []string
		for _, f := range tests.Failing {
			got = append(got, fmt.Sprintf("%s %s:%d %s", f.Name, f.Path, f.Line, f.Message))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
