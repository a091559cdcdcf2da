package dialog

import (
	"slices"
	"strings"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/app/keymap"
	"buddy/app/show"
	"buddy/texts"
	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/edit"
	"buddy/views/markup"
)

const (
	tabbedWidth = 104 // columns of the dialog
	tabbedRows  = 30
	widestLabel = 24 // cells of a label
	widestFrom  = 32 // cells of a value's origin
	rowsOfValue = 5  // rows of a value that can't be selected
	rowsOfLine  = 2  // rows about the selected value
)

// TabbedOptions are the callbacks of a dialog with tabs, on the UI goroutine.
type TabbedOptions struct {
	OnTab    func(show.Deed)  // another document is requested
	OnChoose func(show.Value) // Enter, or a second click on the selected value
	OnClose  func()
}

// Tabbed is a dialog with a tab for each of several documents. A document consists of sections of values, which typing
// filters. If any value has a line of explanation or actions, values can be selected; otherwise the document scrolls.
type Tabbed struct {
	draw.Frame
	o      TabbedOptions
	doc    show.Document
	asked  string // the last requested tab, whose document may not have arrived yet
	query  string
	notice string
	fits   []fitting
	at     int  // index in fits of the selected value
	picks  bool // values can be selected
	rows   []tabbedRow
	laid   int // width of rows; 0: not laid out
	window draw.Viewport
	place  draw.Area // of the rows at the last draw
	tabs   []tabPlace
	line   *typedLine
}

// fitting is a value that matches the search, with the index of its section.
type fitting struct {
	show.Value
	section int
}

// tabbedRow is a row of the document. value is an index in fits, or -1 for the title of a section.
type tabbedRow struct {
	value             int
	label, text, from []draw.Span
}

// tabPlace is the place of a drawn tab.
type tabPlace struct{ y, from, to int }

// typedLine is a text being asked for.
type typedLine struct {
	label  string
	editor *edit.Editor
	done   func(text string)
}

// NewTabbed returns a dialog without a document.
func NewTabbed(theme *themes.Theme, keys *keymap.Map, o TabbedOptions) *Tabbed {
	return &Tabbed{Frame: draw.NewFrame(theme, keys), o: o}
}

// Show shows a document. If it has the same title as before, the selection is kept.
func (t *Tabbed) Show(d show.Document) {
	same, at := t.doc.Title == d.Title, t.at
	t.doc, t.asked, t.picks = d, d.Title, false
	for _, s := range d.Sections {
		for _, v := range s.Values {
			t.picks = t.picks || v.Line != "" || len(v.Deeds) > 0
		}
	}
	top := t.window.Top
	if !same {
		t.search("")
	} else if t.search(t.query); at < len(t.fits) {
		t.at, t.window.Top = at, top
	}
	t.notice = ""
}

// Say shows a line until the next key.
func (t *Tabbed) Say(text string) { t.notice = text }

// AskText asks for a text with an initial value; Esc cancels.
func (t *Tabbed) AskText(label, text string, done func(string)) {
	e := edit.New()
	e.SetText(texts.OneLine(text))
	t.line = &typedLine{label, e, done}
}

// Scope returns the key scope of the dialog.
func (t *Tabbed) Scope() keymap.Scope {
	if t.line != nil {
		return keymap.Asking
	}
	return keymap.Document
}

// Size returns the size of the dialog, border included, which does not depend on the document.
func (t *Tabbed) Size(maxW, maxH int) (w, h int) {
	return min(maxW, tabbedWidth), min(maxH, tabbedRows)
}

// Press switches tabs and values, and types into the search or the line being asked for.
func (t *Tabbed) Press(press keymap.Press) {
	t.notice = ""
	switch {
	case t.line != nil:
		t.typeLine(press)
	case press.Bound():
		t.action(press.Action)
	case press.Types() && len(t.query)+len(press.Text) <= maxFilter:
		t.search(t.query + press.Text)
	}
}

func (t *Tabbed) typeLine(press keymap.Press) {
	line := t.line
	switch press.Action {
	case keymap.AskSend:
		t.line = nil
		line.done(strings.TrimSpace(line.editor.Text()))
	case keymap.AskClose:
		t.line = nil
	default:
		line.editor.Press(press)
	}
}

