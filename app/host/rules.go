package host

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/app/compose"
	"buddy/config"
	"buddy/texts"
)

// settings holds the configuration that the session uses. It is compared with changed settings files, to apply changed
// rules at once and to name the changes that need a restart. Screens apply changed themes and keys.
type settings struct {
	began config.Config // at the start of the session
	now   config.Config // with the rules in force

	shown   map[string]bool // notices that were already shown
	wrong   string          // the error shown last; "" for none
	pending []string        // settings that need a restart, as shown last
}

func newSettings(p *compose.Setup) *settings {
	s := &settings{began: p.Config, now: p.Config, shown: make(map[string]bool)}
	for _, n := range p.Notices {
		s.shown[n] = true
	}
	return s
}

// reloaded holds the result of applying changed settings.
type reloaded struct {
	notices []string
	warning string
	rules   bool // whether to replace the rules
}

// apply applies a reading, or changes nothing if it has an error.
func (s *settings) apply(r compose.Reading) (t reloaded) {
	if r.Err != nil {
		if text := strings.ReplaceAll(r.Err.Error(), "\n", " "); text != s.wrong {
			t.warning, s.wrong = text, text
		}
		return t
	}
	mended := s.wrong != ""
	s.wrong = ""
	if r.Live && rulesDiffer(s.now.Rules, r.Config.Rules) {
		s.now.Rules = r.Config.Rules
		t.rules = true
	}
	t.notices = s.news(r, t.rules, mended)
	return t
}

// rulesDiffer compares rules without their locations.
func rulesDiffer(a, b []config.Rule) bool {
	return len(config.Changed(&config.Config{Rules: a}, &config.Config{Rules: b})) > 0
}

// news returns the notices about a reading that was applied.
func (s *settings) news(r compose.Reading, rules, mended bool) []string {
	var all []string
	// A changed project file may ask for trust in other values of the same keys.
	project := r.Config.Project.Print != s.now.Project.Print
	s.now.Project = r.Config.Project
	for _, n := range r.Notices {
		if project || !s.shown[n] {
			s.shown[n] = true
			all = append(all, n)
		}
	}
	began := s.began
	began.UI.Theme, began.Keys = r.Config.UI.Theme, r.Config.Keys
	if r.Live {
		began.Rules = r.Config.Rules
		began.UI.StatusCommand, began.UI.StatusSandbox = r.Config.UI.StatusCommand, r.Config.UI.StatusSandbox
	}
	pending := config.Changed(&began, &r.Config)
	var parts []string
	if rules {
		parts = append(parts, "Settings reloaded: rules")
	}
	if !slices.Equal(pending, s.pending) && len(pending) > 0 {
		parts = append(parts, "these settings apply after a restart or /session new: "+texts.Some(pending))
	}
	if s.pending = pending; len(parts) == 0 && mended {
		parts = append(parts, "The settings are valid again")
	}
	if len(parts) > 0 {
		all = append(all, strings.Join(parts, "; "))
	}
	return all
}

// watchRules applies changed rules until the session is over.
func (h *Host) watchRules() {
	used := newSettings(&h.program.Setup)
	read := func() {
		r := compose.ReadSettings(h.flags)
		h.reload(used.apply(r), r.Rules)
	}
	if err := compose.WatchSettings(h.ctx, h.flags, "", read); err != nil {
		h.readAtPrompts(read, err)
	}
}

// watchExtensions reloads skills and commands when their files change, until the session is over.
func (h *Host) watchExtensions() {
	if err := h.program.WatchExtensions(h.ctx); err != nil {
		h.readAtPrompts(h.program.RereadExtensions(), err)
	}
}

// unwatched holds the functions that read files which can't be watched.
type unwatched struct {
	mu   sync.Mutex // guards read, and is held while the files are read
	read []func()
}

// readAtPrompts makes read run before each prompt, because its files can't be watched, and shows a notice about that
// once.
func (h *Host) readAtPrompts(read func(), why error) {
	h.unwatched.mu.Lock()
	defer h.unwatched.mu.Unlock()
	if len(h.unwatched.read) == 0 {
		h.program.Live.Publish(event.Notice{Text: fmt.Sprintf("buddy can't watch files, so changed settings, skills and commands apply at your next prompt: %v", why), Code: "config"})
	}
	h.unwatched.read = append(h.unwatched.read, read)
}

// readUnwatched reads the files that can't be watched.
func (h *Host) readUnwatched() {
	h.unwatched.mu.Lock()
	defer h.unwatched.mu.Unlock()
	for _, read := range h.unwatched.read {
		read()
	}
}

// reload applies rules and publishes the notices of a reading.
func (h *Host) reload(t reloaded, rules []action.Rule) {
	if t.rules {
		h.program.Live.SetRules(rules)
	}
	if t.warning != "" {
		h.program.Live.Publish(event.Warning{Text: t.warning, Code: "config", NextStep: "the previous settings stay until you fix it"})
	}
	for _, n := range t.notices {
		h.program.Live.Publish(event.Notice{Text: n, Code: "config"})
	}
}
