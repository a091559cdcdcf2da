package fullscreen

import (
	"cmp"
	"os"
	"strconv"
	"strings"

	"buddy/app/compose"
	"buddy/app/exit"
	"buddy/app/ui"
	"buddy/config"
	"buddy/themes"
	"buddy/views"
)

// Colours returns the available themes for this command line.
func Colours(f *compose.Options) ui.Colours {
	return ui.Colours{Dir: compose.ThemeDir(), Plain: f.NoColor || os.Getenv("NO_COLOR") != "", Light: lightBackground(os.Getenv("COLORFGBG"))}
}

// lightBackground reads COLORFGBG, which rxvt, Konsole and others set to the colour numbers of text and background,
// such as "15;0" or "0;default;15". The same numbers count as light as in Vim (:help 'background').
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

// LooksOf returns the screen's initial theme and colours. The command line has priority over the settings.
func LooksOf(f *compose.Options, settings config.Config, index config.Index) (ui.Looks, error) {
	name, c := cmp.Or(f.Theme, settings.UI.Theme), coloursOf(f, settings)
	t, err := c.Load(name)
	switch {
	case err != nil && f.Theme != "":
		return ui.Looks{}, exit.Usage("--theme: %v", err)
	case err != nil:
		return ui.Looks{}, exit.Mistake(index.Error(config.Path("ui", "theme"), err))
	}
	return ui.Looks{Theme: t, Colours: c, Auto: name == themes.Auto, Header: views.Shown{Tokens: settings.UI.ShowTokens}}, nil
}
