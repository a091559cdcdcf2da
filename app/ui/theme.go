package ui

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gdamore/tcell/v2"

	"buddy/themes"
)

// Colours are the themes that there are.
type Colours struct {
	Dir   string // of a person's own; "" for none
	Plain bool   // no colours are wanted
	Light bool   // the terminal's background, until the terminal reports it
}

// Load returns a theme by its name. For auto it is the one for the background that the terminal is believed to have.
func (c Colours) Load(name string) (*themes.Theme, error) {
	switch {
	case name == themes.Auto && c.Light:
		name = "light"
	case name == themes.Auto:
		name = "dark"
	}
	t, err := themes.Load(c.Dir, name)
	if err == nil && c.Plain {
		t = t.WithoutColor()
	}
	return t, err
}

// colouring keeps the colours of the screen: those that a person chose, or those for the
// terminal's background.
type colouring struct {
	*Looks
	views []coloured
	ask   func() // the terminal for its background
}

// coloured is implemented by everything that has colours.
type coloured interface{ SetTheme(*themes.Theme) }

// set changes the colours of everything.
func (c *colouring) set(t *themes.Theme) {
	c.Theme = t
	for _, v := range c.views {
		v.SetTheme(t)
	}
}

// follow makes the colours those for the terminal's background, as soon as it tells.
func (c *colouring) follow() {
	c.Auto = true
	c.ask()
}

// background learns the terminal's background.
func (c *colouring) background(of tcell.Color) {
	if !c.Auto {
		return
	}
	name := "dark"
	if r, g, b := of.RGB(); 299*r+587*g+114*b > 127_500 { // how bright the eye finds it, of 255,000
		name = "light"
	}
	if name == c.Theme.Name {
		return
	}
	if t, err := c.Colours.Load(name); err == nil { // built in: it can be read
		c.set(t)
	}
}

// take makes the colours those of the theme of a name.
func (c *colouring) take(name string) error {
	t, err := c.Colours.Load(name)
	if err != nil {
		return errors.New(strings.ReplaceAll(err.Error(), "\n", " "))
	}
	c.use(name, t)
	return nil
}

// use makes the colours those of a theme that was read by that name.
func (c *colouring) use(name string, t *themes.Theme) {
	c.set(t)
	if c.Auto = name == themes.Auto; c.Auto {
		c.follow()
	}
}

// theme changes the colours, or lists what there is.
func theme(u *UI, name string) error {
	if name == "" {
		pickTheme(&u.overlays, &u.colours, u.Tell)
		return nil
	}
	err := u.colours.take(name)
	if err == nil {
		u.Tell(keepTheme(name))
	}
	return err
}

// keepTheme says that a theme is used, for how long, and how it is kept.
func keepTheme(name string) string {
	return fmt.Sprintf("Theme %s is used in this session. To keep it, set [ui] theme = %q in your settings.", name, name)
}

// Follow makes the colours those for the terminal's background, as soon as it tells.
func (u *UI) Follow() { u.colours.follow() }

// TakeTheme makes the colours those of the theme of that name.
func (u *UI) TakeTheme(name string, t *themes.Theme) { u.colours.use(name, t) }

// Theme is the theme in use, and whether it follows the terminal's background.
func (u *UI) Theme() (t *themes.Theme, auto bool) { return u.colours.Theme, u.colours.Auto }
