// Package transcript shows the conversation of a session. A [Conversation] has a block for each prompt, answer and
// tool call, and lays out only the visible blocks. An [Output] shows the output of one call as it grows.
//
//	c := transcript.NewConversation(theme, keys)
//	c.Update(&s, state.Conversation)
package transcript

import (
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/state"
	"buddy/texts"
	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/markup"
)

// ConversationIntents are the callbacks for actions of a person. All are optional.
type ConversationIntents struct {
	OnClick func() // called for a click that selected nothing
	OnFound func() // called when a key closes the search line
	// OnCopy gets the text to copy: the original text or the code of a block, "" if there is none.
	OnCopy func(text string)
	// OnEdit opens the text of a block in an editor.
	OnEdit func(text string)
	// OnOpen opens the whole output of a call.
	OnOpen func(*state.Call)
	// OnFindings opens the findings of a review.
	OnFindings func(*event.ReviewFinished)
	// Later runs a function after other work of the UI goroutine, and draws. Long searches use it to run in slices;
	// without it they run in one go.
	Later func(func())
}

// Conversation draws the blocks of a session. It lays out only visible blocks, and caches layouts near the screen. It
// follows the end until a person scrolls up. Only the UI goroutine may use it.
type Conversation struct {
	draw.Frame
	ConversationIntents

	shared  *shared
	whose   string // name of a subagent, untrusted; "" is the session
	cwd     string // working directory of the session
	welcome []string
	view    viewport
	find    finder
	sel     selection
	mouse   drag
	head    int // rows above the text
	coded   int // index of the code block that the last key copied from the focused block; -1: none
}

// shared holds the settings common to all blocks of a conversation.
type shared struct {
	now    func() time.Time
	lexers *markup.Highlighter    // nil: code stays plain
	words  bool                   // the conversation is a preview, in which code also breaks between words
	files  func(path string) bool // whether the terminal may open a file linked in an answer; nil: none
	unfold func() string          // name of the key that unfolds
	newest *state.Call            // the call whose output /output opens; nil: not loaded
	// retryKeys describes the keys that send or stop a waiting request, "" if there are none.
	retryKeys func() string
}

// NewConversation returns an empty view.
func NewConversation(theme *themes.Theme, keys *keymap.Map) *Conversation {
	c := &Conversation{Frame: draw.NewFrame(theme, keys), view: viewport{follow: true}, coded: -1}
	c.shared = &shared{
		now: func() time.Time { return time.UnixMilli(0) }, unfold: func() string { return keys.Name(keymap.Fold) }, retryKeys: func() string { return retryKeys(c) },
	}
	return c
}

// Preview sets up c for a narrow view without keys: it shows the start, and breaks lines of code between words, too.
func Preview(c *Conversation) { c.shared.words, c.view.follow = true, false }

// SetNow sets the clock for elapsed times.
func (c *Conversation) SetNow(now func() time.Time) { c.shared.now = now }

// SetBackground enables highlighting of code. run calls work on another goroutine, then calls the function that work
// returned on the UI goroutine, and draws.
func (c *Conversation) SetBackground(run func(work func() (apply func()))) {
	c.shared.lexers = &markup.Highlighter{Background: run}
}

// SetFiles sets which linked files the terminal may open. By default none.
func (c *Conversation) SetFiles(may func(path string) bool) { c.shared.files = may }

// Scope returns the key scope of the conversation, the search line or the selection.
func (c *Conversation) Scope() keymap.Scope {
	switch {
	case c.find.typing:
		return keymap.Finding
	case c.sel.on:
		return keymap.Selecting
	}
	return keymap.Conversation
}

// SetWelcome sets the lines of an empty conversation: a name, a description and examples. Lines that are too wide break
// between words, unless spaces align them in columns.
func (c *Conversation) SetWelcome(lines []string) { c.welcome = lines }

// SetWhose sets the name of the subagent that the conversation belongs to, "" for the session.
func (c *Conversation) SetWhose(name string) { c.whose = name }

// retryKeys describes the keys for a waiting request, or returns "" in a subagent's conversation.
func retryKeys(c *Conversation) string {
	if c.whose != "" {
		return ""
	}
	return c.Keys.Name(keymap.Send) + ": retry now · " + c.Keys.Name(keymap.Back) + ": stop"
}

