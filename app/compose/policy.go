package compose

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"buddy/agent/action"
	"buddy/agent/policy"
	"buddy/app/exit"
	"buddy/config"
	"buddy/tools/toolset"
)

// rulesOf returns the configured rules. An error has the location of the invalid rule.
func rulesOf(c config.Config) ([]action.Rule, error) {
	var all []action.Rule
	for _, r := range c.Rules {
		if err := CheckRule(r.Rule, c); err != nil {
			return nil, exit.Mistake(fmt.Errorf("%s: %s: %w", r.Place, r.Decision, err))
		}
		all = append(all, r.Rule)
	}
	return all, nil
}

// CheckRule returns an error if a rule is not valid for the targets of c.
func CheckRule(r action.Rule, c config.Config) error {
	return policy.Check(r, toolset.Names(), targetNames(c))
}

// Explained judges a command as a session with these options would on its first target. Nothing runs or is stored.
func Explained(f *Options, command string) (explained policy.Explanation, err error) {
	p := &Program{Setup: Setup{options: f}, Journal: &journal{}}
	if p.Config, p.Index, _, err = LoadConfig(f); err != nil {
		return explained, err
	}
	if p.Dest, err = NewDestination(f); err != nil {
		return explained, err
	}
	defer func() { _ = p.Dest.Close() }() // only read
	if err := p.Dest.Reach(io.Discard); err != nil {
		return explained, err
	}
	if err := p.look(cmp.Or(f.Dir, p.Dest.Cwd)); err != nil {
		return explained, err
	}
	if p.Dest.Away != nil {
		return explained, exit.Failure(p.Dest.Away)
	}
	judge, err := p.openTargets(f)
	if err != nil {
		return explained, err
	}
	defer p.Targets.Close(context.Background(), func(string) {}) // nothing runs there
	return judge.Explain(f.mode(p.Config), p.Dest.Name, command, p.Targets.First().Files.Root()), nil
}
