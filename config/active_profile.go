package config

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"buddy/agent/model"
	"buddy/texts"
)

// checkProfileNames checks the profile names in settings other than agent.model.
func (l *loader) checkProfileNames() error {
	for _, o := range []struct{ key, name string }{
		{"agent.fallback_model", l.cfg.Agent.FallbackModel}, {"agent.small_model", l.cfg.Agent.SmallModel},
	} {
		if _, ok := l.cfg.Lookup(o.name); !ok && o.name != "" {
			return l.index.Error(o.key, l.noProfile(o.name))
		}
	}
	return nil
}

// selectProfile determines the active profile: from the files, then overrides by the environment and the command line,
// then a provider with a known key.
func (l *loader) selectProfile(o Options) error {
	if err := l.configured(); err != nil {
		return err
	}
	if err := l.checkProfileNames(); err != nil {
		return err
	}
	baseURL, baseFrom := l.override("--base-url", o.BaseURL, envBaseURL)
	if baseFrom != "" {
		var err error
		if baseURL, err = cleanURL(baseURL, true); err != nil {
			return &Error{Place: baseFrom, Err: err}
		}
	}
	if model, from := l.override("--model", o.Model, envModel); from != "" {
		if err := l.chooseModel(model, from, baseURL); err != nil {
			return err
		}
	}
	if baseFrom == "" {
		l.detected()
	}
	if l.cfg.Active == nil {
		if baseFrom != "" && l.cfg.Problem != "" {
			return &Error{Place: baseFrom, Err: errors.New("needs a model: name one with --model or " + envModel.name)}
		}
		return nil
	}
	return l.finish(baseURL, baseFrom)
}

// detected selects the first provider that has a key, if the files select no profile and the demo was not requested.
func (l *loader) detected() {
	if l.cfg.Active != nil || l.cfg.Problem == "" || len(l.cfg.Models) > 0 {
		return
	}
	if p, ok := detect(); ok {
		profile := p.Profile("")
		l.cfg.Active, l.cfg.Problem = &profile, ""
	}
}

// finish applies another endpoint to the active profile, if one is given, and sets Problem.
func (l *loader) finish(baseURL, baseFrom string) error {
	p := l.cfg.Active
	if baseFrom != "" {
		p.BaseURL, p.Prices = baseURL, model.Price{} // prices belong to an endpoint
	} else if p.bundled {
		if _, baseFrom = p.moved(p.section()); baseFrom != "" {
			if _, err := cleanURL(p.BaseURL, true); err != nil {
				return &Error{Place: baseFrom, Err: err}
			}
		}
	}
	if baseFrom != "" {
		l.index[Path("models", p.Name, "api_base_url")] = baseFrom
	}
	l.cfg.Problem = p.Problem()
	if _, source, err := p.Key(); err == nil && os.Getenv(source) != keyOf(source) {
		l.notice("%s has spaces or a line break around the key; buddy left them out", source)
	}
	if p.KeyFile != "" && l.cfg.Problem == "" {
		if info, err := os.Stat(p.KeyFile); err == nil {
			l.noticeOpenFile(p.KeyFile, info.Mode())
		}
	}
	return nil
}

// configured sets the active profile from the files, or the problem.
func (l *loader) configured() error {
	name := l.cfg.Agent.Model
	if name != "" {
		p, ok := l.cfg.Lookup(name)
		if !ok && name != Demo {
			return l.index.Error("agent.model", l.noProfile(name))
		}
		if ok {
			l.cfg.Active = &p
		}
		return nil
	}
	var problems []string
	for _, p := range l.cfg.Models {
		problem := p.Problem()
		if problem == "" || len(l.cfg.Models) == 1 {
			l.cfg.Active = &p
			return nil
		}
		problems = append(problems, problem)
	}
	if len(problems) > 0 {
		l.cfg.Problem = visible("no model can be used: "+texts.Some(problems), 1000)
		return nil
	}
	where := l.userFile
	if where == "" {
		where = "a file for --config" // the home folder is unknown
	}
	l.cfg.Problem = visible(fmt.Sprintf("no model is configured: run buddy init, or set a key such as OPENAI_API_KEY, or add [models.NAME] to %s, or use --base-url and --model; --model demo tries buddy without one", where), 1000)
	return nil
}

// chooseModel applies --model or BUDDY_MODEL: a profile, else the demo, else a bundled profile, else PROFILE/MODEL,
// else a raw model id on the active profile or, if no profile is active, on the endpoint at baseURL.
func (l *loader) chooseModel(name, from, baseURL string) error {
	if err := checkID(name); err != nil {
		return &Error{Place: from, Err: err}
	}
	l.index["agent.model"] = from
	p, ok := l.cfg.Lookup(name)
	if ok && p.bundled && (baseURL != "" || l.takesVendorIDs(name)) {
		ok = false
	}
	switch {
	case ok:
		l.cfg.Active, l.cfg.Problem = &p, ""
	case name == Demo:
		l.cfg.Active, l.cfg.Problem = nil, ""
	case l.cfg.Active != nil:
		l.cfg.Active.Model, l.cfg.Active.Prices = name, model.Price{} // prices belong to a model
		l.index[Path("models", l.cfg.Active.Name, "model")] = from
	case baseURL != "":
		l.cfg.Active = &Profile{Name: name, Model: name, API: Completions}
	default:
		return &Error{Place: from, Err: fmt.Errorf("%w; for a raw model id give --base-url too", l.noProfile(name))}
	}
	return nil
}

// takesVendorIDs reports whether an id such as "openai/gpt-oss-120b" belongs to the active profile, so that no
// conversation is sent to the named company by mistake.
func (l *loader) takesVendorIDs(model string) bool {
	first, _, slash := strings.Cut(model, "/")
	if !slash || slices.ContainsFunc(servers, func(s Provider) bool { return s.Name == first }) {
		return false
	}
	if p, ok := detect(); ok && p.Name != first && p.Profile("").takesVendorIDs() {
		l.detected()
	}
	return l.cfg.Active != nil && l.cfg.Active.takesVendorIDs() && l.cfg.Active.Name != first
}

func (l *loader) noProfile(name string) error {
	near := ""
	var known []string
	whole := make(map[string]string) // the original spelling of a name
	for _, p := range providers {
		known = append(known, p.Name, p.Model)
		whole[p.Name], whole[p.Model] = p.Name, p.Name+"/"+p.Model
	}
	for short, long := range shortNames {
		known = append(known, short)
		whole[short] = long
	}
	slices.Sort(known) // the nearest name is always the same
	if n := nearest(name, known); n != "" {
		near = ", but buddy has " + whole[n]
	}
	if len(l.cfg.Models) == 0 {
		return fmt.Errorf("no profile %q: none is defined%s", name, near)
	}
	names := make([]string, len(l.cfg.Models))
	for i, p := range l.cfg.Models {
		names[i] = p.Name
	}
	return fmt.Errorf("no profile %q %s%s", name, list(names, name), near)
}