// Follows reports whether the view follows the end.
func Follows(c *Conversation) bool { return c.view.follow }

// AtRest reports whether the end is followed and no search or selection is active, so that blocks far above can be
// unloaded.
func AtRest(c *Conversation) bool {
	return c.view.follow && !c.find.typing && c.find.Text == "" && !c.sel.on && !c.mouse.down
}

// InView returns the indexes of the first and the last block on the screen in the blocks of [state.Shown]. last may be
// outdated until the next draw, but is at least first.
func InView(c *Conversation) (first, last int) {
	first = c.view.top.block
	return first, max(first, c.view.extent.last)
}

// WantsBeginning reports whether a person went to the beginning of the conversation, and it is not loaded yet.
func WantsBeginning(c *Conversation) bool { return c.view.rest.wanted }

// Holds reports whether no block may be unloaded, because a person is selecting text or typing a search that may return
// to its start.
func Holds(c *Conversation) bool { return c.sel.on || c.mouse.down || c.find.typing }

// drawWhose draws the row above a subagent's conversation: its name, and the key that goes back.
func (c *Conversation) drawWhose(in draw.Area) {
	var back []draw.Span
	if keys := c.Keys.Keys(keymap.Back); len(keys) > 0 {
		back = draw.Clickable(keys[0], draw.Text(themes.Key, keys[0].String()), draw.Text(themes.Muted, " goes back"))
	}
	in.Edge('─', '─', themes.Border, draw.Untrusted(themes.Accent, c.whose), back)
}

// Update processes changes of the state. Its cost depends on the number of new blocks; texts are read when they are
// drawn.
func (c *Conversation) Update(s *state.State, ch state.Changed) {
	if ch&(state.Conversation|state.Tasks) == 0 {
		return
	}
	c.cwd = s.Info.Event.Cwd
	blocks, above, below := state.Shown(s)
	jump := c.view.jumpsOn()
	if moved := c.view.sync(blocks, c.cwd, c.shared); moved != nil {
		c.find.moved(&c.view, moved)
		c.sel.moved(moved)
	}
	c.find.cross(&c.view)
	c.view.noteRest(above, below)
	if below {
		c.shared.newest = nil
	}
	if jump != 0 {
		c.view.jump(jump)
	}
	c.view.stream = s.Running() != nil
	if n := len(c.view.blocks); n > 0 && c.view.blocks[n-1].block.Open {
		c.view.stream = true
	}
	c.continueSearch()
}

// MaxText limits the columns of text on wide screens, because longer lines are hard to read.
const MaxText = 120

// Draw draws the visible rows, with the subagent's name above and the search line or footer below.
func (c *Conversation) Draw(screen tcell.Screen) {
	all := c.Whole(screen)
	if all.W <= 0 || all.H <= 0 {
		return
	}
	in := all
	if c.head = 0; c.whose != "" && in.H > 2 {
		c.drawWhose(in)
		c.head = 1
		in = in.Below(1)
	}
	rows := in
	c.place(in)
	spans := c.footer()
	if (c.find.on() || len(spans) > 0) && in.H > 2 {
		rows.H--
		c.place(rows)
		c.drawLast(in.Down(rows.H), spans)
	}
	if len(c.view.blocks) == 0 {
		drawWelcome(rows, c.welcome)
		return
	}
	rows = drawFirst(c, rows)
	c.drawRows(rows)
	c.drawCursor(rows)
	c.view.evict()
}

// place determines which rows are visible in an area.
func (c *Conversation) place(in draw.Area) {
	if len(c.view.blocks) > 0 {
		c.view.resize(max(min(in.W-2*draw.Padding, MaxText), 1), in.H)
		c.view.place(c.sel.on && (c.sel.keys || c.mouse.down)) // must not move while text is being selected
	}
}

// drawLast draws the row below the text.
func (c *Conversation) drawLast(row draw.Canvas, spans []draw.Span) {
	if c.find.on() {
		drawFind(c, row, spans)
		return
	}
	row.Fill(0, row.W, c.Palette[themes.Text])
	w := min(c.view.size.w+draw.Padding, row.W)
	row.At(max(w-draw.Width(spans), 0)).Spans(0, spans...)
}

