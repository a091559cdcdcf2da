package dialog

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/app/fuzzy"
	"buddy/app/keymap"
	"buddy/app/show"
	"buddy/texts"
	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/edit"
)

// PickerOptions configure a Picker. Callbacks are optional and run on the UI goroutine.
type PickerOptions struct {
	Title   string
	Columns []string        // names of columns; none: no row of names
	Hint    string          // shown while the filter is empty
	Empty   string          // shown while there are no rows
	Preview tview.Primitive // drawn on the right if there is room, see OnMove
	Keys    keymap.Scope    // scope of the keys for the selected row, see OnKey; "": none
	OnKeys  bool            // Keys apply at once, as after a move; otherwise typing goes to the filter first

	OnChoose func(show.Row)
	OnMove   func(show.Row)                // another row was selected
	OnKey    func(keymap.Action, show.Row) // a key of Keys
	OnClose  func()
	// OnQuery gets the typed text and reports whether SetRows will provide the rows for it; otherwise the filter
	// selects among the present rows.
	OnQuery func(query string) bool
}

// Picker is a list that typing filters, best match first. A click selects a row; Enter or another click chooses it.
type Picker struct {
	draw.Frame
	o       PickerOptions
	rows    []show.Row
	shown   []int // indexes of the matching rows
	heads   headings
	cells   pickerCells
	query   string
	notice  string // shown until the next key
	note    string // shown after the title
	at      int    // index in shown
	clicked string // id of the row selected by the last click
	window  draw.Viewport
	place   pickerPlace
	onKeys  bool // keys have the meaning of o.Keys
	answers bool // the rows are results of the query, so all match
	ask     *pickerAsk
}

// pickerCells holds the widths of the rows' texts, in cells.
type pickerCells struct {
	widths  []int // of the columns, at most maxColumn unless the name is wider
	longest int   // of the texts in the first column, at most about widestPicker
}

// pickerPlace is the place of the rows at the last draw, and whether the preview was drawn.
type pickerPlace struct {
	x, y, w, h int
	preview    bool
}

// pickerAsk is a question about the selected row, answered by a text or by yes or no.
type pickerAsk struct {
	text  string
	typed *edit.Editor // nil for yes or no
	done  func(text string)
}

// maxFilter limits a filter, in bytes.
const maxFilter = 256

// NewPicker returns an empty list.
func NewPicker(theme *themes.Theme, keys *keymap.Map, o PickerOptions) *Picker {
	return &Picker{Frame: draw.NewFrame(theme, keys), o: o, onKeys: o.OnKeys}
}

// SetRows sets the rows, in their order for an empty filter. The selected row stays selected if it is still there.
func (p *Picker) SetRows(rows []show.Row) {
	before, had := p.Selected()
	p.rows = rows
	p.measure()
	p.fit()
	if had {
		if i := slices.IndexFunc(p.shown, func(n int) bool { return p.rows[n].ID == before.ID }); i >= 0 {
			p.at = i
		}
	}
	if now, _ := p.Selected(); now.ID != before.ID {
		p.moved()
	}
}

// SetColumns names the columns of the next rows.
func (p *Picker) SetColumns(names []string) { p.o.Columns = names }

// SetCell changes a cell of a row, if the row exists.
func (p *Picker) SetCell(id string, column int, text string) {
	for i := range p.rows {
		if p.rows[i].ID == id && column < len(p.rows[i].Cells) {
			p.rows[i].Cells[column] = text
		}
	}
	p.measure()
}

// Visible returns the rows on the screen at the last draw.
func (p *Picker) Visible() []show.Row {
	var rows []show.Row
	for line := max(0, p.window.Top); line < p.window.Top+p.place.h; line++ {
		if i, ok := p.heads.rowAt(line, len(p.shown)); ok {
			rows = append(rows, p.rows[p.shown[i]])
		}
	}
	return rows
}

// Select selects the row with an id, if it exists.
func (p *Picker) Select(id string) {
	if i := slices.IndexFunc(p.shown, func(n int) bool { return p.rows[n].ID == id }); i >= 0 {
		p.to(i)
	}
}

