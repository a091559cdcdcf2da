package transcript

import (
	"strings"

	"buddy/app/state"
	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/words"
)

// looks are calls in a row that only look at files: reads and searches, with what the model thought between
// them. They show as one line, which unfolds into theirs; calls that failed or wait for a person show anyway.
// What each event costs does not depend on how many there are.
type looks struct {
	calls   []*blockView
	at      int          // of calls: the first that did not fail, which shows the line
	running []*blockView // those that have not ended
	waits   bool         // one of them waits for a person
	open    bool         // unfolded by a person
	gen     int          // counts the changes of what the line says

	quiet          int             // calls that ended well
	files          map[string]bool // that they read
	searches, list int
}

const (
	joined  = 8  // blocks that may lie between calls of a row
	maxLook = 50 // calls of a row: what is passed over to find the rows above it is bounded
)

// join makes a new block part of a row, or the beginning of one, if it looks at files.
func (vp *viewport) join(i int) {
	v := vp.blocks[i]
	if v.block.Kind != state.ToolBlock || wordsOf(v.block.Call, "").Look() == words.NoLook {
		return
	}
	r := &looks{files: make(map[string]bool)}
	before := i - 1
	for before >= max(i-joined, 0) && vp.blocks[before].run == nil && vp.blocks[before].mayHide() {
		before--
	}
	if before >= max(i-joined, 0) && vp.blocks[before].run != nil && len(vp.blocks[before].run.calls) < maxLook {
		r = vp.blocks[before].run
		for _, between := range vp.blocks[before+1 : i] {
			between.run = r
		}
	}
	v.run, v.loud = r, false
	r.calls, r.running = append(r.calls, v), append(r.running, v)
	r.gen++
}

// mayHide reports whether a block is of no interest between calls of a row.
func (v *blockView) mayHide() bool { return v.block.Kind == state.ReasoningBlock }

// update takes up the calls that have ended.
func (r *looks) update() {
	r.waits = false
	running := r.running[:0]
	for _, v := range r.running {
		switch c := v.block.Call; c.State {
		case state.CallDone:
			r.count(c)
			r.gen++
		case state.CallFailed, state.CallDenied, state.CallCancelled, state.CallLeft:
			v.loud = true
			r.gen++
		default:
			r.waits = r.waits || c.State == state.CallWaiting
			running = append(running, v)
		}
	}
	clear(r.running[len(running):])
	r.running = running
	for r.at < len(r.calls) && r.calls[r.at].loud {
		r.at++
	}
}

// count adds a call that has ended well.
func (r *looks) count(c *state.Call) {
	said := wordsOf(c, "")
	switch _, subject := said.Words(); said.Look() {
	case words.Reads:
		r.files[subject] = true
	case words.Searches:
		r.searches++
	case words.Lists:
		r.list++
	}
	r.quiet++
}

// said returns the one line of a row.
func (r *looks) said() string {
	now := looks{files: make(map[string]bool)}
	for _, v := range r.running {
		now.count(v.block.Call)
	}
	n := len(r.files)
	for file := range now.files {
		if !r.files[file] {
			n++
		}
	}
	return words.Looked(n, r.searches+now.searches, r.list+now.list)
}

// folded reports whether the row shows as one line.
func (r *looks) folded() bool {
	r.update()
	return !r.open && !r.waits && r.quiet+len(r.running) > 1
}

// face returns the call that shows the line, nil if all have failed.
func (r *looks) face() *blockView {
	if r.at < len(r.calls) {
		return r.calls[r.at]
	}
	return nil
}

// summarizes reports whether the block shows the one line of its row.
func (v *blockView) summarizes() bool { return v.run != nil && v.run.folded() && v == v.run.face() }

// hidden reports whether the block takes no rows: the line of its row stands for it.
func (v *blockView) hidden() bool {
	return v.run != nil && v.fold != unfolded && v.run.folded() && !v.loud && v != v.run.face()
}

// reveal unfolds the row that hides a block.
func (v *blockView) reveal() {
	if v.hidden() || v.summarizes() {
		v.run.open = true
	}
}

// toggleRow folds or unfolds the row of which the block shows the line, and reports whether it did: the
// block's own details come between the two.
func (v *blockView) toggleRow() bool {
	switch {
	case v.summarizes():
		v.run.open = true
	case v.run != nil && v.run.open && v == v.run.face() && v.fold == unfolded:
		v.run.open, v.fold = false, foldAuto
	case v.run != nil: // who reads one of them wants no later one to hide it
		v.run.open = true
		return false
	default:
		return false
	}
	return true
}

// stands returns the block that shows the line of a row for a hidden one, else the block itself.
func (vp *viewport) stands(block int) int {
	if v := vp.blocks[block]; v.hidden() {
		return v.run.face().n // there is one: more than one call has not failed
	}
	return block
}

// paintLooks draws the one line of a row.
func paintLooks(c draw.Canvas, r *looks, head []draw.Span, now int64) (drawn draw.Canvas) {
	glyph, role := "▸ ", themes.ToolOK
	if len(r.running) > 0 {
		glyph, role = draw.Spinner(now)+" ", themes.Running
	}
	c.Fill(0, c.W, c.Palette[themes.Text])
	col := c.Say(0, glyph, role)
	return c.Cols(col, c.Spans(col, draw.Clip(head, c.W-col)...))
}

// lines returns the calls of a row, each on a line.
func (r *looks) lines(cwd string) string {
	all := make([]string, len(r.calls))
	for i, v := range r.calls {
		all[i] = wordsOf(v.block.Call, cwd).Line()
	}
	return strings.Join(all, "\n")
}