// search filters the values by the words of a query, and selects the first value with a line or actions.
func (t *Tabbed) search(query string) {
	t.query, t.laid, t.window.Top, t.fits = query, 0, 0, nil
	words := strings.Fields(strings.ToLower(query))
	for i, s := range t.doc.Sections {
		for _, v := range s.Values {
			text := strings.ToLower(strings.Join([]string{s.Title + "." + v.Label, strings.ReplaceAll(v.Label, "_", " "), v.Text, v.From, v.Line}, " "))
			if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) }) {
				t.fits = append(t.fits, fitting{v, i})
			}
		}
	}
	t.at = max(0, slices.IndexFunc(t.fits, func(f fitting) bool { return f.Line != "" }))
}

func (t *Tabbed) action(a keymap.Action) {
	switch a {
	case keymap.TabNext:
		t.tab(1)
	case keymap.TabPrevious:
		t.tab(-1)
	case keymap.Pick:
		t.choose()
	case keymap.PickErase:
		t.search(edit.DropLast(t.query))
	case keymap.PickClear:
		t.search("")
	case keymap.PickClose:
		t.o.OnClose()
	default:
		t.move(a)
	}
}

// move selects another value, or scrolls if none can be selected.
func (t *Tabbed) move(a keymap.Action) {
	if !t.picks {
		t.window.Move(moves[a])
		return
	}
	switch a {
	case keymap.PickUp:
		t.at--
	case keymap.PickDown:
		t.at++
	case keymap.PickPageUp:
		t.at -= max(1, t.place.H-1)
	case keymap.PickPageDown:
		t.at += max(1, t.place.H-1)
	case keymap.PickFirst:
		t.at = 0
	case keymap.PickLast:
		t.at = len(t.fits)
	}
	t.at = max(0, min(t.at, len(t.fits)-1))
}

// tab requests another document: by is the number of tabs to go forward, or back if negative.
func (t *Tabbed) tab(by int) {
	n := len(t.doc.Tabs)
	if i := slices.IndexFunc(t.doc.Tabs, func(d show.Deed) bool { return d.Label == t.asked }); i >= 0 {
		t.ask(t.doc.Tabs[(i+by+n)%n])
	}
}

func (t *Tabbed) ask(tab show.Deed) {
	t.asked = tab.Label
	t.o.OnTab(tab)
}

func (t *Tabbed) choose() {
	if v, ok := t.selected(); ok {
		t.o.OnChoose(v)
	}
}

func (t *Tabbed) selected() (v show.Value, ok bool) {
	if !t.picks || t.at >= len(t.fits) {
		return v, false
	}
	return t.fits[t.at].Value, true
}

// PasteHandler pastes into the search, or into the line being asked for.
func (t *Tabbed) PasteHandler() func(string, func(tview.Primitive)) {
	return t.WrapPasteHandler(func(text string, _ func(tview.Primitive)) {
		text = texts.OneLine(text)
		switch {
		case t.line != nil:
			t.line.editor.Insert(text)
		case len(t.query)+len(text) <= maxFilter:
			t.search(t.query + text)
		}
	})
}

// MouseHandler switches to a clicked tab, selects a value, and chooses the selected one.
func (t *Tabbed) MouseHandler() func(tview.MouseAction, *tcell.EventMouse, func(tview.Primitive)) (bool, tview.Primitive) {
	return t.WrapMouseHandler(func(action tview.MouseAction, ev *tcell.EventMouse, _ func(tview.Primitive)) (bool, tview.Primitive) {
		x, y := ev.Position()
		switch {
		case !t.InRect(x, y) || t.line != nil:
			return false, nil
		case action == tview.MouseScrollUp:
			t.scroll(-draw.WheelRows)
		case action == tview.MouseScrollDown:
			t.scroll(draw.WheelRows)
		case action == tview.MouseLeftClick || action == tview.MouseLeftDoubleClick:
			t.click(x, y)
		default:
			return false, nil
		}
		return true, nil
	})
}

