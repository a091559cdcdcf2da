package transcript

import (
	"strings"

	"buddy/app/state"
	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/words"
)

// looks is a run of calls that only look at files (reads and searches), with the model's thoughts between them. The run
// is shown as one line that can be unfolded; failed or waiting calls stay visible. The cost of an event does not depend
// on the length of the run.
type looks struct {
	calls   []*blockView
	at      int          // index in calls of the first one that did not fail, which shows the line
	running []*blockView // calls that have not ended
	waits   bool         // one of the calls waits for a person
	open    bool         // unfolded by a person
	gen     int          // generation of the line

	quiet          int             // number of successful calls
	files          map[string]bool // read files
	searches, list int
}

const (
	joined  = 8  // maximum distance of two calls of a run, in blocks
	maxLook = 50 // maximum number of calls in a run
)

// join adds block i, if it looks at files, to the run before it, or starts a run.
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

// mayHide reports whether a block may be hidden between calls of a run.
func (v *blockView) mayHide() bool { return v.block.Kind == state.ReasoningBlock }

// update counts the calls that have ended.
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

// count adds a successful call.
func (r *looks) count(c *state.Call) {
	call := wordsOf(c, "")
	switch _, subject := call.Words(); call.Look() {
	case words.Reads:
		r.files[subject] = true
	case words.Searches:
		r.searches++
	case words.Lists:
		r.list++
	}
	r.quiet++
}

// summary returns the line of a run.
func (r *looks) summary() string {
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

// folded reports whether the run is shown as one line.
func (r *looks) folded() bool {
	r.update()
	return !r.open && !r.waits && r.quiet+len(r.running) > 1
}

// face returns the call that shows the line, or nil if all have failed.
func (r *looks) face() *blockView {
	if r.at < len(r.calls) {
		return r.calls[r.at]
	}
	return nil
}

// summarizes reports whether the block shows the line of its run.
func (v *blockView) summarizes() bool { return v.run != nil && v.run.folded() && v == v.run.face() }

// hidden reports whether the block has no rows, because the line of its run represents it.
func (v *blockView) hidden() bool {
	return v.run != nil && v.fold != unfolded && v.run.folded() && !v.loud && v != v.run.face()
}

// reveal unfolds the run that hides a block.
func (v *blockView) reveal() {
	if v.hidden() || v.summarizes() {
		v.run.open = true
	}
}

// toggleRow folds or unfolds the run whose line the block shows, and reports whether it did. With an unfolded run, the
// block's own details can be unfolded, too.
func (v *blockView) toggleRow() bool {
	switch {
	case v.summarizes():
		v.run.open = true
	case v.run != nil && v.run.open && v == v.run.face() && v.fold == unfolded:
		v.run.open, v.fold = false, foldAuto
	case v.run != nil: // folding one call must not hide the others
		v.run.open = true
		return false
	default:
		return false
	}
	return true
}

// visible returns the block that shows the line of a hidden block's run, or the block itself.
func (vp *viewport) visible(block int) int {
	if v := vp.blocks[block]; v.hidden() {
		return v.run.face().n // not nil, because a run is folded only if several calls have not failed
	}
	return block
}

// paintLooks draws the line of a run.
func paintLooks(c draw.Canvas, r *looks, head []draw.Span, now int64) (drawn draw.Canvas) {
	glyph, role := "▸ ", themes.ToolOK
	if len(r.running) > 0 {
		glyph, role = draw.Spinner(now)+" ", themes.Running
	}
	c.Fill(0, c.W, c.Palette[themes.Text])
	col := c.Say(0, glyph, role)
	return c.Cols(col, c.Spans(col, draw.Clip(head, c.W-col)...))
}

// lines describes the calls of a run, one line each.
func (r *looks) lines(cwd string) string {
	all := make([]string, len(r.calls))
	for i, v := range r.calls {
		all[i] = wordsOf(v.block.Call, cwd).Line()
	}
	return strings.Join(all, "\n")
}
