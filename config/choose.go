package config

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"buddy/texts"
)

// others checks the names of the profiles beside the active one.
func (l *loader) others() error {
	for _, o := range []struct{ key, name string }{
		{"agent.fallback_model", l.cfg.Agent.FallbackModel}, {"agent.small_model", l.cfg.Agent.SmallModel},
	} {
		if _, ok := l.cfg.Lookup(o.name); !ok && o.name != "" {
			return l.index.Error(o.key, l.noProfile(o.name))
		}
	}
	return nil
}

// choose settles the active profile: what the files say, then what
// environment and command line put in its place, then a provider whose key is there.
func (l *loader) choose(o Options) error {
	if err := l.configured(); err != nil {
		return err
	}
	if err := l.others(); err != nil {
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
			return &Error{Place: baseFrom, Err: errors.New("no model to use there: name one with --model or " + envModel.name)}
		}
		return nil
	}
	l.finish(baseURL, baseFrom)
	return nil
}

// detected makes the first provider that has a key the active profile, where the files
// have none and the demo was not asked for.
func (l *loader) detected() {
	if l.cfg.Active != nil || l.cfg.Problem == "" || len(l.cfg.Models) > 0 {
		return
	}
	if p, ok := detect(); ok {
		profile := p.Profile("")
		l.cfg.Active, l.cfg.Problem = &profile, ""
	}
}

// finish moves the active profile to another endpoint, if one is given, and says what is
// wrong with it.
func (l *loader) finish(baseURL, baseFrom string) {
	p := l.cfg.Active
	if baseFrom != "" {
		p.BaseURL, p.Prices = baseURL, Prices{} // they are another endpoint's
		l.index[Path("models", p.Name, "api_base_url")] = baseFrom
	}
	l.cfg.Problem = p.Problem()
	if p.KeyFile != "" && l.cfg.Problem == "" {
		if info, err := os.Stat(p.KeyFile); err == nil {
			l.noticeOpenFile(p.KeyFile, info.Mode())
		}
	}
}

// configured sets the active profile as the files have it, or the problem.
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
	where := l.mine
	if where == "" {
		where = "a file for --config" // no home is known
	}
	l.cfg.Problem = visible(fmt.Sprintf("no model is configured: run buddy init, or set a key such as OPENAI_API_KEY, or add [models.NAME] to %s, or use --base-url and --model", where), 1000)
	return nil
}

// chooseModel applies --model or BUDDY_MODEL: a profile, else the demo, else a profile that
// buddy has, else PROFILE/MODEL, else a raw model id on the active profile or, where there
// is none, on the endpoint given beside it.
func (l *loader) chooseModel(model, from, baseURL string) error {
	if err := checkID(model); err != nil {
		return &Error{Place: from, Err: err}
	}
	l.index["agent.model"] = from
	p, ok := l.cfg.Lookup(model)
	if ok && p.bundled && (baseURL != "" || l.sellsOthers(model)) {
		ok = false
	}
	switch {
	case ok:
		l.cfg.Active, l.cfg.Problem = &p, ""
	case model == Demo:
		l.cfg.Active, l.cfg.Problem = nil, ""
	case l.cfg.Active != nil:
		l.cfg.Active.Model, l.cfg.Active.Prices = model, Prices{} // they are another model's
		l.index[Path("models", l.cfg.Active.Name, "model")] = from
	case baseURL != "":
		l.cfg.Active = &Profile{Name: model, Model: model, API: Completions}
	default:
		return &Error{Place: from, Err: fmt.Errorf("%w; for a raw model id give --base-url too", l.noProfile(model))}
	}
	return nil
}

// sellsOthers tells whether an id such as "openai/gpt-oss-120b" is one of the active
// profile's: no conversation goes to a company that was not meant.
func (l *loader) sellsOthers(model string) bool {
	first, _, slash := strings.Cut(model, "/")
	if !slash || slices.ContainsFunc(servers, func(s Provider) bool { return s.Name == first }) {
		return false
	}
	if p, ok := detect(); ok && p.Name != first && p.Profile("").sellsOthers() {
		l.detected()
	}
	return l.cfg.Active != nil && l.cfg.Active.sellsOthers() && l.cfg.Active.Name != first
}

func (l *loader) noProfile(name string) error {
	near := ""
	known := make([]string, len(providers))
	for i, p := range providers {
		known[i] = p.Name
	}
	if n := nearest(name, known); n != "" {
		near = ", but buddy has " + n
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