func (t *Tabbed) scroll(by int) {
	if t.picks {
		t.at = max(0, min(t.at+by, len(t.fits)-1))
	} else {
		t.window.Top += by
	}
}

func (t *Tabbed) click(x, y int) {
	for i, p := range t.tabs {
		if y == p.y && x >= p.from && x < p.to && i < len(t.doc.Tabs) {
			t.ask(t.doc.Tabs[i])
			return
		}
	}
	row := t.window.Top + y - t.place.Y
	if y < t.place.Y || y >= t.place.Y+t.place.H || row >= len(t.rows) || t.rows[row].value < 0 || !t.picks {
		return
	}
	if before := t.at; before == t.rows[row].value {
		t.choose()
	}
	t.at = t.rows[row].value
}

// Draw draws the tabs, the search, the visible rows, and notices or keys.
func (t *Tabbed) Draw(screen tcell.Screen) {
	in := t.Bordered(screen, draw.Titles{Left: []draw.Span{draw.Text(themes.Strong, t.doc.Title)}}).Cleared().Inset()
	if in.W <= 0 || in.H < 3 {
		return
	}
	t.drawTabs(in.Canvas)
	t.drawSearch(in.Down(1))
	last := t.last(in.W)
	last = last[:min(len(last), in.H-2)]
	rows := draw.Area{Canvas: in.Down(2), H: in.H - 2 - len(last)}
	in.Below(in.H - len(last)).Rows(last)
	t.drawRows(rows)
	if t.line != nil && len(last) > 0 {
		label := last[0]
		t.line.editor.SetWidth(edit.Room(in.W, label))
		row := in.Below(in.H - len(last))
		edit.Draw(draw.Area{Canvas: row.At(draw.Width(label)), H: 1}, t.line.editor, t.HasFocus())
	}
	t.DrawMore(screen, t.window, len(t.rows))
}

func (t *Tabbed) drawTabs(c draw.Canvas) {
	t.tabs = t.tabs[:0]
	col := 0
	for _, d := range t.doc.Tabs {
		role := themes.Muted
		if d.Label == t.doc.Title {
			role = themes.Selection
		}
		end := c.Spans(col, draw.Clip([]draw.Span{draw.Text(role, " "+d.Label+" ")}, c.W-col)...)
		t.tabs = append(t.tabs, tabPlace{c.Y, c.X + col, c.X + end})
		col = end + 1
	}
}

func (t *Tabbed) drawSearch(c draw.Canvas) {
	col := c.Say(0, "> ", themes.Accent)
	typed := draw.Untrusted(themes.Text, t.query)
	if draw.Width(typed) > c.W-col-1 {
		typed = lastOf(t.query, c.W-col-1)
	}
	end := c.Spans(col, typed...)
	if t.query == "" {
		c.Spans(col, draw.Clip([]draw.Span{draw.Text(themes.Muted, "type to search")}, c.W-col)...)
	}
	if t.HasFocus() && t.line == nil {
		c.Screen.ShowCursor(c.X+min(end, c.W-1), c.Y)
	}
}

// last returns the last rows: the label of a text being asked for, a notice, or the line of the selected value; then
// the keys.
func (t *Tabbed) last(w int) [][]draw.Span {
	hints := draw.HintsOf(t.Keys, t.Scope())
	if t.line == nil { // only keys with an effect
		hints = slices.DeleteFunc(hints, func(h draw.Hint) bool {
			return !t.picks && slices.Contains(t.Keys.Keys(keymap.Pick), h.Key) || len(t.doc.Tabs) == 0 && slices.Contains(t.Keys.Keys(keymap.TabNext), h.Key)
		})
	}
	keys := draw.HintRow(hints, w)
	v, _ := t.selected()
	switch {
	case t.line != nil:
		return [][]draw.Span{draw.Clip([]draw.Span{draw.Text(themes.Accent, t.line.label+" ")}, w/2), keys}
	case t.notice != "":
		return append(draw.AtMost(draw.WrapSentence(draw.Untrusted(themes.Warning, t.notice), w), rowsOfNotice, w), keys)
	case !t.picks:
		return [][]draw.Span{keys}
	}
	about := draw.AtMost(draw.WrapSentence(draw.Untrusted(themes.Muted, v.Line), w), rowsOfLine, w)
	for len(about) < rowsOfLine {
		about = append(about, nil)
	}
	return append(about, keys)
}

