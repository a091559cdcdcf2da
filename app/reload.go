package app

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/policy"
	"buddy/app/keymap"
	"buddy/app/ui"
	"buddy/config"
	"buddy/texts"
	"buddy/themes"
)

// settings are what of the configuration is in use, for taking over what changes while
// the program runs: the theme, the keys and the rules. It belongs to the UI goroutine,
// but for read.
type settings struct {
	flags *flags
	began config.Config // as the session began
	now   config.Config // theme, keys and rules as they are in use

	said    map[string]bool // notices that were shown
	wrong   string          // the mistake that was shown last; "" is none
	pending []string        // keys that wait for the next start, as they were shown last
}

func newSettings(f *flags, p *program) *settings {
	s := &settings{flags: f, began: p.config, now: p.config, said: make(map[string]bool)}
	for _, n := range p.notices {
		s.said[n] = true
	}
	return s
}

// reading is the configuration as it is on the disk.
type reading struct {
	config  config.Config
	index   config.Index
	notices []string
	keys    *keymap.Map
	rules   []action.Rule
	live    bool // the rules may be taken over
	err     error
}

// read reads the configuration as a start would. Any goroutine may call it.
func (s *settings) read() reading {
	f := s.flags
	var r reading
	r.config, r.index, r.notices, r.err = config.Load(config.Options{Config: f.config, Model: f.model, BaseURL: f.baseURL, Trust: trustStore()})
	if r.err == nil {
		r.keys, r.err = boundKeys(r.config.Keys, r.index)
	}
	if r.err == nil {
		var judge policy.Policy
		judge, r.err = newPolicy(policy.Policy{}, r.config)
		r.rules = judge.Rules
	}
	for i := 0; i < len(r.config.Targets) && r.err == nil; i++ {
		_, r.err = configured(r.config.Targets[i], r.index)
	}
	r.live = rulesLive(f.config)
	return r
}

// rulesLive reports whether rules may be taken over while tools run: only if the policy asks
// about every change to the files that they come from, in all modes but "all". Else the
// model could edit itself a rule.
func rulesLive(explicit string) bool {
	return !slices.ContainsFunc(config.Sources(explicit, nil), func(s config.Source) bool {
		real, err := filepath.EvalSymlinks(s.Path)
		return s.Read && (filepath.Base(s.Path) != "buddy.toml" || err == nil && filepath.Base(real) != "buddy.toml")
	})
}

// takenOver is what came of a reading, for people.
type takenOver struct {
	notices []string
	warning string
	rules   bool // the rules are to be replaced
}

// takeOver makes the screen what a reading says, or leaves everything as it is when that
// is wrong (DECISIONS 38).
func (s *settings) takeOver(u *ui.UI, r reading) (t takenOver) {
	name, theme, err := s.newTheme(u, r)
	if r.err != nil {
		err = r.err
	}
	if err != nil {
		if text := oneLine(err).Error(); text != s.wrong {
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
	s.now.UI.Theme = r.config.UI.Theme
	if !maps.EqualFunc(s.now.Keys, r.config.Keys, slices.Equal) {
		u.TakeKeys(r.keys)
		s.now.Keys = r.config.Keys
		taken = append(taken, "keys")
	}
	if r.live && rulesDiffer(s.now.Rules, r.config.Rules) {
		s.now.Rules = r.config.Rules
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
func (s *settings) newTheme(u *ui.UI, r reading) (name string, t *themes.Theme, err error) {
	c := coloursOf(s.flags)
	if name = r.config.UI.Theme; r.err == nil && name != s.now.UI.Theme && s.flags.theme == "" {
		if t, err = c.Load(name); err != nil {
			err = r.index.Error(config.Path("ui", "theme"), err)
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

// news is what to say of a reading that was taken over.
func (s *settings) news(r reading, taken []string, mended bool) []string {
	var all []string
	// A project's file that changed may ask for trust in other values of the same keys.
	project := r.config.Project.Print != s.now.Project.Print
	s.now.Project = r.config.Project
	for _, n := range r.notices {
		if project || !s.said[n] {
			s.said[n] = true
			all = append(all, n)
		}
	}
	began := s.began
	began.UI.Theme, began.Keys = r.config.UI.Theme, r.config.Keys
	if r.live {
		began.Rules = r.config.Rules
	}
	pending := config.Changed(&began, &r.config)
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
func (w *window) reload(s *settings, r reading) {
	t := s.takeOver(w.ui, r)
	if t.rules {
		w.program.live.setRules(r.rules)
	}
	if r.err == nil {
		w.program.config.Project = r.config.Project // what /trust is about
	}
	if t.warning != "" {
		w.program.live.publish(event.Warning{Text: t.warning, Code: "config", NextStep: "until it is right the settings stay as they were"})
	}
	for _, n := range t.notices {
		w.program.live.publish(event.Notice{Text: n, Code: "config"})
	}
}
