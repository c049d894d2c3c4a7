package sarif

// visitor sees every typed object of a log. Enter is called before an object's
// members are visited, leave after; what returns false is removed from the log.
type visitor interface {
	enter(typ string, o object) bool
	leave(typ string, o object) bool
}

// walk visits o, an object of type typ, and all typed objects in it. It reports
// whether o stays: an object that lost a required member goes as well, and so
// does one that lost the last element of a list that may not be empty.
func (t typeTable) walk(typ string, o object, v visitor) bool {
	if !v.enter(typ, o) {
		return false
	}
	info := t[typ]
	if info == nil {
		return v.leave(typ, o)
	}
	for name, m := range info.members {
		value, ok := o[name]
		if !ok {
			continue
		}
		stays := true
		switch value := value.(type) {
		case object:
			switch m.shape {
			case single:
				stays = t.walk(m.typ, value, v)
			case dictionary:
				for key, e := range value {
					if e, ok := e.(object); ok && !t.walk(m.typ, e, v) {
						delete(value, key)
					}
				}
			}
		case []any:
			if m.shape != array {
				break
			}
			kept := value[:0]
			for _, e := range value {
				if e, ok := e.(object); ok && !t.walk(m.typ, e, v) {
					continue
				}
				kept = append(kept, e)
			}
			if len(kept) < len(value) {
				clear(value[len(kept):])
				o[name] = kept
				stays = len(kept) >= m.minItems
			}
		}
		if !stays {
			delete(o, name)
		}
	}
	for _, name := range info.required {
		if _, ok := o[name]; !ok {
			return false
		}
	}
	return v.leave(typ, o)
}
