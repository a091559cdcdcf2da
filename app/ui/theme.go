package ui

import (
	"errors"
	"strings"

	"github.com/gdamore/tcell/v2"

	"buddy/themes"
)

// Colours are the themes that there are.
type Colours struct {
	Dir   string // of a person's own; "" for none
	Plain bool   // no colours are wanted
}

// Load returns a theme by its name. For auto it is the one for dark terminals, which most
// are, until the background is known.
func (c Colours) Load(name string) (*themes.Theme, error) {
	if name == themes.Auto {
		name = "dark"
	}
	t, err := themes.Load(c.Dir, name)
	if err == nil && c.Plain {
		t = t.WithoutColor()
	}
	return t, err
}

// Follow makes the colours those for the terminal's background, as soon as it tells.
func (u *UI) Follow() {
	u.deps.Auto = true
	u.deps.AskBackground()
}

// background learns the terminal's background.
func (u *UI) background(c tcell.Color) {
	if !u.deps.Auto {
		return
	}
	name := "dark"
	if r, g, b := c.RGB(); 299*r+587*g+114*b > 127_500 { // how bright the eye finds it, of 255,000
		name = "light"
	}
	if name == u.deps.Theme.Name {
		return
	}
	if t, err := u.deps.Colours.Load(name); err == nil { // built in: it can be read
		u.setTheme(t)
	}
}

// theme changes the colours, or lists what there is.
func theme(u *UI, name string) error {
	c := u.deps.Colours
	if name == "" {
		u.pickTheme()
		return nil
	}
	t, err := c.Load(name)
	if err != nil {
		return errors.New(strings.ReplaceAll(err.Error(), "\n", " "))
	}
	u.TakeTheme(name, t)
	return nil
}

// TakeTheme makes the colours those of the theme of that name.
func (u *UI) TakeTheme(name string, t *themes.Theme) {
	u.setTheme(t)
	if u.deps.Auto = name == themes.Auto; u.deps.Auto {
		u.Follow()
	}
}

// Theme is the theme in use, and whether it follows the terminal's background.
func (u *UI) Theme() (t *themes.Theme, auto bool) { return u.deps.Theme, u.deps.Auto }
