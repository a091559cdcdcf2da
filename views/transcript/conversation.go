// Package transcript shows what was said in a session. The [Conversation] has a block for
// each prompt, answer or tool call, lays out only those in view, finds or selects text in
// them; [Output] follows what one call prints.
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

// ConversationIntents hold the callbacks for what a person does in a conversation. All are optional.
type ConversationIntents struct {
	OnClick func() // it was clicked, and nothing was selected by that
	OnFound func() // the line of a search was closed by a key
	// OnCopy, if set, gets what a person copies, as it came: the text of a block or its
	// code. It is empty when there is none.
	OnCopy func(text string)
	// OnEdit, if set, gets the text of a block that a person wants to see in an editor.
	OnEdit func(text string)
	// OnOpen, if set, gets the call of which the whole output is wanted.
	OnOpen func(*state.Call)
	// OnFindings, if set, gets the review whose findings are wanted.
	OnFindings func(*event.ReviewFinished)
	// Later, if set, runs a function soon, after what waits on the UI goroutine, and
	// draws: long searches take turns with all else. Without it they are done at once.
	Later func(func())
}

// Conversation draws the blocks of a session. Only what is on the screen is laid out;
// a block is kept ready at one width until it is far away. It follows the end until a
// person scrolls up. Only the UI goroutine may use it.
type Conversation struct {
	draw.Frame
	ConversationIntents

	shared  *shared
	whose   string // untrusted; "" is the session's
	cwd     string // of the session
	welcome []string
	view    viewport
	find    finder
	sel     selection
	mouse   drag
	head    int // rows above the text
	coded   int // the code block of the focused block that the last key copied; -1 is none
}

// shared holds what all blocks of a conversation use.
type shared struct {
	now    func() time.Time
	lexers *markup.Highlighter    // nil leaves code plain
	words  bool                   // it is a preview: code breaks between words as well
	files  func(path string) bool // whether the terminal may open a file that an answer links to; nil: none
	unfold func() string          // the key that unfolds
	newest *state.Call            // whose output /output opens; nil: it is not there
	// retryKeys returns what sends a request again that waits, and what stops it; "" where no key does.
	retryKeys func() string
}

// NewConversation returns a view with nothing to show.
func NewConversation(theme *themes.Theme, keys *keymap.Map) *Conversation {
	c := &Conversation{Frame: draw.NewFrame(theme, keys), view: viewport{follow: true}, coded: -1}
	c.shared = &shared{
		now: func() time.Time { return time.UnixMilli(0) }, unfold: func() string { return keys.Name(keymap.Fold) }, retryKeys: func() string { return retryKeys(c) },
	}
	return c
}

// Preview shows a conversation from its beginning in a narrow view that has no keys: lines of code break between words.
func Preview(c *Conversation) { c.shared.words, c.view.follow = true, false }

// SetNow sets the clock that elapsed times are reckoned by.
func (c *Conversation) SetNow(now func() time.Time) { c.shared.now = now }

// SetBackground sets how code is highlighted: run calls work on another goroutine and
// what that returns on the UI goroutine, and draws. Without it code is plain.
func (c *Conversation) SetBackground(run func(work func() (apply func()))) {
	c.shared.lexers = &markup.Highlighter{Background: run}
}

// SetFiles sets which files the terminal may open that answers link to. Without it these are none.
func (c *Conversation) SetFiles(may func(path string) bool) { c.shared.files = may }

// Scope returns the scope in which keys are looked up: to the conversation, to the line of a search or to what is
// selected.
func (c *Conversation) Scope() keymap.Scope {
	switch {
	case c.find.typing:
		return keymap.Finding
	case c.sel.on:
		return keymap.Selecting
	}
	return keymap.Conversation
}

// SetWelcome sets what an empty conversation shows: a name, what it is, and examples. Lines
// that are wider than it are broken between words, unless blanks in them make columns.
func (c *Conversation) SetWelcome(lines []string) { c.welcome = lines }

// SetWhose says whose conversation it is, "" for the session's own.
func (c *Conversation) SetWhose(name string) { c.whose = name }

// retryKeys returns the keys for a request that waits to be sent again. A subagent's has none.
func retryKeys(c *Conversation) string {
	if c.whose != "" {
		return ""
	}
	return c.Keys.Name(keymap.Send) + ": retry now · " + c.Keys.Name(keymap.Back) + ": stop"
}

// Follows reports whether the end of a conversation is on the screen when it is drawn.
func Follows(c *Conversation) bool { return c.view.follow }

// AtRest reports whether the end is followed and nothing is looked for or selected: blocks far above the
// end can go without being missed.
func AtRest(c *Conversation) bool {
	return c.view.follow && !c.find.typing && c.find.Text == "" && !c.sel.on && !c.mouse.down
}

// InView returns the first block that is on the screen and the last one that was when it was drawn, or the first one if that is
// below it: indices of what [state.Shown] returned.
func InView(c *Conversation) (first, last int) {
	first = c.view.top.block
	return first, max(first, c.view.extent.last)
}

