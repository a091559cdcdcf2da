package edit

import "slices"

const (
	maxUndo   = 1000    // edits
	undoBytes = 8 << 20 // of text kept for undo
)

// undoLog holds the edits that can be undone and redone.
type undoLog struct {
	undos, redos []edit
	size         int // bytes of text in undos
	group        int // edits of one group are undone together; 0: separately
	groups       int // number of groups so far
}

// edit is a change that can be undone.
type edit struct {
	at                Place
	removed, inserted []byte
	before, after     Place // the cursor
	typed             bool  // more typing may join it
	group             int
}

func (ed *edit) size() int { return len(ed.removed) + len(ed.inserted) }

// startGroup starts a group of edits that are undone in one step; endGroup ends the group.
func (u *undoLog) startGroup() {
	u.groups++
	u.group = u.groups
}

func (u *undoLog) endGroup() { u.group = 0 }

// add records an edit. Typing after typing joins the previous edit until a new word starts; in a group it always joins.
func (u *undoLog) add(ed edit, afterTyping bool) {
	u.redos, ed.group = nil, u.group
	if n := len(u.undos); n > 0 && afterTyping && ed.typed {
		top := &u.undos[n-1]
		joins := len(ed.removed) == 0 && !startsWord(top.inserted, ed.inserted) || ed.group != 0
		if top.typed && top.group == ed.group && endOf(top.at, top.inserted) == ed.at && joins {
			top.inserted = append(top.inserted, ed.inserted...)
			top.removed = append(top.removed, ed.removed...)
			top.after = ed.after
			u.size += ed.size()
			return
		}
	}
	u.undos = append(u.undos, ed)
	u.size += ed.size()
	for len(u.undos) > maxUndo || u.size > undoBytes && len(u.undos) > 1 {
		u.size -= u.undos[0].size()
		u.undos = slices.Delete(u.undos, 0, 1)
	}
}

// pop moves the newest edit to the other list and returns its inverse, to be applied to the text. more reports whether
// the next edit belongs to the same group.
func (u *undoLog) pop(redo bool) (ed edit, more, ok bool) {
	from, to, sign := &u.undos, &u.redos, -1
	if redo {
		from, to, sign = to, from, 1
	}
	n := len(*from) - 1
	if n < 0 {
		return edit{}, false, false
	}
	ed = (*from)[n]
	ed.removed, ed.inserted = ed.inserted, ed.removed
	ed.before, ed.after, ed.typed = ed.after, ed.before, false
	*from, *to = (*from)[:n], append(*to, ed)
	u.size += sign * ed.size()
	return ed, n > 0 && ed.group != 0 && (*from)[n-1].group == ed.group, true
}

// startsWord reports whether next starts a word after a space.
func startsWord(before, next []byte) bool {
	return len(before) > 0 && isSpace(before[len(before)-1]) && len(next) > 0 && !isSpace(next[0])
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' }
