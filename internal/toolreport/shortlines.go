package toolreport

const (
	shortLine = 2     // bytes
	shortRun  = 1_000 // lines
)

// shortLines finds the lines of a flood that has nothing to say: of more than shortRun lines
// one after the other that are numbers or have at most shortLine bytes each, the numbers, and
// those that were there before. Reading each of the 50 million lines of 100 MB took longer than
// a command may run. "ok" is a line of TAP, of which each counts.
type shortLines struct {
	run  int
	seen map[string]bool // since the run is long
}

// skips reports whether a line says nothing that another of its run has not said.
func (s *shortLines) skips(line string) bool {
	isNumber := digits(line, 0) == len(line)
	if len(line) > shortLine && !isNumber || line == "ok" {
		s.run, s.seen = 0, nil
		return false
	}
	if s.run++; s.run <= shortRun {
		return false
	}
	if isNumber && line != "" || s.seen[line] {
		return true
	}
	if s.seen == nil {
		s.seen = map[string]bool{}
	}
	s.seen[line] = true
	return false
}