// footer returns the line below the rows: the number of new rows or, if there are none and no search is active, a note
// about further rows; and the keys that lead there.
func (c *Conversation) footer() []draw.Span {
	if c.shared.words {
		return nil
	}
	var parts []string
	switch r := &c.view.rest; {
	case r.wanted:
		parts = append(parts, "↑ loading the start of the session …")
	case r.above && c.view.heldBack() && c.view.top.block == 0:
		parts = append(parts, "↑ loading …")
	}
	unread := c.view.unreadRows()
	if unread > 0 {
		parts = append(parts, "↓ "+texts.Plural(unread, "new line"))
	}
	more := len(parts) == 0 && c.view.heldBack() && !c.find.on()
	if more {
		parts = append(parts, rowsBelow(&c.view))
	}
	if len(parts) == 0 {
		return completeHint(c)
	}
	spans := []draw.Span{draw.Text(themes.Muted, strings.Join(parts, " · "))}
	if more || unread > 0 {
		spans = append(spans, endKeys(c, c.view.size.w-draw.Width(spans))...)
	}
	return spans
}

// endKeys names the keys that scroll down and, if w cells suffice, the keys that go to the end.
func endKeys(c *Conversation, w int) []draw.Span {
	a := keymap.ReadDown
	if c.HasFocus() {
		a = keymap.PageDown
	}
	keys := c.Keys.Keys(a)
	if len(keys) == 0 {
		return nil
	}
	spans := append([]draw.Span{draw.Text(themes.Muted, " · ")}, draw.Clickable(keys[0], draw.Text(themes.Key, keys[0].String()))...)
	if end := jumpKeys(c, keymap.ScrollBottom, "go to the end"); draw.Width(spans)+draw.Width(end) <= w {
		spans = append(spans, end...)
	}
	return spans
}

// completeHint returns a note that an answer longer than the screen is complete, with the keys that go to its start.
func completeHint(c *Conversation) []draw.Span {
	vp := &c.view
	last := len(vp.blocks) - 1
	if last < 0 || !vp.follow || vp.stream || c.find.on() || vp.blocks[last].block.Kind != state.AssistantBlock || vp.height(last) <= vp.size.h {
		return nil
	}
	keys := append([]draw.Span{draw.Text(themes.Muted, "Answer complete")}, jumpKeys(c, keymap.PromptPrevious, "go to its start")...)
	if len(keys) == 1 || draw.Width(keys) > vp.size.w {
		return nil
	}
	return keys
}

// jumpKeys describes the keys of a jump. If the prompt has the focus, the text starts with the key that focuses the
// conversation.
func jumpKeys(c *Conversation, a keymap.Action, jumps string) []draw.Span {
	keys, there := c.Keys.Name(a), c.Keys.Name(keymap.NextPane)
	switch {
	case keys == "", there == "" && !c.HasFocus():
		return nil
	case !c.HasFocus():
		keys = there + ", then " + keys
	}
	return []draw.Span{draw.Text(themes.Muted, " · "), draw.Text(themes.Key, keys), draw.Text(themes.Muted, " "+jumps)}
}

// pointed returns what is marked at the side: the row of the visited match, and true, or else the focused block.
func (vp *viewport) pointed(f *finder) (at anchor, found bool) {
	if f.visited {
		return anchor{f.at.block, vp.rowOf(f.at)}, true
	}
	return anchor{vp.focus, -1}, false
}

func (c *Conversation) drawRows(in draw.Area) {
	vp := &c.view
	now := c.shared.now().UnixMilli()
	vp.extent.first, vp.extent.last = vp.top.block, vp.top.block
	block, row := vp.top.block, vp.top.row
	blank := c.Palette[themes.Text]
	var shown *blockView
	var m *marker
	vp.clampFocus(in.H)
	at, found := vp.pointed(&c.find)
	for y := range in.H {
		line := in.Down(y)
		for block < len(vp.blocks) && row >= vp.height(block) {
			block, row = block+1, 0
		}
		if block >= len(vp.blocks) {
			line.Fill(0, line.W, blank)
			continue
		}
		if v := vp.blocks[block]; v != shown {
			shown, m = v, c.find.marker(vp, block)
			v.show(row, in.H-y)
		}
		v := shown
		line.Fill(0, min(draw.Padding, line.W), blank)
		if c.HasFocus() && block == at.block && (row == at.row || !found && row >= v.gap) {
			line.Say(0, "▎", themes.Focus)
		}
		text := line.Cols(draw.Padding, min(draw.Padding+vp.size.w, line.W))
		v.paint(text, row, now, m)
		c.sel.paint(vp, text, block, row)
		line.Fill(draw.Padding+vp.size.w, line.W, blank)
		vp.extent.last = block
		row++
	}
}

