package transcript

import (
	"slices"

	"buddy/themes"
	"buddy/views/draw"
)

// drawWelcome draws the lines of the first screen.
func drawWelcome(in draw.Area, lines []string) {
	left := welcomeLeft(in.W, lines)
	rows := welcomeRows(lines, in.W-2*left)
	first := max((in.H-len(rows))/3, 0)
	for y := range in.H {
		row := in.Down(y)
		row.Fill(0, row.W, in.Palette[themes.Text])
		if i := y - first; i >= 0 && i < len(rows) {
			row = row.At(left)
			col := row.Say(0, rows[i].digit, themes.Key)
			row.Say(col, draw.Shorten(rows[i].text, max(row.W-col, 0)), rows[i].role)
		}
	}
}

// welcomeLeft returns the indentation of the lines, in cells.
func welcomeLeft(w int, lines []string) int {
	wide := 0
	for _, line := range lines {
		wide = max(wide, draw.TextWidth(line))
	}
	return max((w-wide)/2, min(2, w))
}

type welcomeRow struct {
	digit, text string
	role        themes.Role
}

// welcomeRows wraps lines at w cells, except examples, which start with the digit key that chooses them.
func welcomeRows(lines []string, w int) []welcomeRow {
	var rows []welcomeRow
	for i, line := range lines {
		if len(line) > 4 && line[0] == ' ' && line[1] >= '1' && line[1] <= '9' {
			rows = append(rows, welcomeRow{line[:4], line[4:], themes.Text})
			continue
		}
		role := themes.Muted
		if i == 0 {
			role = themes.Accent
		}
		for _, part := range draw.WrapWords(line, w) {
			rows = append(rows, welcomeRow{"", part, role})
		}
	}
	return rows
}

// drawFirst draws the first screen if the conversation has only notices, and returns the area below it for them. It
// draws nothing if there is no room for both.
func drawFirst(c *Conversation, rows draw.Area) draw.Area {
	if len(c.view.blocks) > rows.H || slices.ContainsFunc(c.view.blocks, func(v *blockView) bool { return !v.block.Kind.Notice() }) {
		return rows
	}
	need := 1
	for i := range c.view.blocks {
		need += c.view.height(i)
	}
	top := rows.H - need
	if top < len(welcomeRows(c.welcome, rows.W-2*welcomeLeft(rows.W, c.welcome))) {
		return rows
	}
	drawWelcome(draw.Area{Canvas: rows.Canvas, H: top}, c.welcome)
	c.head += top
	rows = rows.Below(top)
	c.place(rows)
	return rows
}
