package fullscreen

import (
	"maps"
	"slices"
	"strings"

	"buddy/agent/event"
	"buddy/app/compose"
	"buddy/app/ui"
	"buddy/config"
	"buddy/texts"
	"buddy/themes"
)

// settings holds what of the configuration is in use, for taking over what changes while
// the program runs: the theme, the keys and the rules. It belongs to the UI goroutine,
// but for read.
type settings struct {
	flags *compose.Options
	began config.Config // as the session began
	now   config.Config // theme, keys and rules as they are in use

	said    map[string]bool // notices that were shown
	wrong   string          // the mistake that was shown last; "" is none
	pending []string        // keys that wait for the next start, as they were shown last
}

func newSettings(f *compose.Options, p *compose.Program) *settings {
	s := &settings{flags: f, began: p.Config, now: p.Config, said: make(map[string]bool)}
	for _, n := range p.Notices {
		s.said[n] = true
	}
	return s
}

// takenOver holds what to tell the person of a reading.
type takenOver struct {
	notices []string
	warning string
	rules   bool // the rules are to be replaced
}

// takeOver makes the screen what a reading says, or leaves everything as it is when that
// is wrong.
func (s *settings) takeOver(u *ui.UI, r compose.Reading) (t takenOver) {
	name, theme, err := s.newTheme(u, r)
	if r.Err != nil {
		err = r.Err
	}
	if err != nil {
		if text := strings.ReplaceAll(err.Error(), "\n", " "); text != s.wrong {
			t.warning, s.wrong = text, text
		}
		return t
	}
	mended := s.wrong != ""
	s.wrong = ""
	var taken []string
	if theme != nil {
		u.TakeTheme(name, theme)
		taken = append(taken, "theme")
	}
	s.now.UI.Theme = r.Config.UI.Theme
	if !maps.EqualFunc(s.now.Keys, r.Config.Keys, slices.Equal) {
		u.TakeKeys(r.Keys)
		s.now.Keys = r.Config.Keys
		taken = append(taken, "keys")
	}
	if r.Live && rulesDiffer(s.now.Rules, r.Config.Rules) {
		s.now.Rules = r.Config.Rules
		t.rules = true
		taken = append(taken, "rules")
	}
	t.notices = s.news(r, taken, mended)
	return t
}

// rulesDiffer ignores where rules stand in their files.
func rulesDiffer(a, b []config.Rule) bool {
	return len(config.Changed(&config.Config{Rules: a}, &config.Config{Rules: b})) > 0
}

// newTheme returns the theme to change to and its name; nil leaves the one that is there.
func (s *settings) newTheme(u *ui.UI, r compose.Reading) (name string, t *themes.Theme, err error) {
	c := Colours(s.flags)
	if name = r.Config.UI.Theme; r.Err == nil && name != s.now.UI.Theme && s.flags.Theme == "" {
		if t, err = c.Load(name); err != nil {
			err = r.Index.Error(config.Path("ui", "theme"), err)
		}
		return name, t, err
	}
	// The one in use may be the person's own, whose file has changed.
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

// news returns what to say of a reading that was taken over.
func (s *settings) news(r compose.Reading, taken []string, mended bool) []string {
	var all []string
	// A project's file that changed may ask for trust in other values of the same keys.
	project := r.Config.Project.Print != s.now.Project.Print
	s.now.Project = r.Config.Project
	for _, n := range r.Notices {
		if project || !s.said[n] {
			s.said[n] = true
			all = append(all, n)
		}
	}
	began := s.began
	began.UI.Theme, began.Keys = r.Config.UI.Theme, r.Config.Keys
	if r.Live {
		began.Rules = r.Config.Rules
	}
	pending := config.Changed(&began, &r.Config)
	var parts []string
	if len(taken) > 0 {
		parts = append(parts, "settings taken over: "+strings.Join(taken, ", "))
	}
	if !slices.Equal(pending, s.pending) && len(pending) > 0 {
		parts = append(parts, "waiting for the next start or /session new: "+texts.Some(pending))
	}
	if s.pending = pending; len(parts) == 0 && mended {
		parts = append(parts, "the settings are right again")
	}
	if len(parts) > 0 {
		all = append(all, strings.Join(parts, "; "))
	}
	return all
}

// reload takes over a reading and says so in the stream. UI goroutine only.
func (w *window) reload(s *settings, r compose.Reading) {
	t := s.takeOver(w.ui, r)
	if t.rules {
		w.program.Live.SetRules(r.Rules)
	}
	if r.Err == nil {
		w.program.Config.Project = r.Config.Project // what /trust is about
	}
	if t.warning != "" {
		w.program.Live.Publish(event.Warning{Text: t.warning, Code: "config", NextStep: "until it is right the settings stay as they were"})
	}
	for _, n := range t.notices {
		w.program.Live.Publish(event.Notice{Text: n, Code: "config"})
	}
}