// WantsBeginning reports whether a person went to the beginning of the conversation, which is not there.
func WantsBeginning(c *Conversation) bool { return c.view.rest.wanted }

// Holds reports whether all blocks have to stay that are there: a person selects text, or types what to look for and may go
// back to where that began.
func Holds(c *Conversation) bool { return c.sel.on || c.mouse.down || c.find.typing }

// drawWhose draws the row above the conversation of somebody else: whose it is, and the way back.
func (c *Conversation) drawWhose(in draw.Area) {
	var back []draw.Span
	if keys := c.Keys.Keys(keymap.Back); len(keys) > 0 {
		back = draw.Clickable(keys[0], draw.Text(themes.Key, keys[0].String()), draw.Text(themes.Muted, " goes back"))
	}
	in.Edge('─', '─', themes.Border, draw.Untrusted(themes.Accent, c.whose), back)
}

// Update takes over what changed. It costs as much as the number of new blocks; text is
// looked at when it is drawn.
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
	c.goOn()
}

// MaxText is the most columns of text, however wide the screen is: longer lines are hard to read.
const MaxText = 120

// Draw draws the rows that fit, below the name of whose they are and above the line of a search or of what
// is new.
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
	said := c.footer()
	if (c.find.on() || len(said) > 0) && in.H > 2 {
		rows.H--
		c.place(rows)
		c.drawLast(in.Down(rows.H), said)
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

// place finds which rows show.
func (c *Conversation) place(in draw.Area) {
	if len(c.view.blocks) > 0 {
		c.view.resize(max(min(in.W-2*draw.Padding, MaxText), 1), in.H)
		c.view.place(c.sel.on && (c.sel.keys || c.mouse.down)) // must not move under who selects
	}
}

// drawLast draws the row below the text.
func (c *Conversation) drawLast(row draw.Canvas, said []draw.Span) {
	if c.find.on() {
		drawFind(c, row, said)
		return
	}
	row.Fill(0, row.W, c.Palette[themes.Text])
	w := min(c.view.size.w+draw.Padding, row.W)
	row.At(max(w-draw.Width(said), 0)).Spans(0, said...)
}

// footer returns the text of the line below the rows: how much is new, or else, unless something is looked for, that there
// is more below; and which key leads there.
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
		parts = append(parts, saysBelow(&c.view))
	}
	if len(parts) == 0 {
		return sayComplete(c)
	}
	said := []draw.Span{draw.Text(themes.Muted, strings.Join(parts, " · "))}
	if more || unread > 0 {
		said = append(said, endKeys(c, c.view.size.w-draw.Width(said))...)
	}
	return said
}

// endKeys says which keys lead down, and, where w cells have room for it, to the end.
func endKeys(c *Conversation, w int) []draw.Span {
	a := keymap.ReadDown
	if c.HasFocus() {
		a = keymap.PageDown
	}
	keys := c.Keys.Keys(a)
	if len(keys) == 0 {
		return nil
	}
	said := append([]draw.Span{draw.Text(themes.Muted, " · ")}, draw.Clickable(keys[0], draw.Text(themes.Key, keys[0].String()))...)
	if end := jumpKeys(c, keymap.ScrollBottom, "go to the end"); draw.Width(said)+draw.Width(end) <= w {
		said = append(said, end...)
	}
	return said
}

// sayComplete says of an answer that has ended and is longer than the screen that it is complete, and how to get to its
// beginning.
func sayComplete(c *Conversation) []draw.Span {
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

// jumpKeys says which keys jump somewhere: from the prompt, the one that goes to the conversation comes first.
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

// pointed returns what is marked at its side: the focused block, or, if found is set, only the row with the match that was
// visited.
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

// unfold folds or unfolds the focused block. Of a review it opens the findings.
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

// copyCode passes a code block of the focused block to OnCopy: the first that does not end
// above the screen, and when the last key did that, the next one. Of a call that is the
// command.
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

// Scroll moves the view by rows, down if they are positive. At the end it follows again.
func (c *Conversation) Scroll(rows int) { c.view.Scroll(rows) }

// Bottom goes to the end, which is followed again. It ends the way to a match.
func (c *Conversation) Bottom() {
	c.find.seek, c.find.beyond.by = seek{}, 0
	c.view.Bottom()
}

// conversationKeys holds what keys do, other than scrolling by pages, selecting and what is typed to find it.
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
		c.goOn()
	case c.sel.on:
		c.selectKey(p.Action)
	case do != nil:
		do(c)
	default:
		draw.Page(&c.view, p.Action)
	}
}

// PasteHandler adds to the text of a search.
func (c *Conversation) PasteHandler() func(string, func(tview.Primitive)) {
	return c.WrapPasteHandler(func(text string, _ func(tview.Primitive)) {
		if c.find.typing {
			c.find.setText(&c.view, c.find.Text+texts.OneLine(text))
			c.goOn()
		}
	})
}
