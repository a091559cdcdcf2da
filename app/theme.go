package app

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/gdamore/tcell/v2"

	"buddy/config"
	"buddy/themes"
)

// colours are the themes that there are.
type colours struct {
	dir   string // of a person's own; "" for none
	plain bool   // no colours are wanted
}

func coloursOf(f *flags) colours {
	c := colours{plain: f.noColor || os.Getenv("NO_COLOR") != ""}
	if dir := config.Dir(); dir != "" {
		c.dir = filepath.Join(dir, "themes")
	}
	return c
}

// load returns a theme by its name. For auto it is the one for dark terminals, which most
// are, until the background is known.
func (c colours) load(name string) (*themes.Theme, error) {
	if name == themes.Auto {
		name = "dark"
	}
	t, err := themes.Load(c.dir, name)
	if err == nil && c.plain {
		t = t.WithoutColor()
	}
	return t, err
}

// firstTheme returns the name of the theme to begin with, of the command line or else of the
// configuration, and the theme.
func firstTheme(f *flags, p *program) (string, *themes.Theme, error) {
	c := coloursOf(f)
	if f.theme != "" {
		t, err := c.load(f.theme)
		if err != nil {
			return "", nil, usage("--theme: %v", err)
		}
		return f.theme, t, nil
	}
	name := p.config.UI.Theme
	t, err := c.load(name)
	if err != nil {
		return "", nil, exit{code: exitUsage, text: p.index.Error(config.Path("ui", "theme"), err).Error()}
	}
	return name, t, nil
}

// follow makes the colours those for the terminal's background, as soon as it tells.
func (u *ui) follow() {
	u.deps.auto = true
	u.deps.askBackground()
}

// background learns the terminal's background.
func (u *ui) background(c tcell.Color) {
	if !u.deps.auto {
		return
	}
	name := "dark"
	if r, g, b := c.RGB(); 299*r+587*g+114*b > 127_500 { // how bright the eye finds it, of 255,000
		name = "light"
	}
	if name == u.deps.theme.Name {
		return
	}
	if t, err := u.deps.colours.load(name); err == nil { // built in: it can be read
		u.setTheme(t)
	}
}

// theme changes the colours, or lists what there is.
func theme(u *ui, name string) error {
	c := u.deps.colours
	if name == "" {
		u.pickTheme()
		return nil
	}
	t, err := c.load(name)
	if err != nil {
		return errors.New(strings.ReplaceAll(err.Error(), "\n", " "))
	}
	u.takeTheme(name, t)
	return nil
}

// takeTheme makes the colours those of the theme of that name.
func (u *ui) takeTheme(name string, t *themes.Theme) {
	u.setTheme(t)
	if u.deps.auto = name == themes.Auto; u.deps.auto {
		u.follow()
	}
}

// themeNow is the theme in use, and whether it follows the terminal's background.
func (u *ui) themeNow() (t *themes.Theme, auto bool) { return u.deps.theme, u.deps.auto }
