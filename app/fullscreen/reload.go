package fullscreen

import (
	"context"
	"maps"
	"slices"
	"strings"

	"buddy/agent/event"
	"buddy/app/compose"
	"buddy/app/ui"
	"buddy/config"
	"buddy/themes"
)

// settings holds the theme and keys in use, so that changes are applied while the program runs. Changed rules are
// applied by the session's host. Only the UI goroutine uses it.
type settings struct {
	flags *compose.Options
	now   config.Config // with the theme and keys in use
	wrong string        // the theme error shown last; "" for none
}

// apply applies the theme and keys of a reading. It changes nothing if the reading has an error, which the session's
// host reports. warning is an error in the theme.
func (s *settings) apply(u *ui.UI, r compose.Reading) (notice, warning string) {
	if r.Err != nil {
		return "", ""
	}
	name, theme, err := s.newTheme(u, r)
	if err != nil {
		text := strings.ReplaceAll(err.Error(), "\n", " ")
		if text == s.wrong {
			return "", ""
		}
		s.wrong = text
		return "", text
	}
	mended := s.wrong != ""
	s.wrong = ""
	var applied []string
	if theme != nil {
		u.UseTheme(name, theme)
		applied = append(applied, "theme")
	}
	s.now.UI.Theme = r.Config.UI.Theme
	if !maps.EqualFunc(s.now.Keys, r.Config.Keys, slices.Equal) {
		u.UseKeys(r.Keys)
		s.now.Keys = r.Config.Keys
		applied = append(applied, "keys")
	}
	switch {
	case len(applied) > 0:
		notice = "Settings reloaded: " + strings.Join(applied, ", ")
	case mended:
		notice = "The theme is valid again"
	}
	return notice, ""
}

// newTheme returns the theme to change to and its name. The theme is nil if it has not changed.
func (s *settings) newTheme(u *ui.UI, r compose.Reading) (name string, t *themes.Theme, err error) {
	c := coloursOf(s.flags, r.Config)
	if name = r.Config.UI.Theme; name != s.now.UI.Theme && s.flags.Theme == "" {
		if t, err = c.Load(name); err != nil {
			err = r.Index.Error(config.Path("ui", "theme"), err)
		}
		return name, t, err
	}
	// The theme in use may be the user's own, whose file has changed.
	now, auto := u.Theme()
	if name = now.Name; auto {
		return name, nil, nil
	}
	t, err = c.Load(name)
	if err != nil || *t == *now {
		return name, nil, err
	}
	return name, t, nil
}

// reload applies a reading and shows its notices. UI goroutine only.
func (w *window) reload(s *settings, r compose.Reading) {
	notice, warning := s.apply(w.ui, r)
	if r.Err == nil {
		w.setup.Config.Project = r.Config.Project // for /trust
		w.screen.SetMouse(r.Config.UI.Mouse)
		if r.Live {
			w.line.Use(statusCommand(&r.Config))
		}
	}
	if warning != "" {
		ui.Show(w.ui, event.Warning{Text: warning, Code: "config", NextStep: "the previous theme stays until you fix it"})
	}
	if notice != "" {
		ui.Show(w.ui, event.Notice{Text: notice, Code: "config"})
	}
}

// watchSettings applies changes of the settings until stop is called. stop waits until the files are no longer watched.
func (w *window) watchSettings(ctx context.Context, f *compose.Options) (stop func()) {
	used := &settings{flags: f, now: w.setup.Config}
	return w.whileShown(ctx, func(ctx context.Context) {
		read := func() {
			r := compose.ReadSettings(f)
			w.loop.Post(func() { w.reload(used, r) })
		}
		if compose.WatchSettings(ctx, f, Colours(f).Dir, read) != nil { // the session reports this, because it can't watch them either
			w.loop.Post(func() { w.unwatched = read })
		}
	})
}
