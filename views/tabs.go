package views

import (
	"github.com/gdamore/tcell/v2"

	"buddy/app/keymap"
	"buddy/themes"
	"buddy/views/draw"
)

// TabBar names panes that share one place on a narrow screen. It is drawn over the lower
// border of that place.
type TabBar struct {
	draw.Frame
	names  []string
	active int
}

// NewTabBar returns a bar without tabs, which draws nothing.
func NewTabBar(theme *themes.Theme, keys *keymap.Map) *TabBar {
	return &TabBar{Frame: draw.NewFrame(theme, keys)}
}

// SetTabs gives the names, which are ours, and which of them shows.
func (t *TabBar) SetTabs(names []string, active int) { t.names, t.active = names, active }

// Draw draws the names that fit.
func (t *TabBar) Draw(screen tcell.Screen) {
	c := t.Whole(screen)
	used := 1
	for i, name := range t.names {
		role, text := themes.Muted, " "+name+" "
		if i == t.active {
			role, text = themes.Accent, " ● "+name+" "
		}
		if used+draw.TextWidth(text) > c.W {
			return
		}
		used = c.Say(used, text, role) + 1
	}
}
