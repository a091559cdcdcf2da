package state

// BlocksOf returns which blocks, of those that Shown returns, show a stored event: those of its number, or that of the call
// which it is about, if call is not "". If there is none it returns the last block before the
// event, or the first one, and exact is false.
func (s *State) BlocksOf(seq uint64, call string) (at []int, exact bool) {
	before := 0
	blocks, _, _ := Shown(s)
	for i, b := range blocks {
		switch {
		case call != "" && b.Call != nil && b.Call.ID == call && b.Seq <= seq:
			at = []int{i} // of several with one id, the last
		case call == "" && (b.Seq == seq || b.last == seq):
			at = append(at, i)
		}
		if b.Seq <= seq {
			before = i
		}
	}
	if at == nil && len(blocks) > 0 {
		return []int{before}, false
	}
	return at, at != nil
}
