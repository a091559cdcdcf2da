package fullscreen

import (
	"os"
	"strconv"
	"strings"

	"buddy/app/compose"
	"buddy/app/exit"
	"buddy/app/ui"
	"buddy/config"
	"buddy/themes"
)

// Colours returns the available themes for this command line.
func Colours(f *compose.Options) ui.Colours {
	return ui.Colours{Dir: compose.ThemeDir(), Plain: f.NoColor || os.Getenv("NO_COLOR") != "", Light: lightBackground(os.Getenv("COLORFGBG"))}
}

// lightBackground reads COLORFGBG, which rxvt, Konsole and others set to the colour numbers of text and background, such
// as "15;0" or "0;default;15". Which numbers are light is as in Vim (:help 'background').
func lightBackground(colours string) bool {
	n, err := strconv.Atoi(colours[strings.LastIndex(colours, ";")+1:])
	return err == nil && strings.Contains(colours, ";") && (n == 7 || n >= 9 && n <= 15)
}

// coloursOf is [Colours], without colours if the settings disable them.
func coloursOf(f *compose.Options, settings config.Config) ui.Colours {
	c := Colours(f)
	c.Plain = c.Plain || !settings.UI.Color
	return c
}

// FirstTheme returns the name of the theme at the start, from the command line, else from the settings, and that theme.
func FirstTheme(f *compose.Options, settings config.Config, index config.Index) (string, *themes.Theme, error) {
	c := coloursOf(f, settings)
	if f.Theme != "" {
		t, err := c.Load(f.Theme)
		if err != nil {
			return "", nil, exit.Usage("--theme: %v", err)
		}
		return f.Theme, t, nil
	}
	name := settings.UI.Theme
	t, err := c.Load(name)
	if err != nil {
		return "", nil, exit.Mistake(index.Error(config.Path("ui", "theme"), err))
	}
	return name, t, nil
}
