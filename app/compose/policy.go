package compose

import (
	"context"
	"fmt"
	"io"
	"os"

	"buddy/agent/action"
	"buddy/agent/policy"
	"buddy/app/exit"
	"buddy/app/slash"
	"buddy/config"
	"buddy/tools/target"
	"buddy/tools/toolset"
)

// newPolicy gives p the rules of the configuration. An error names the place of one that makes
// no sense.
func newPolicy(p policy.Policy, c config.Config) (policy.Policy, error) {
	for _, r := range c.Rules {
		rule := RuleOf(r)
		if err := CheckRule(rule, c); err != nil {
			return p, exit.Error{Code: exit.BadUsage, Text: fmt.Sprintf("%s: %s: %v", r.Place, r.Decision, err)}
		}
		p.Rules = append(p.Rules, rule)
	}
	return p, nil
}

// CheckRule says what is wrong with a rule, where there are the targets of c.
func CheckRule(r action.Rule, c config.Config) error {
	targets := []string{slash.ThisMachine}
	for _, t := range c.Targets {
		targets = append(targets, t.Name)
	}
	return policy.Check(r, toolset.Names(), targets)
}

// RuleOf is a rule of the configuration as the policy has it.
func RuleOf(r config.Rule) action.Rule {
	rule := action.Rule{
		Decision: action.Decision(r.Decision), Tool: r.Tool, Prefix: r.Prefix, Path: r.Path, Host: r.Host, Target: r.Target,
		Source: action.FromUser,
	}
	if r.Project {
		rule.Source = action.FromProject
	}
	return rule
}

// Explained judges a command as a session that the flags mean would, on its first target.
func Explained(f *Options, command string) (policy.Explanation, error) {
	none := policy.Explanation{}
	c, _, _, err := LoadConfig(f)
	if err != nil {
		return none, exit.Mistake(err)
	}
	t, err := NewDestination(f)
	if err != nil {
		return none, err
	}
	defer func() { _ = t.Close() }() // it was only looked at
	if err := t.Reach(io.Discard); err != nil {
		return none, err
	}
	env, err := t.Look(f.Dir)
	if err != nil {
		return none, exit.Failure(err)
	}
	if t.Away != nil {
		return none, exit.Failure(t.Away)
	}
	if env.Also, err = t.folders(f.Also); err != nil {
		return none, err
	}
	var o target.Options
	o.Env, o.Reach.Withheld = c.Environ(os.Environ())
	if t.Host == nil {
		o.Sandbox, _ = sandbox(c.Sandbox, []string{env.Dir}, os.TempDir())
	}
	there, err := t.Open(env, o)
	if err != nil {
		return none, exit.Failure(err)
	}
	defer there.Close(context.Background(), func(string, ...any) {}) // nothing runs there
	judge, err := newPolicy(policy.Policy{Shell: c.Tools.ShellName(), At: func(string) policy.Target { return there.Facts() }}, c)
	if err != nil {
		return none, err
	}
	return judge.Explain(f.Approve, t.Name, command, there.Files.Root()), nil
}
