package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"buddy/agent/action"
	"buddy/agent/policy"
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
	targets := []string{onThisMachine}
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
		return none, exit{code: exitUsage, text: err.Error()}
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
		return none, exit{code: exitFailed, text: t.Away.Error()}
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

// policyCommand explains verdicts without running anything.
func policyCommand(f *flags, stdout *os.File) *cobra.Command {
	c := &cobra.Command{
		Use:   "policy",
		Short: "what may run without asking, and why",

		Example: "  buddy policy explain 'git log | head; rm x'",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	asJSON := false
	explain := &cobra.Command{
		Use:   "explain COMMAND",
		Short: "judge a shell command as if the model had called it; nothing runs",
		Long: "explain prints whether a command would run, be asked about or be denied, what each part of it\n" +
			"does, and why. It exits 0 when it would run without a question, 1 otherwise.",
		Example: "  buddy policy explain 'git log | head; rm x'\n  buddy policy explain --approve plan --json 'go test ./...'\n  buddy policy explain --target web 'docker ps'",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			e, err := explained(f, args[0])
			if err != nil {
				return err
			}
			text := e.String()
			if asJSON {
				data, err := json.MarshalIndent(e, "", "  ")
				if err != nil {
					return exit{code: exitFailed, text: err.Error()}
				}
				text = string(data) + "\n"
			}
			if _, err := stdout.WriteString(text); err != nil {
				return exit{code: exitFailed, text: fmt.Sprintf("stdout: %v", err)}
			}
			if e.Verdict.Decision != action.Allow {
				return exit{code: exitFailed}
			}
			return nil
		},
	}
	explain.Flags().BoolVar(&asJSON, "json", false, "print all that is known as JSON")
	explain.Flags().Var((*modeFlag)(&f.approve), "mode", "the mode to judge under, as --approve")
	complete(explain, "mode", onlyThese, modeNames)
	c.AddCommand(explain)
	return c
}