// unfold folds or unfolds the focused block. For a review it opens the findings.
func (c *Conversation) unfold() {
	if v := c.view.focused(); v != nil && v.block.Review != nil && c.OnFindings != nil {
		c.OnFindings(v.block.Review)
		return
	}
	c.view.toggleFold()
}

// openOutput passes the call of the focused block to OnOpen, or the review to OnFindings.
func (c *Conversation) openOutput() {
	switch v := c.view.focused(); {
	case v == nil:
	case v.block.Call != nil && c.OnOpen != nil:
		c.OnOpen(v.block.Call)
	case v.block.Review != nil && c.OnFindings != nil:
		c.OnFindings(v.block.Review)
	}
}

// copyCode passes a code block of the focused block to OnCopy: the first one that does not end above the screen, then
// the next one each time the key is repeated. For a call it passes the command.
func (c *Conversation) copyCode() {
	v := c.view.focused()
	if v == nil || c.OnCopy == nil {
		return
	}
	if v.block.Call != nil {
		c.OnCopy(v.block.Call.Action.Command)
		return
	}
	blocks := markup.CodeBlocks(v.block.Text)
	if len(blocks) == 0 {
		c.OnCopy("")
		return
	}
	if c.coded++; c.coded == 0 {
		c.coded = c.view.codeInView(v, blocks)
	}
	c.coded %= len(blocks)
	c.OnCopy(blocks[c.coded])
}

// Scroll moves the view by rows, down if positive. At the end, the view follows the end again.
func (c *Conversation) Scroll(rows int) { c.view.Scroll(rows) }

// Bottom goes to the end, follows it, and stops the search for a match.
func (c *Conversation) Bottom() {
	c.find.seek, c.find.beyond.by = seek{}, 0
	c.view.Bottom()
}

// conversationKeys maps actions to functions, except for paging, selecting and typing a search.
var conversationKeys = map[keymap.Action]func(*Conversation){
	keymap.Find:           func(c *Conversation) { c.find.open(&c.view) },
	keymap.FindNext:       func(c *Conversation) { c.FindNext(1) },
	keymap.FindPrevious:   func(c *Conversation) { c.FindNext(-1) },
	keymap.ScrollUp:       func(c *Conversation) { c.view.move(-1) },
	keymap.ScrollDown:     func(c *Conversation) { c.view.move(1) },
	keymap.PromptPrevious: func(c *Conversation) { c.view.jump(-1) },
	keymap.PromptNext:     func(c *Conversation) { c.view.jump(1) },
	keymap.Fold:           (*Conversation).unfold,
	keymap.CopyBlock:      func(c *Conversation) { c.view.giveText(c.OnCopy) },
	keymap.CopyCode:       (*Conversation).copyCode,
	keymap.EditBlock:      func(c *Conversation) { c.view.giveText(c.OnEdit) },
	keymap.OpenOutput:     (*Conversation).openOutput,
	keymap.Select:         (*Conversation).startSelection,
}

// Press scrolls, folds, copies, selects and finds.
func (c *Conversation) Press(p keymap.Press) {
	if p.Action != keymap.CopyCode {
		c.coded = -1
	}
	switch do := conversationKeys[p.Action]; {
	case c.find.typing:
		c.find.key(&c.view, p)
		if !c.find.on() && c.OnFound != nil {
			c.OnFound()
		}
		c.continueSearch()
	case c.sel.on:
		c.selectKey(p.Action)
	case do != nil:
		do(c)
	default:
		draw.Page(&c.view, p.Action)
	}
}

// PasteHandler adds the pasted text to the search.
func (c *Conversation) PasteHandler() func(string, func(tview.Primitive)) {
	return c.WrapPasteHandler(func(text string, _ func(tview.Primitive)) {
		if c.find.typing {
			c.find.setText(&c.view, c.find.Text+texts.OneLine(text))
			c.continueSearch()
		}
	})
}
