package ui

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gdamore/tcell/v2"

	"buddy/themes"
)

// Colours loads the available themes.
type Colours struct {
	Dir   string // the user's own themes; "" for none
	Plain bool   // whether colours are disabled
	Light bool   // the assumed terminal background, until the terminal reports it
}

// Load returns a theme by name. The name auto stands for the theme that fits the assumed background of the terminal.
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

// colouring holds the theme of the screen, which the user has chosen or which follows the terminal's background.
type colouring struct {
	*Looks
	views []coloured
	ask   func() // asks the terminal for its background
}

// coloured is implemented by everything that has colours.
type coloured interface{ SetTheme(*themes.Theme) }

// set changes the theme of all views.
func (c *colouring) set(t *themes.Theme) {
	c.Theme = t
	for _, v := range c.views {
		v.SetTheme(t)
	}
}

// follow switches to the theme for the terminal's background as soon as the terminal reports it.
func (c *colouring) follow() {
	c.Auto = true
	c.ask()
}

// background switches to the theme for the reported terminal background.
func (c *colouring) background(of tcell.Color) {
	if !c.Auto {
		return
	}
	name := "dark"
	if r, g, b := of.RGB(); 299*r+587*g+114*b > 127_500 { // brightness as the eye sees it, of 255,000
		name = "light"
	}
	if name == c.Theme.Name {
		return
	}
	if t, err := c.Colours.Load(name); err == nil { // built in, so it can be read
		c.set(t)
	}
}

// load loads and applies a theme by name.
func (c *colouring) load(name string) error {
	t, err := c.Colours.Load(name)
	if err != nil {
		return errors.New(strings.ReplaceAll(err.Error(), "\n", " "))
	}
	c.use(name, t)
	return nil
}

// use applies a theme that was loaded under a name.
func (c *colouring) use(name string, t *themes.Theme) {
	c.set(t)
	if c.Auto = name == themes.Auto; c.Auto {
		c.follow()
	}
}

// theme changes the theme, or opens the list of themes.
func theme(u *UI, name string) error {
	if name == "" {
		pickTheme(&u.overlays, &u.colours, u.ShowHint)
		return nil
	}
	err := u.colours.load(name)
	if err == nil {
		u.ShowHint(keepTheme(name))
	}
	return err
}

// keepTheme returns the message that a theme applies only to this session, and how to save it.
func keepTheme(name string) string {
	return fmt.Sprintf("Theme %s is used in this session. To keep it, set [ui] theme = %q in your settings.", name, name)
}

// Follow switches to the theme for the terminal's background as soon as the terminal reports it.
func (u *UI) Follow() { u.colours.follow() }

// UseTheme applies a theme that was loaded under a name.
func (u *UI) UseTheme(name string, t *themes.Theme) { u.colours.use(name, t) }

// Theme returns the theme in use, and whether it follows the terminal's background.
func (u *UI) Theme() (t *themes.Theme, auto bool) { return u.colours.Theme, u.colours.Auto }
