package edit

import "slices"

const (
	maxUndo   = 1000    // edits
	undoBytes = 8 << 20 // of text that undo keeps
)

// undoLog holds the edits of a text that can be undone, and those that were.
type undoLog struct {
	undos, redos []edit
	size         int // bytes of text in undos
	group        int // changes of one group are undone together; 0 = each alone
	groups       int // that were begun
}

// edit holds one change that can be undone.
type edit struct {
	at                Place
	removed, inserted []byte
	before, after     Place // the cursor
	typed             bool  // more typing may join it
	group             int
}

func (ed *edit) size() int { return len(ed.removed) + len(ed.inserted) }

// begin starts a group of changes that are undone in one step; endGroup ends it.
func (u *undoLog) begin() {
	u.groups++
	u.group = u.groups
}

func (u *undoLog) endGroup() { u.group = 0 }

// add records an edit for undo; what is typed after typing joins that, word by word, or all
// of it in a group.
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

// take moves the newest edit to the other list, turned around: the text is to be changed by it.
// more reports whether the next one belongs to its group.
func (u *undoLog) take(redo bool) (ed edit, more, ok bool) {
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

// startsWord reports whether next begins a word after a space.
func startsWord(before, next []byte) bool {
	return len(before) > 0 && isSpace(before[len(before)-1]) && len(next) > 0 && !isSpace(next[0])
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' }
