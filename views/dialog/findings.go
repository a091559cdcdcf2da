package dialog

import (
	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/texts"
	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/markup"
)

// Findings is a dialog with the findings of a review: a list of them, and below it all of the one that is
// selected.
type Findings struct {
	draw.Frame
	title  string
	all    []event.Finding
	at     int // the one that is selected
	laid   int // the one that the body shows
	said   string
	window draw.Viewport // of the list
	list   pickerPlace
	body   body

	OnOpen  func(n int) // the file of that one is wanted
	OnCopy  func(text string)
	OnClose func()
}

// NewFindings returns a dialog with findings, of which there must be one; all that they say is untrusted text.
func NewFindings(theme *themes.Theme, keys *keymap.Map, title string, all []event.Finding) *Findings {
	return &Findings{Frame: draw.NewFrame(theme, keys), title: title, all: all}
}

// Scope returns the scope in which keys are looked up.
func (f *Findings) Scope() keymap.Scope { return keymap.Findings }

// Select goes to a finding, from 0.
func (f *Findings) Select(n int) { f.at = max(0, min(n, len(f.all)-1)) }

// Say shows a text until the next key.
func (f *Findings) Say(text string) { f.said = text }

// Press walks the list, scrolls what the selected finding says, and opens its file.
func (f *Findings) Press(p keymap.Press) {
	f.said = ""
	switch a := p.Action; {
	case a == keymap.FindingNext:
		f.Select(f.at + 1)
	case a == keymap.FindingPrevious:
		f.Select(f.at - 1)
	case a == keymap.OpenFinding && f.OnOpen != nil:
		f.OnOpen(f.at)
	case a == keymap.CopyFinding && f.OnCopy != nil:
		f.OnCopy(f.all[f.at].String())
	case (a == keymap.CloseFindings || a == keymap.Back) && f.OnClose != nil:
		f.OnClose()
	default:
		f.body.Move(a)
	}
}

// MouseHandler selects a finding and opens it with another click; it scrolls and selects text below the list.
func (f *Findings) MouseHandler() func(tview.MouseAction, *tcell.EventMouse, func(tview.Primitive)) (bool, tview.Primitive) {
	return f.WrapMouseHandler(func(action tview.MouseAction, ev *tcell.EventMouse, _ func(tview.Primitive)) (bool, tview.Primitive) {
		x, y := ev.Position()
		if f.body.mark.down || x < f.list.x || x >= f.list.x+f.list.w || y < f.list.y || y >= f.list.y+f.list.h {
			f.body.onCopy = f.OnCopy
			return mouseIn(&f.Frame, &f.body, action, ev), nil
		}
		switch action {
		case tview.MouseScrollUp:
			f.Select(f.at - draw.WheelRows)
		case tview.MouseScrollDown:
			f.Select(f.at + draw.WheelRows)
		case tview.MouseLeftClick, tview.MouseLeftDoubleClick:
			f.said = ""
			n := f.window.Top + y - f.list.y
			if n == f.at && f.OnOpen != nil {
				f.OnOpen(n)
			}
			f.Select(n)
		default:
			return false, nil
		}
		return true, nil
	})
}

// CopySelection gives what is selected to OnCopy and reports whether there was something.
func (f *Findings) CopySelection() bool {
	f.body.onCopy = f.OnCopy
	return f.body.CopySelection()
}

// Draw draws the list, what there is room for of the selected finding, and what is said.
func (f *Findings) Draw(screen tcell.Screen) {
	titles := draw.Titles{Left: append([]draw.Span{draw.Text(themes.Strong, "Findings ")}, draw.Untrusted(themes.Muted, f.title)...)}
	in := f.Bordered(screen, titles).Cleared().Inset()
	if in.W <= 0 || in.H < 2 {
		return
	}
	var last [][]draw.Span
	if f.said != "" {
		last = draw.AtMost(draw.WrapSentence(draw.Untrusted(themes.Warning, f.said), in.W), max(1, min(rowsOfSaying, in.H-2)), in.W)
	}
	room := in.H - len(last)
	in.Below(room).Rows(last)
	rows := min(len(f.all), max(1, room*2/5))
	f.drawList(draw.Area{Canvas: in.Canvas, H: rows})
	gap := min(1, max(0, room-rows-3)) // a blank row where there is room for it
	f.drawFinding(draw.Area{Canvas: in.Down(rows + gap), H: max(0, room-rows-gap)})
	f.DrawMore(screen, f.body.Viewport, len(f.body.rows))
}

// drawList draws the list with the selection in view.
func (f *Findings) drawList(in draw.Area) {
	f.list = pickerPlace{x: in.X, y: in.Y, w: in.W, h: in.H}
	f.window.Top = max(min(f.window.Top, f.at), f.at-in.H+1)
	from, to := f.window.Show(len(f.all), in.H)
	grades, places := 0, 0
	for i := range f.all {
		grades = max(grades, min(draw.TextWidth(string(f.all[i].Severity)), len(event.SeverityCritical)))
		places = max(places, draw.Width(draw.Untrusted(themes.Text, f.all[i].Place())))
	}
	places = min(places, max(in.W/3, 10))
	for i := from; i < to; i++ {
		row, role, side := in.Down(i-from), themes.Text, themes.Muted
		grade := gradeRole(f.all[i].Severity)
		if i == f.at {
			role, side, grade = themes.Selection, themes.Selection, themes.Selection
			row.Fill(0, row.W, f.Palette[role])
			row.Say(0, "▸", role)
		}
		col := 2
		row.Spans(col, draw.Clip(draw.Untrusted(grade, string(f.all[i].Severity)), grades)...)
		col += grades + columnGap
		row.Spans(col, endOf(f.all[i].Place(), places, side)...)
		col += places + columnGap
		row.Spans(col, draw.Clip(draw.Untrusted(role, f.all[i].Text), row.W-col)...)
	}
}

// endOf returns a text, or its end if it is longer than there is room for: there stands the line of a file.
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

// gradeRole returns the role of the name of a severity.
func gradeRole(s event.Severity) themes.Role {
	switch s {
	case event.SeverityMedium:
		return themes.Warning
	case event.SeverityLow:
		return themes.Muted
	}
	return themes.Error // one that is not understood counts as the worst
}

// drawFinding draws all that the selected finding says.
func (f *Findings) drawFinding(in draw.Area) {
	if in.H == 0 {
		return
	}
	if f.body.width != in.W || f.laid != f.at {
		if f.laid != f.at {
			f.body.Top = 0
		}
		f.laid = f.at
		f.body.relay(in.W)
		one := f.all[f.at]
		f.body.add(0, nil, append(append(draw.Untrusted(themes.Strong, one.Place()), draw.Text(themes.Muted, " · ")), draw.Untrusted(gradeRole(one.Severity), one.Grade())...), in.W)
		if one.Note != "" {
			f.body.addWords(0, draw.Untrusted(themes.Warning, one.Note), in.W)
		}
		f.body.addWords(0, draw.Untrusted(themes.Text, one.Text), in.W)
		switch fix := one.Fix; {
		case fix == "":
		case markup.IsDiff(fix):
			f.body.addDiff(0, markup.NewDiff(fix, markup.DiffView{}), in.W)
		default:
			f.body.addWords(0, append([]draw.Span{draw.Text(themes.Accent, "fix ")}, draw.Untrusted(themes.Text, texts.OneLine(fix))...), in.W)
		}
	}
	f.body.draw(in)
}
