package draw

import (
	"buddy/themes"
	"buddy/views/markup"
)

// SearchLine draws a search line, with a status at its right end if there is room. With the focus it puts the screen's
// cursor after the text.
func SearchLine(row Canvas, query string, status []Span, focus bool) {
	row.Fill(0, row.W, row.Palette[themes.Text])
	room := row.W - 1
	if n := Width(status); n > 0 && n+12 < row.W {
		row.Cols(row.W-n, row.W).Spans(0, status...)
		room -= n + 1
	}
	col := row.Cols(0, room).Say(0, "find: ", themes.Accent)
	text := Untrusted(themes.Text, query)
	for col+Width(text) > room && len(text) > 0 { // keep the end, because it is being typed
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
