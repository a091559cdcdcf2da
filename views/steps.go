package views

import (
	"fmt"

	"buddy/app/state"
	"buddy/texts"
	"buddy/themes"
	"buddy/views/draw"
)

// stepSign returns the sign of a step, its role and the role of the text.
func stepSign(s state.StepState) (glyph string, sign, text themes.Role) {
	switch s {
	case state.StepDone:
		return s.Sign(), themes.ToolOK, themes.Muted
	case state.StepWorking:
		return s.Sign(), themes.Running, themes.Strong
	}
	return s.Sign(), themes.Muted, themes.Text
}

// stepItem returns a step as a row or a part of a row.
func stepItem(s state.Step) []draw.Span {
	glyph, sign, text := stepSign(s.State)
	return append([]draw.Span{draw.Text(sign, glyph+" ")}, draw.Untrusted(text, texts.OneLine(s.Text))...)
}

// stepsTitle returns the progress, for example "plan 1/3".
func stepsTitle(s state.Steps) string { return fmt.Sprintf("plan %d/%d", s.Done(), len(s)) }

// stepsLine returns the steps in one row: all of them or, if w cells are too few, the current one.
func stepsLine(s state.Steps, w int) (line []draw.Span, all bool) {
	title := draw.Text(themes.Muted, stepsTitle(s))
	line = []draw.Span{title}
	for _, step := range s {
		if line = append(append(line, draw.Text(themes.Text, "  ")), stepItem(step)...); draw.Width(line) > w {
			return append([]draw.Span{title, draw.Text(themes.Text, "  ")}, stepItem(s[s.Current()])...), false
		}
	}
	return line, true
}

// stepRows returns the number of rows of the whole list in w cells.
func stepRows(s state.Steps, w int) int {
	if len(s) == 0 {
		return 0
	}
	if _, all := stepsLine(s, w); all {
		return 1
	}
	return 1 + len(s)
}

// drawSteps draws a list of steps. If there are too few rows, it draws the steps around the current one, and the
// numbers of steps above and below them.
func drawSteps(in draw.Area, s state.Steps) {
	if in.H <= 0 || len(s) == 0 {
		return
	}
	c := in.Inset()
	line, all := stepsLine(s, c.W)
	if all || in.H == 1 {
		c.Spans(0, draw.Clip(line, c.W)...)
		return
	}
	rows := in.H - 1
	top := max(0, min(s.Current()-(rows-1)/2, len(s)-rows))
	end := min(len(s), top+rows)
	title := stepsTitle(s)
	if top > 0 {
		title += fmt.Sprintf(" · ↑ %d", top)
	}
	if end < len(s) {
		title += fmt.Sprintf(" · ↓ %d", len(s)-end)
	}
	c.Say(0, draw.Cut(title, c.W), themes.Muted)
	for i, step := range s[top:end] {
		c.Down(i+1).Spans(1, draw.Clip(stepItem(step), c.W-1)...)
	}
}
