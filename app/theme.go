package app

import (
	"os"
	"path/filepath"

	"buddy/app/ui"
	"buddy/config"
	"buddy/themes"
)

// coloursOf returns the themes that there are for this command line.
func coloursOf(f *flags) ui.Colours {
	c := ui.Colours{Plain: f.noColor || os.Getenv("NO_COLOR") != ""}
	if dir := config.Dir(); dir != "" {
		c.Dir = filepath.Join(dir, "themes")
	}
	return c
}

// firstTheme returns the name of the theme to begin with, of the command line or else of the
// configuration, and the theme.
func firstTheme(f *flags, p *program) (string, *themes.Theme, error) {
	c := coloursOf(f)
	if f.theme != "" {
		t, err := c.Load(f.theme)
		if err != nil {
			return "", nil, usage("--theme: %v", err)
		}
		return f.theme, t, nil
	}
	name := p.config.UI.Theme
	t, err := c.Load(name)
	if err != nil {
		return "", nil, exit{code: exitUsage, text: p.index.Error(config.Path("ui", "theme"), err).Error()}
	}
	return name, t, nil
}
