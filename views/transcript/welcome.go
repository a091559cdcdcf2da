package transcript

import (
	"strings"

	"buddy/themes"
	"buddy/views/draw"
)

// drawWelcome draws the lines of the first screen.
func drawWelcome(in draw.Area, lines []string) {
	wide := 0
	for _, line := range lines {
		wide = max(wide, draw.TextWidth(line))
	}
	left := max((in.W-wide)/2, min(2, in.W))
	rows := welcomeRows(lines, in.W-2*left)
	first := max((in.H-len(rows))/3, 0)
	for y := range in.H {
		row := in.Down(y)
		row.Fill(0, row.W, in.Palette[themes.Text])
		if i := y - first; i >= 0 && i < len(rows) {
			row.At(left).Say(0, draw.Shorten(rows[i].text, max(row.W-left, 0)), rows[i].role)
		}
	}
}

// welcomeRow holds a row of the first screen.
type welcomeRow struct {
	text string
	role themes.Role
}

// welcomeRows breaks the lines that are wider than w.
func welcomeRows(lines []string, w int) []welcomeRow {
	var rows []welcomeRow
	for i, line := range lines {
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