func (t *Tabbed) drawRows(in draw.Area) {
	t.place = in
	if in.H <= 0 {
		return
	}
	if t.laid != in.W {
		t.lay(in.W)
	}
	if t.picks {
		for i, r := range t.rows {
			if r.value == t.at {
				top := i
				for top > 0 && t.rows[top-1].value < 0 { // with the title of its section
					top--
				}
				t.window.Top = max(min(t.window.Top, top), i-in.H+1)
				break
			}
		}
	}
	from, to := t.window.Show(len(t.rows), in.H)
	if from == to {
		in.Say(2, "No match", themes.Muted)
	}
	for i := from; i < to; i++ {
		r, c := t.rows[i], in.Down(i-from)
		if t.picks && r.value == t.at {
			c.Fill(0, c.W, t.Palette[themes.Selection])
			c.Say(0, "▸", themes.Selection)
			r.label, r.text, r.from = selected(r.label), selected(r.text), selected(r.from)
		}
		t.drawRow(c, r)
	}
}

// selected returns spans in the role of a selected row.
func selected(spans []draw.Span) []draw.Span {
	spans = slices.Clone(spans)
	for i := range spans {
		spans[i].Style = markup.Style{Role: themes.Selection}
	}
	return spans
}

// columns returns the widths of labels and origins.
func (t *Tabbed) columns(w int) (label, from int) {
	for _, s := range t.doc.Sections {
		for _, v := range s.Values {
			label = max(label, draw.Width(draw.Untrusted(themes.Text, v.Label)))
			from = max(from, draw.Width(draw.Untrusted(themes.Text, v.From)))
		}
	}
	return min(label, widestLabel, w/3), min(from, widestFrom, w/3)
}

func (t *Tabbed) drawRow(c draw.Canvas, r tabbedRow) {
	if r.value < 0 {
		c.Spans(0, r.label...)
		return
	}
	label, from := t.columns(c.W)
	c.Spans(2, r.label...)
	c.Spans(2+label+columnGap, r.text...)
	c.Spans(c.W-from, r.from...)
}

// lay makes the rows for a width: the matching values, with the titles of their sections.
func (t *Tabbed) lay(w int) {
	t.laid, t.rows = w, nil
	label, from := t.columns(w)
	for i, v := range t.fits {
		room := w - 2 - label - columnGap
		if v.From != "" {
			room -= from + columnGap
		}
		room = max(room, 1)
		if i == 0 || v.section != t.fits[i-1].section {
			if i > 0 {
				t.rows = append(t.rows, tabbedRow{value: -1})
			}
			t.rows = append(t.rows, tabbedRow{value: -1, label: draw.Clip(draw.Untrusted(themes.Strong, t.doc.Sections[v.section].Title), w)})
		}
		row := tabbedRow{value: i, label: draw.Clip(draw.Untrusted(themes.Muted, v.Label), label), from: endOf(v.From, from, themes.Muted)}
		if t.picks {
			row.text = draw.Clip(draw.Untrusted(themes.Text, v.Text), room)
			t.rows = append(t.rows, row)
			continue
		}
		for _, row.text = range draw.AtMost(draw.WrapSentence(draw.Untrusted(themes.Text, v.Text), room), rowsOfValue, room) {
			t.rows = append(t.rows, row)
			row.label, row.from = nil, nil
		}
	}
}

// endOf returns a text. If the text does not fit, its start is cut, because its end may be the line number in a file.
func endOf(text string, room int, role themes.Role) []draw.Span {
	if whole := draw.Untrusted(role, text); draw.Width(whole) <= room {
		return whole
	}
	spans := []draw.Span{draw.Text(role, "…")}
	for _, s := range lastOf(text, room-1) {
		s.Style.Role = role
		spans = append(spans, s)
	}
	return spans
}
