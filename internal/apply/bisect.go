package apply

// bisect finds out which items try refuses when it takes some of them only all
// or nothing. items as a whole was refused already. It tries halves, in order,
// and halves of what is refused, down to single items: what try accepts is done,
// bad are the items that are refused by themselves. An error that is no refusal
// ends it.
//
// With one bad item among n it takes about 2·log2(n) tries.
func bisect[T any](items []T, try func([]T) error, refused func(error) bool) (bad []T, err error) {
	if len(items) == 1 {
		return items, nil
	}
	todo := halves(nil, items)
	for len(todo) > 0 {
		last := len(todo) - 1
		part := todo[last]
		todo = todo[:last]
		err := try(part)
		switch {
		case err == nil:
		case !refused(err):
			return bad, err
		case len(part) == 1:
			bad = append(bad, part[0])
		default:
			todo = halves(todo, part)
		}
	}
	return bad, nil
}

// halves pushes both halves of items, the first on top.
func halves[T any](todo [][]T, items []T) [][]T {
	mid := (len(items) + 1) / 2
	if mid < len(items) {
		todo = append(todo, items[mid:])
	}
	return append(todo, items[:mid])
}
