package dialog

import (
	"strings"

	"github.com/gdamore/tcell/v2"

	"buddy/app/keymap"
	"buddy/themes"
	"buddy/views/draw"
)

// CheatSheet shows the most important keys in a few rows above the prompt. It handles no keys.
type CheatSheet struct{ draw.Frame }

// NewCheatSheet returns the sheet.
func NewCheatSheet(theme *themes.Theme, keys *keymap.Map) *CheatSheet {
	return &CheatSheet{draw.NewFrame(theme, keys)}
}

// basic is a key that everybody needs: the key of an action, or a typed character.
type basic struct {
	action keymap.Action
	typed  string
	label  string
}

// basics are the keys of the sheet, by column.
var basics = []basic{
	{keymap.Send, "", "send"},
	{keymap.Newline, "", "new line"},
	{"", "/", "commands"},
	{"", "@", "files"},
	{"", "!", "shell"},
	{keymap.Back, "", "stop"},
	{keymap.Rewind, "Esc Esc", "rewind"},
	{keymap.CycleMode, "", "modes"},
	{keymap.NextPane, "", "panes"},
	{keymap.PasteImage, "", "paste a picture"},
	{keymap.Detach, "", "detach"},
	{keymap.ShowHelp, "", "all keys"},
}

// sheetColumns returns the number of columns in w cells.
func sheetColumns(w int) int {
	if w < 66 {
		return 2
	}
	return 3
}

// Size returns the size of the sheet on a screen of w columns.
func (c *CheatSheet) Size(w int) (width, rows int) { return w, len(basicRows(c.Keys, w)) + 2 }

// Draw draws the rows between two rules.
func (c *CheatSheet) Draw(screen tcell.Screen) {
	in := c.Whole(screen).Cleared()
	if in.H < 3 {
		return
	}
	in.Edge('─', '─', themes.Border, []draw.Span{draw.Text(themes.Strong, "Keys")}, []draw.Span{draw.Text(themes.Muted, "any key closes")})
	in.Down(in.H-1).Edge('─', '─', themes.Border, nil, nil)
	draw.Area{Canvas: in.Down(1).At(draw.Padding), H: in.H - 2}.Rows(basicRows(c.Keys, in.W))
}

// basicRows returns the rows of the sheet in w cells.
func basicRows(keys *keymap.Map, w int) [][]draw.Span {
	columns := sheetColumns(w)
	each := (len(basics) + columns - 1) / columns
	rows := make([][]draw.Span, each)
	wide := (w - draw.Padding) / columns
	for first := 0; first < len(basics); first += each {
		names, room := make([]string, each), 0
		for i := range names {
			b := basics[first+i]
			if names[i] = b.typed; names[i] == "" {
				names[i] = keys.Name(b.action)
			}
			room = max(room, draw.TextWidth(names[i]))
		}
		for i, name := range names {
			cell := draw.Clip([]draw.Span{
				draw.Text(themes.Key, name+strings.Repeat(" ", room-draw.TextWidth(name)+2)), draw.Text(themes.Text, basics[first+i].label),
			}, wide-1)
			rows[i] = append(append(rows[i], cell...), draw.Text(themes.Text, strings.Repeat(" ", max(wide-draw.Width(cell), 0))))
		}
	}
	return rows
}
