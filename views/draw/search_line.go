package draw

import (
	"buddy/themes"
	"buddy/views/markup"
)

// SearchLine draws the line that takes what is searched for, with how that goes at its right
// end where there is room. With the focus the screen's cursor is put behind the text.
func SearchLine(row Canvas, query string, status []Span, focus bool) {
	row.Fill(0, row.W, row.Palette[themes.Text])
	room := row.W - 1
	if n := Width(status); n > 0 && n+12 < row.W {
		row.Cols(row.W-n, row.W).Spans(0, status...)
		room -= n + 1
	}
	col := row.Cols(0, room).Say(0, "find: ", themes.Accent)
	text := Untrusted(themes.Text, query)
	for col+Width(text) > room && len(text) > 0 { // its end is what is being typed
		n, _ := markup.Cluster([]byte(text[0].Text))
		if text[0].Text = text[0].Text[n:]; text[0].Text == "" {
			text = text[1:]
		}
	}
	col = row.Cols(0, max(room, 0)).Spans(col, text...)
	if focus && col < row.W {
		row.Screen.ShowCursor(row.X+col, row.Y)
	}
}
