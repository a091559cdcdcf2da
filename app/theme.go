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
func firstTheme(f *flags, settings config.Config, index config.Index) (string, *themes.Theme, error) {
	c := coloursOf(f)
	if f.theme != "" {
		t, err := c.Load(f.theme)
		if err != nil {
			return "", nil, usage("--theme: %v", err)
		}
		return f.theme, t, nil
	}
	name := settings.UI.Theme
	t, err := c.Load(name)
	if err != nil {
		return "", nil, mistake(index.Error(config.Path("ui", "theme"), err))
	}
	return name, t, nil
}