// SetEmpty sets the text shown while there are no rows.
func (p *Picker) SetEmpty(text string) { p.o.Empty = text }

// SetNote sets the text after the title; "": the number of rows.
func (p *Picker) SetNote(text string) { p.note = text }

// Say shows a line until the next key.
func (p *Picker) Say(text string) { p.notice = text }

// Query returns the typed filter.
func (p *Picker) Query() string { return p.query }

// SetQuery replaces the typed query.
func (p *Picker) SetQuery(query string) {
	p.query, p.onKeys, p.clicked = query, query == "" && p.o.OnKeys, ""
	p.answers = p.o.OnQuery != nil && p.o.OnQuery(query)
	p.at = 0
	if !p.answers {
		p.fit()
		p.moved()
	}
}

// AskText asks for a text with an initial value; Esc cancels.
func (p *Picker) AskText(label, text string, done func(string)) {
	e := edit.New()
	e.SetText(texts.OneLine(text))
	p.ask = &pickerAsk{text: label, typed: e, done: done}
}

// Confirm asks a question and calls yes if it is answered with y.
func (p *Picker) Confirm(question string, yes func()) {
	p.ask = &pickerAsk{text: question, done: func(string) { yes() }}
}

// Selected returns the selected row; false if there is none.
func (p *Picker) Selected() (show.Row, bool) {
	if p.at < 0 || p.at >= len(p.shown) {
		return show.Row{}, false
	}
	return p.rows[p.shown[p.at]], true
}

// Scope returns the key scope of the dialog.
func (p *Picker) Scope() keymap.Scope {
	switch {
	case p.ask != nil && p.ask.typed != nil:
		return keymap.Naming
	case p.ask != nil:
		return keymap.Confirm
	case p.onKeys:
		return p.o.Keys
	}
	return keymap.Picker
}

