package reference

// maxEarly bounds the results that wait for their calls.
const maxEarly = 1000

// arrived remembers the result of a call that nobody has announced; false for
// another one of the same id.
func (r *run) arrived(id string, state ToolState) bool {
	if _, ok := r.early[id]; ok {
		return false
	}
	if r.early == nil {
		r.early = map[string]ToolState{}
	}
	if len(r.early) < maxEarly {
		r.early[id] = state
	}
	return true
}
