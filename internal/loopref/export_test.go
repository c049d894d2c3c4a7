package loopref

// DecideOtherwise changes the log as if record n had led to something else, by the rules of another
// version of Airlock.
func (l *Log) DecideOtherwise(n int) error {
	for i := range l.Records {
		previous := ""
		if i > 0 {
			previous = l.Records[i-1].Sum
		}
		r := &l.Records[i]
		if r.N == n {
			r.Decided = "something else"
		}
		var err error
		if r.Sum, err = l.chain.sum(previous, *r); err != nil {
			return err
		}
	}
	return nil
}
