package dialog

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/app/keymap"
	"buddy/themes"
	"buddy/views/draw"
)

// Confirm asks a person to choose: among the actions of a scope before something irreversible, or among the answers
// that the model offers. Back chooses nothing.
type Confirm struct {
	docked
	asked Question
	open  bool
	seen  bool // the end of the lines was on the screen
}

// Question is the question of a Confirm. Its texts may be untrusted.
type Question struct {
	ID      string // for the caller; may be ""
	Title   string
	Lines   []string
	Scope   keymap.Scope
	Answer  func(keymap.Action) // gets an action of Scope after the question is closed
	Choices []string            // instead of the actions of Scope
	Own     bool                // typed text is an answer, too
	// OwnLabel is the hint that an answer can be typed instead of chosen; "" means "type your answer".
	OwnLabel string
	Markdown bool        // Lines are Markdown
	Hints    []draw.Hint // other keys
	Take     func(n int) // gets the index of one of Choices
	Whole    int         // the first Whole choices are accepted only after the end of Lines was visible
}

// NewConfirm returns a closed dialog.
func NewConfirm(theme *themes.Theme, keys *keymap.Map) *Confirm {
	return &Confirm{docked: docked{Frame: draw.NewFrame(theme, keys)}}
}

// Ask opens the dialog.
func (c *Confirm) Ask(q Question) {
	c.asked, c.open, c.seen, c.body = q, true, false, body{}
	c.choices = choices{all: bindings(c.Keys, q.Scope, func(a keymap.Action) bool { return a != keymap.Back })}
	if q.Own { // otherwise nothing is marked, because Enter may repeat the key that opened the dialog
		c.choices.at = 1
	}
	for _, text := range q.Choices {
		c.choices.all = append(c.choices.all, choice{label: text, row: true})
	}
}

// Close closes the dialog without an answer.
func (c *Confirm) Close() { c.asked, c.open = Question{}, false }

// Open reports whether there is a question.
func (c *Confirm) Open() bool { return c.open }

// Asked returns the id of the question, or "".
func (c *Confirm) Asked() string { return c.asked.ID }

// Has reports whether there is a choice with a number.
func (c *Confirm) Has(number string) bool { return c.choices.has(number) }

// Scope returns the key scope of the dialog.
func (c *Confirm) Scope() keymap.Scope { return c.asked.Scope }

// Press answers or scrolls.
func (c *Confirm) Press(p keymap.Press) {
	switch {
	case c.body.scroll(p.Action):
	case p.Action == keymap.Back:
		c.Close()
	default:
		if i := c.choose(p); i >= 0 {
			c.answer(i)
		}
	}
}

// answer takes a choice, unless the choice requires lines that have not been on the screen yet.
func (c *Confirm) answer(i int) {
	if i < c.asked.Whole && !c.seen {
		c.hint(unseen(c.Keys))
		return
	}
	asked, act := c.asked, c.choices.all[i].action
	switch c.Close(); {
	case asked.Take != nil:
		asked.Take(i)
	case asked.Answer != nil:
		asked.Answer(act)
	}
}

// MouseHandler scrolls the question and selects its text.
func (c *Confirm) MouseHandler() func(tview.MouseAction, *tcell.EventMouse, func(tview.Primitive)) (bool, tview.Primitive) {
	return c.WrapMouseHandler(func(action tview.MouseAction, ev *tcell.EventMouse, _ func(tview.Primitive)) (bool, tview.Primitive) {
		c.body.onCopy = c.OnCopy
		return mouseIn(&c.Frame, &c.body, action, ev), nil
	})
}

// confirmWidth limits the width of a dialog that asks for a line.
const confirmWidth = 76

// Rows returns the rows for a screen width, rules included.
func (c *Confirm) Rows(w int) int {
	if !c.open {
		return 0
	}
	c.lay(w - 2)
	rows := len(c.body.rows) + len(c.rows(w-2)) + 2
	if len(c.body.rows) > 0 {
		rows++ // a blank row
	}
	return rows
}

// Draw draws the question, whose lines scroll, and the answers.
func (c *Confirm) Draw(screen tcell.Screen) {
	title, _ := c.content(c.Whole(screen).W - 2)
	in := c.Ruled(screen, draw.Titles{Left: c.titled(draw.Untrusted(themes.Warning, title))})
	if in.W <= 0 || in.H <= 0 || !c.open {
		return
	}
	rows := c.rows(in.W)
	if least := min(len(c.body.rows), 1); len(rows) > in.H-least { // one row of the question stays
		rows = rows[:max(0, in.H-least)]
	}
	c.lay(in.W)
	room := max(in.H-len(rows), 0)
	if n := len(c.body.rows); n > 0 && n < room {
		room-- // a blank row
	}
	_, to := c.body.draw(draw.Area{Canvas: in.Canvas, H: room})
	c.seen = c.seen || to == len(c.body.rows)
	in.Below(max(in.H-len(rows), 0)).Rows(rows)
	c.DrawMore(screen, c.body.Viewport, len(c.body.rows))
}

// content returns the title and the lines below it. A title that does not fit into the rule becomes the first lines.
func (c *Confirm) content(w int) (title string, lines []string) {
	title = c.asked.Title
	if strings.Contains(title, "\n") || draw.Width(c.titled(draw.Untrusted(themes.Warning, title)))+titleRoom > w {
		return "Question", append(strings.Split(title, "\n"), c.asked.Lines...)
	}
	return title, c.asked.Lines
}

// lay makes the rows for a width.
func (c *Confirm) lay(w int) {
	if c.body.width == w {
		return
	}
	c.body.relay(w)
	if c.asked.Markdown {
		c.body.addMarkdown(strings.Join(c.asked.Lines, "\n"), w)
		return
	}
	_, lines := c.content(w)
	for _, l := range lines {
		if c.asked.Whole > 0 { // every character must be visible
			c.body.add(bodyIndent, nil, draw.Untrusted(themes.Text, l), w)
			continue
		}
		words := strings.TrimLeft(l, " ")
		c.body.addWords(bodyIndent+min(len(l)-len(words), w/2), draw.Untrusted(themes.Text, words), w)
	}
}

// rows returns the choices and the other keys.
func (c *Confirm) rows(w int) [][]draw.Span {
	var hints []draw.Hint
	if c.HasFocus() && !c.replies {
		hints = slices.Clone(c.asked.Hints)
	}
	if keys := c.Keys.Keys(keymap.Back); len(keys) > 0 && c.place.Of == 0 && !c.place.List {
		hints = append(hints, draw.Hint{Key: keys[0], Label: "back"})
	}
	if c.asked.Own && !c.replies {
		hints = append([]draw.Hint{{Sign: "or", Label: cmp.Or(c.asked.OwnLabel, "type your answer")}}, hints...)
	}
	shown := choices{all: slices.Clone(c.choices.all), at: c.choices.at}
	for i := range shown.all {
		shown.all[i].dim = !c.HasFocus()
	}
	if c.replies { // Enter takes none of them
		shown.at = 0
	}
	return append(shown.rows(w, false), c.hintRows(hints, w)...)
}
