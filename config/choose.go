package config

import (
	"errors"
	"fmt"
	"os"
)

// others checks the names of the profiles beside the active one.
func (l *loader) others() error {
	for _, o := range []struct{ key, name string }{
		{"agent.fallback_model", l.cfg.Agent.FallbackModel}, {"agent.small_model", l.cfg.Agent.SmallModel},
	} {
		if _, ok := l.cfg.Profile(o.name); !ok && o.name != "" {
			return l.index.Error(o.key, l.noProfile(o.name))
		}
	}
	return nil
}

// choose settles the active profile (SPEC "Decisions" 5): what the files say, then what
// environment and command line put in its place.
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
		if baseURL, err = cleanURL(baseURL); err != nil {
			return &Error{Place: baseFrom, Err: err}
		}
	}
	if model, from := l.override("--model", o.Model, envModel); from != "" {
		if err := l.chooseModel(model, from, baseURL); err != nil {
			return err
		}
	}
	p := l.cfg.Active
	if p == nil {
		if baseFrom != "" && l.cfg.Problem != "" {
			return &Error{Place: baseFrom, Err: errors.New("no model to use there: name one with --model or " + envModel.name)}
		}
		return nil
	}
	if baseFrom != "" {
		p.BaseURL, p.Prices = baseURL, Prices{} // they are another endpoint's
		l.index[Path("models", p.Name, "api_base_url")] = baseFrom
	}
	l.cfg.Problem = p.problem()
	if p.KeyFile != "" && l.cfg.Problem == "" {
		if info, err := os.Stat(p.KeyFile); err == nil {
			l.noticeOpenFile(p.KeyFile, info.Mode())
		}
	}
	return nil
}

// configured sets the active profile as the files have it, or the problem.
func (l *loader) configured() error {
	name := l.cfg.Agent.Model
	if name != "" {
		p, ok := l.cfg.Profile(name)
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
		problem := p.problem()
		if problem == "" || len(l.cfg.Models) == 1 {
			l.cfg.Active = &p
			return nil
		}
		problems = append(problems, problem)
	}
	if len(problems) > 0 {
		l.cfg.Problem = visible("no model can be used: "+some(problems), 1000)
		return nil
	}
	where := l.mine
	if where == "" {
		where = "a file for --config" // no home is known
	}
	l.cfg.Problem = visible(fmt.Sprintf("no model is configured: add [models.NAME] to %s, or use --base-url and --model", where), 1000)
	return nil
}

// chooseModel applies --model or BUDDY_MODEL: a profile, else the demo, else a raw model
// id on the active profile or, where there is none, on the endpoint given beside it.
func (l *loader) chooseModel(model, from, baseURL string) error {
	if err := checkID(model); err != nil {
		return &Error{Place: from, Err: err}
	}
	l.index["agent.model"] = from
	p, ok := l.cfg.Profile(model)
	switch {
	case ok:
		l.cfg.Active = &p
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

func (l *loader) noProfile(name string) error {
	if len(l.cfg.Models) == 0 {
		return fmt.Errorf("no profile %q: none is defined", name)
	}
	names := make([]string, len(l.cfg.Models))
	for i, p := range l.cfg.Models {
		names[i] = p.Name
	}
	return fmt.Errorf("no profile %q %s", name, list(names, name))
}
