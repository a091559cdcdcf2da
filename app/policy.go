package app

import (
	"context"
	"fmt"
	"io"
	"os"

	"buddy/agent/action"
	"buddy/agent/policy"
	"buddy/app/slash"
	"buddy/config"
	"buddy/tools/target"
	"buddy/tools/toolset"
)

// newPolicy gives p the rules of the configuration. An error names the place of one that makes
// no sense.
func newPolicy(p policy.Policy, c config.Config) (policy.Policy, error) {
	for _, r := range c.Rules {
		rule := ruleOf(r)
		if err := checkRule(rule, c); err != nil {
			return p, exit{code: exitUsage, text: fmt.Sprintf("%s: %s: %v", r.Place, r.Decision, err)}
		}
		p.Rules = append(p.Rules, rule)
	}
	return p, nil
}

// checkRule says what is wrong with a rule, where there are the targets of c.
func checkRule(r action.Rule, c config.Config) error {
	targets := []string{slash.ThisMachine}
	for _, t := range c.Targets {
		targets = append(targets, t.Name)
	}
	return policy.Check(r, toolset.Names(), targets)
}

// ruleOf is a rule of the configuration as the policy has it.
func ruleOf(r config.Rule) action.Rule {
	rule := action.Rule{
		Decision: action.Decision(r.Decision), Tool: r.Tool, Prefix: r.Prefix, Path: r.Path, Host: r.Host, Target: r.Target,
		Source: action.FromUser,
	}
	if r.Project {
		rule.Source = action.FromProject
	}
	return rule
}

// explained judges a command as a session that the flags mean would, on its first target.
func explained(f *flags, command string) (policy.Explanation, error) {
	none := policy.Explanation{}
	c, _, _, err := loadConfig(f)
	if err != nil {
		return none, mistake(err)
	}
	t, err := newDestination(f)
	if err != nil {
		return none, err
	}
	defer func() { _ = t.close() }() // it was only looked at
	if err := t.connect(io.Discard); err != nil {
		return none, err
	}
	env, err := t.Look(f.dir)
	if err != nil {
		return none, failed(err)
	}
	if t.Away != nil {
		return none, failed(t.Away)
	}
	if env.Also, err = t.folders(f.also); err != nil {
		return none, err
	}
	var o target.Options
	o.Env, o.Reach.Withheld = c.Environ(os.Environ())
	if t.Host == nil {
		o.Sandbox, _ = sandbox(c.Sandbox, []string{env.Dir}, os.TempDir())
	}
	there, err := t.Open(env, o)
	if err != nil {
		return none, failed(err)
	}
	defer there.Close(context.Background(), func(string, ...any) {}) // nothing runs there
	judge, err := newPolicy(policy.Policy{Shell: c.Tools.ShellName(), At: func(string) policy.Target { return there.Facts() }}, c)
	if err != nil {
		return none, err
	}
	return judge.Explain(f.approve, t.Name, command, there.Files.Root()), nil
}
