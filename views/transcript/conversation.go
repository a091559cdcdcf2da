// Package transcript shows what was said in a session. The [Conversation] has a block for
// each prompt, answer or tool call, lays out only those in view, finds or selects text in
// them; [Output] follows what one call prints.
//
//	c := transcript.NewConversation(theme, keys)
//	c.Update(&s, state.Conversation)
package transcript

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"

	"buddy/app/keymap"
	"buddy/app/state"
	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/markup"
)

// ConversationIntents are called for what a person wants of a conversation. All are optional.
type ConversationIntents struct {
	OnClick func() // it was clicked, and nothing was selected by that
	// OnCopy, if set, gets what a person copies, as it came: the text of a block or its
	// code. It is empty when there is none.
	OnCopy func(text string)
	// OnEdit, if set, gets the text of a block that a person wants to see in an editor.
	OnEdit func(text string)
	// OnOpen, if set, gets the call of which the whole output is wanted.
	OnOpen func(*state.Call)
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
	welcome []string

	blocks []*blockView // as in the state
	top    anchor       // the first row on the screen
	tail
	focus  int                // the block that keys act on
	size   struct{ w, h int } // of the rows, when they were drawn last
	extent struct {
		first, last int // the blocks on the screen
		from, to    int // outside of them no block is laid out
	}
	find  finder
	sel   selection
	coded int // the code block of the focused block that the last key copied; -1 is none
}

// tail is how a conversation keeps to its end.
type tail struct {
	follow bool // the end stays on the screen
	stream bool // something still arrives
	unread unread
}

// shared is what all blocks of a conversation need.
type shared struct {
	now    func() time.Time
	lexers *markup.Highlighter // nil leaves code plain
	unfold func() string       // the key that unfolds
}

// anchor is a row of the conversation: a block and a row in it.
type anchor struct{ block, row int }

func (a anchor) before(b anchor) bool {
	return a.block < b.block || a.block == b.block && a.row < b.row
}

const (
	keepLaid = 100       // blocks this far from the screen stay laid out
	bigBlock = 256 << 10 // but not those with more text than this
)

// NewConversation returns a view with nothing to show.
func NewConversation(theme *themes.Theme, keys *keymap.Map) *Conversation {
	return &Conversation{
		Frame: draw.NewFrame(theme, keys), tail: tail{follow: true}, coded: -1,
		shared: &shared{now: func() time.Time { return time.UnixMilli(0) }, unfold: func() string { return keys.Name(keymap.Fold) }},
	}
}

// SetNow gives the clock that elapsed times are reckoned by.
func (c *Conversation) SetNow(now func() time.Time) { c.shared.now = now }

// SetBackground gives the way to highlight code: run calls work on another goroutine and
// what that returns on the UI goroutine, and draws. Without it code is plain.
func (c *Conversation) SetBackground(run func(work func() (apply func()))) {
	c.shared.lexers = &markup.Highlighter{Background: run}
}

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

// Update looks at what changed. It costs as much as the number of new blocks; text is
// looked at when it is drawn.
func (c *Conversation) Update(s *state.State, ch state.Changed) {
	if ch&(state.Conversation|state.Tasks) == 0 {
		return
	}
	c.sync(s.Blocks, s.Info.Event.Cwd)
	c.stream = s.Running() != nil
	if n := len(c.blocks); n > 0 && c.blocks[n-1].block.Open {
		c.stream = true
	}
	c.goOn()
}

// sync makes the views match the blocks of the state, which grow at their end and, when
// an old session is opened from its end, at their beginning.
func (c *Conversation) sync(blocks []*state.Block, cwd string) {
	n := len(c.blocks)
	atLast := c.focus >= n-1
	if n > len(blocks) || n > 0 && (c.blocks[0].block != blocks[0] || c.blocks[n-1].block != blocks[n-1]) {
		c.rebuild(blocks, cwd)
	}
	for _, b := range blocks[len(c.blocks):] {
		v := &blockView{block: b, cwd: cwd, shared: c.shared}
		if n := len(c.blocks); n > 0 {
			v.gap = gapBetween(c.blocks[n-1].block.Kind, b.Kind)
		}
		c.blocks = append(c.blocks, v)
	}
	if c.follow && atLast {
		c.focus = len(c.blocks) - 1
	}
}