// fit finds the rows that match the filter, best first.
func (p *Picker) fit() {
	p.shown, p.heads = p.shown[:0], p.heads[:0]
	if p.query == "" || p.answers {
		for i := range p.rows {
			p.shown = append(p.shown, i)
			if g := p.rows[i].Group; g != "" && (i == 0 || p.rows[i-1].Group != g) {
				p.heads = append(p.heads, i)
			}
		}
		p.at = min(p.at, max(0, len(p.shown)-1))
		return
	}
	scores := make(map[int]int)
	for i, r := range p.rows {
		text := r.Find
		if text == "" {
			text = strings.Join(r.Cells, " ")
		}
		if score, ok := fuzzy.Words(text, p.query); ok {
			p.shown = append(p.shown, i)
			scores[i] = score
		}
	}
	slices.SortStableFunc(p.shown, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	p.at = min(p.at, max(0, len(p.shown)-1))
}

func (p *Picker) moved() {
	if r, ok := p.Selected(); ok && p.o.OnMove != nil {
		p.o.OnMove(r)
	}
}

func (p *Picker) to(i int) {
	i = max(0, min(i, len(p.shown)-1))
	if i != p.at {
		p.at = i
		p.moved()
	}
}

// Press chooses, moves, and edits the filter.
func (p *Picker) Press(press keymap.Press) {
	p.notice, p.clicked = "", ""
	switch {
	case p.ask != nil:
		p.answer(press)
	case press.Bound():
		p.action(press.Action)
	case press.Types() && len(p.query)+len(press.Text) <= maxFilter:
		p.SetQuery(p.query + press.Text)
	}
}

// answer handles a key during a question. Every key other than y means no.
func (p *Picker) answer(press keymap.Press) {
	ask, a := p.ask, press.Action
	switch {
	case ask.typed == nil:
		p.ask = nil
		if a == keymap.ConfirmYes {
			ask.done("")
		}
	case a == keymap.NamingDone:
		p.ask = nil
		ask.done(strings.TrimSpace(ask.typed.Text()))
	case a == keymap.NamingCancel:
		p.ask = nil
	default:
		ask.typed.Press(press)
	}
}

func (p *Picker) action(a keymap.Action) {
	switch a {
	case keymap.PickUp:
		p.around(-1)
	case keymap.PickDown:
		p.around(1)
	case keymap.PickPageUp, keymap.PickPageDown, keymap.PickFirst, keymap.PickLast:
		p.jump(a)
	case keymap.Pick:
		p.choose()
	case keymap.PickErase:
		if p.query != "" {
			p.SetQuery(edit.DropLast(p.query))
		}
	case keymap.PickClear:
		p.SetQuery("")
	case keymap.PickKeys:
		p.onKeys = !p.onKeys && p.o.Keys != ""
	case keymap.PickClose:
		p.Close()
	default:
		if p.o.OnKey != nil {
			r, _ := p.Selected()
			p.o.OnKey(a, r)
		}
	}
}

// jump moves by more than a row.
func (p *Picker) jump(a keymap.Action) {
	page := max(1, p.place.h-1)
	switch a {
	case keymap.PickPageUp:
		p.to(p.at - page)
	case keymap.PickPageDown:
		p.to(p.at + page)
	case keymap.PickFirst:
		p.to(0)
	case keymap.PickLast:
		p.to(len(p.shown) - 1)
	}
}

// Close closes the list without a choice, like Esc.
func (p *Picker) Close() {
	if p.o.OnClose != nil {
		p.o.OnClose()
	}
}

// around moves the selection and wraps around. If the list has keys for its rows, the keyboard no longer types into the
// filter.
func (p *Picker) around(by int) {
	if n := len(p.shown); n > 0 {
		p.to((p.at + by + n) % n)
	}
	p.onKeys = p.o.Keys != ""
}

func (p *Picker) choose() {
	if r, ok := p.Selected(); ok && p.o.OnChoose != nil {
		p.o.OnChoose(r)
	}
}

// PasteHandler pastes one line into the filter or into the text being asked for.
func (p *Picker) PasteHandler() func(string, func(tview.Primitive)) {
	return p.WrapPasteHandler(func(text string, _ func(tview.Primitive)) {
		text = texts.OneLine(text)
		switch {
		case p.ask != nil && p.ask.typed != nil:
			p.ask.typed.Insert(text)
		case p.ask == nil && len(p.query)+len(text) <= maxFilter:
			p.SetQuery(p.query + text)
		}
	})
}

// MouseHandler selects a row, chooses it with a second click, and moves with the wheel. Over the preview it passes
// actions to the preview.
func (p *Picker) MouseHandler() func(tview.MouseAction, *tcell.EventMouse, func(tview.Primitive)) (bool, tview.Primitive) {
	return p.WrapMouseHandler(func(action tview.MouseAction, ev *tcell.EventMouse, _ func(tview.Primitive)) (bool, tview.Primitive) {
		x, y := ev.Position()
		if p.previewed(x, y) && p.ask == nil {
			return p.o.Preview.MouseHandler()(action, ev, func(tview.Primitive) {})
		}
		if !p.InRect(x, y) || p.ask != nil {
			return false, nil
		}
		switch action {
		case tview.MouseScrollUp:
			p.to(p.at - draw.WheelRows)
		case tview.MouseScrollDown:
			p.to(p.at + draw.WheelRows)
		case tview.MouseLeftClick, tview.MouseLeftDoubleClick:
			p.click(x, y)
		default:
			return false, nil
		}
		return true, nil
	})
}

func (p *Picker) click(x, y int) {
	i, ok := p.heads.rowAt(p.window.Top+y-p.place.y, len(p.shown))
	if x < p.place.x || x >= p.place.x+p.place.w || y < p.place.y || y >= p.place.y+p.place.h || !ok {
		return
	}
	p.onKeys = p.o.Keys != ""
	p.to(i)
	id := p.rows[p.shown[i]].ID
	if p.clicked == id {
		p.choose()
		return
	}
	p.clicked = id
}

// previewed reports whether x, y was in the preview at the last draw.
func (p *Picker) previewed(x, y int) bool {
	if p.o.Preview == nil || !p.place.preview {
		return false
	}
	left, top, w, h := p.o.Preview.GetRect()
	return x >= left && x < left+w && y >= top && y < top+h
}
