package state

// BlocksOf returns the indices of the shown blocks that belong to a stored event, or of the block of the call if call
// is not "". If there is no such block, exact is false and the index is that of the last block before the event, or of
// the first block.
func (s *State) BlocksOf(seq uint64, call string) (at []int, exact bool) {
	before := 0
	blocks, _, _ := Shown(s)
	for i, b := range blocks {
		switch {
		case call != "" && b.Call != nil && b.Call.ID == call && b.Seq <= seq:
			at = []int{i} // the last of several with the same id
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