// rebuild keeps the views of the blocks that are still there, and the place.
func (c *Conversation) rebuild(blocks []*state.Block, cwd string) {
	old := make(map[*state.Block]int, len(c.blocks))
	first := uint64(math.MaxUint64) // of them; blocks before it need not be looked up
	for i, v := range c.blocks {
		old[v.block] = i
		first = min(first, v.block.Seq)
	}
	views := make([]*blockView, 0, len(blocks))
	moved := make(map[int]int, len(c.blocks))
	var fresh []blockView // many at once: they may be a hundred thousand
	for i, b := range blocks {
		var v *blockView
		if b.Seq >= first {
			if j, ok := old[b]; ok {
				v, moved[j] = c.blocks[j], i
			}
		}
		if v == nil {
			if len(fresh) == 0 {
				fresh = make([]blockView, min(len(blocks)-i, 1024))
			}
			v, fresh = &fresh[0], fresh[1:]
			v.block, v.cwd, v.shared = b, cwd, c.shared
		}
		v.gap = 0
		if i > 0 {
			v.gap = gapBetween(blocks[i-1].Kind, b.Kind)
		}
		views = append(views, v)
	}
	c.blocks = views
	c.top.block, c.focus, c.unread.block = moved[c.top.block], moved[c.focus], moved[c.unread.block]
	c.extent.from, c.extent.to = 0, len(views)
	c.findMoved(moved)
	c.selectionMoved(moved)
}

// unread counts the rows that came after the view stopped following.
type unread struct {
	block int // the block that was last
	rows  int // rows of it that had been there
	done  int // rows of blocks before it that will not grow any more
}

// holdUnread begins to count.
func (c *Conversation) holdUnread() {
	if n := len(c.blocks); n > 0 {
		c.unread = unread{n - 1, c.height(n - 1), 0}
	}
}

// unreadRows returns how many rows are new, 0 while the end is followed. Blocks that
// are complete are counted once.
func (c *Conversation) unreadRows() int {
	if c.follow || c.size.w == 0 {
		return 0
	}
	u := &c.unread
	for last := len(c.blocks) - 1; u.block < last && !c.blocks[u.block].block.Open; {
		u.done += c.height(u.block) - u.rows
		u.block, u.rows = u.block+1, 0
	}
	n := u.done - u.rows
	for i := u.block; i < len(c.blocks); i++ {
		n += c.height(i)
	}
	return n
}

// Draw draws the rows that fit.
func (c *Conversation) Draw(screen tcell.Screen) {
	find := 0 // rows of the line of a search
	if c.find.typing {
		find = 1
	}
	if _, _, w, h := c.GetRect(); len(c.blocks) > 0 && w > 2 && h > 2 {
		c.resize(max(w-2-2*draw.Padding, 1), max(h-2-find, 1))
		c.place()
	}
	in := c.Bordered(screen, draw.Titles{Left: []draw.Span{draw.Text(themes.Strong, "Conversation")}, Bottom: c.bottom()})
	if in.W <= 0 || in.H <= 0 {
		return
	}
	rows := draw.Area{Canvas: in.Canvas, H: in.H - find}
	switch {
	case rows.H == 0:
	case len(c.blocks) == 0:
		c.drawWelcome(rows)
	default:
		c.drawRows(rows)
		c.drawCursor(rows)
		c.evict()
	}
	if find > 0 {
		c.drawFind(in.Down(rows.H))
	}
}

// bottom is what the lower border says: where in a search this is, and what is new.
func (c *Conversation) bottom() []draw.Span {
	var parts []string
	if !c.find.typing && c.find.Text != "" {
		parts = append(parts, c.findStatus())
	}
	if n := c.unreadRows(); n > 0 {
		parts = append(parts, fmt.Sprintf("↓ %d new", n))
	}
	if len(parts) == 0 {
		return nil
	}
	return []draw.Span{draw.Text(themes.Muted, strings.Join(parts, " · "))}
}

func (c *Conversation) drawRows(in draw.Area) {
	now := c.shared.now().UnixMilli()
	c.extent.first, c.extent.last = c.top.block, c.top.block
	block, row := c.top.block, c.top.row
	blank := c.Palette[themes.Text]
	var shown *blockView
	var m *marker
	c.clampFocus(in.H)
	for y := range in.H {
		line := in.Down(y)
		for block < len(c.blocks) && row >= c.height(block) {
			block, row = block+1, 0
		}
		if block >= len(c.blocks) {
			line.Fill(0, line.W, blank)
			continue
		}
		if v := c.blocks[block]; v != shown {
			shown, m = v, c.marker(block)
			v.show(row, in.H-y)
		}
		v := shown
		line.Fill(0, min(draw.Padding, line.W), blank)
		if c.HasFocus() && block == c.focus && row >= v.gap {
			line.Say(0, "▎", themes.Focus)
		}
		text := line.Cols(draw.Padding, draw.Padding+c.size.w)
		v.paint(text, row, now, m)
		c.paintSelected(text, block, row)
		line.Fill(draw.Padding+c.size.w, line.W, blank)
		c.extent.last = block
		row++
	}
}

// evict forgets the layout of blocks that are far from the screen.
func (c *Conversation) evict() {
	first, last := c.extent.first, c.extent.last
	from, to := max(first-keepLaid, 0), min(last+keepLaid, len(c.blocks))
	for i := c.extent.from; i < min(c.extent.to, len(c.blocks)); i++ {
		v := c.blocks[i]
		counted := !c.follow && i >= c.unread.block
		if v.laid != nil && !counted && (i < from || i >= to || (i < first || i > last) && len(v.block.Text) > bigBlock) {
			v.laid = nil
		}
	}
	c.extent.from, c.extent.to = from, to
	if !c.follow {
		c.extent.to = max(to, len(c.blocks))
	}
}

// drawWelcome draws the first screen.
func (c *Conversation) drawWelcome(in draw.Area) {
	wide := 0
	for _, line := range c.welcome {
		wide = max(wide, draw.TextWidth(line))
	}
	left := max((in.W-wide)/2, min(2, in.W))
	rows := c.welcomeRows(in.W - 2*left)
	first := max((in.H-len(rows))/3, 0)
	for y := range in.H {
		row := in.Down(y)
		row.Fill(0, row.W, c.Palette[themes.Text])
		if i := y - first; i >= 0 && i < len(rows) {
			row.At(left).Say(0, draw.Shorten(rows[i].text, max(row.W-left, 0)), rows[i].role)
		}
	}
}

// welcomeRow is a row of the first screen.
type welcomeRow struct {
	text string
	role themes.Role
}

// welcomeRows breaks the lines of the welcome that are wider than w.
func (c *Conversation) welcomeRows(w int) []welcomeRow {
	var rows []welcomeRow
	for i, line := range c.welcome {
		role := [...]themes.Role{themes.Accent, themes.Muted, themes.Text}[min(i, 2)]
		parts := []string{line}
		if draw.TextWidth(line) > w && !strings.Contains(line, "  ") {
			parts = draw.WrapWords(line, w)
		}
		for _, part := range parts {
			rows = append(rows, welcomeRow{part, role})
		}
	}
	return rows
}

// Copy gives the focused block to OnCopy.
func (c *Conversation) Copy() {
	if c.OnCopy != nil && c.focus < len(c.blocks) {
		c.OnCopy(c.blocks[c.focus].copyText())
	}
}

// edit gives the focused block to OnEdit.
func (c *Conversation) edit() {
	if c.OnEdit != nil && c.focus < len(c.blocks) {
		c.OnEdit(c.blocks[c.focus].copyText())
	}
}

// openOutput gives the call of the focused block to OnOpen.
func (c *Conversation) openOutput() {
	if c.OnOpen == nil || c.focus >= len(c.blocks) {
		return
	}
	if call := c.blocks[c.focus].block.Call; call != nil {
		c.OnOpen(call)
	}
}

// CopyCode gives a code block of the focused block to OnCopy: the first that does not end
// above the screen, and when the last key did that, the next one. Of a call that is the
// command.
func (c *Conversation) CopyCode() {
	if c.OnCopy == nil || c.focus >= len(c.blocks) {
		return
	}
	v := c.blocks[c.focus]
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
		c.coded = c.codeInView(v, blocks)
	}
	c.coded %= len(blocks)
	c.OnCopy(blocks[c.coded])
}

// codeInView returns which code block of the focused block is the first one that does not
// end above the screen.
func (c *Conversation) codeInView(v *blockView, blocks []string) int {
	if c.size.h == 0 {
		return 0
	}
	first, _ := c.rowsOf(c.focus)
	last, end := len(blocks)-1, 0
	for i, code := range blocks[:last] {
		if end = v.endOf(code, end); first+v.rowOf(0, end, 0, c.size.w)-v.gap >= 0 {
			return i
		}
	}
	return last
}

// Fold folds or unfolds the focused block.
func (c *Conversation) Fold() {
	if c.focus >= len(c.blocks) {
		return
	}
	c.blocks[c.focus].toggle()
	if c.top.block == c.focus {
		c.top.row = min(c.top.row, c.blocks[c.focus].gap) // its head stays on the screen
	}
	c.hold()
}
