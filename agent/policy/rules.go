package policy

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"buddy/agent/action"
	"buddy/agent/policy/shell"
)

// denied returns the verdict for what every mode denies: harm without a sane use, protected
// paths, deny rules.
func (p Policy) denied(a action.Action, report shell.Report) (action.Verdict, bool) {
	deny := func(reason, rule string) (action.Verdict, bool) {
		return action.Verdict{Decision: action.Deny, Reason: reason, Rule: rule}, true
	}
	if report.Harm != "" {
		reason := report.Harm
		if report.Safer != "" {
			reason += "; instead: " + report.Safer
		}
		return deny(reason, "built-in: never run")
	}
	if r, ok := p.match(a, report, action.Deny); ok {
		return deny("a rule denies it: "+r.String(), r.String())
	}
	if a.Kind == action.FileWrite || a.Kind == action.FileDelete {
		if why := p.protectedReason(a.Path); why != "" && !p.lifted(a) {
			return deny(why+"; a rule that allows the path "+a.Path+" lifts this", "protected places")
		}
	}
	return action.Verdict{}, false
}

// lifted reports whether a rule of the user explicitly allows the path of a.
func (p Policy) lifted(a action.Action) bool {
	return slices.ContainsFunc(p.Rules, func(r action.Rule) bool {
		return r.Decision == action.Allow && r.Source != action.FromProject && r.Path != "" && p.matches(r, a, shell.Report{})
	})
}

// match returns the first matching rule with the decision d.
func (p Policy) match(a action.Action, report shell.Report, d action.Decision) (action.Rule, bool) {
	if d == action.Allow && isCommand(a.Kind) {
		return p.allowed(a, report)
	}
	for _, r := range p.Rules {
		if r.Decision != d || !p.matches(r, a, report) {
			continue
		}
		if d == action.Allow && (r.Source == action.FromProject || strings.ContainsAny(r.Path, "*?[{") && isDelicate(a)) {
			continue // a pattern was not meant for secrets or executed files
		}
		return r, true
	}
	return action.Rule{}, false
}

// allowed returns a rule if the rules and the literal core together cover every part of a
// command, which runs outside of the read-only sandbox. No rule covers what is not a command
// (a redirection, an assignment).
func (p Policy) allowed(a action.Action, report shell.Report) (action.Rule, bool) {
	if a.Kind == action.PaneKeys || len(report.Other) > 0 || len(report.Commands) == 0 || a.Privesc {
		return action.Rule{}, false
	}
	var used action.Rule
	for _, c := range report.Commands {
		i := slices.IndexFunc(p.Rules, func(r action.Rule) bool { return p.covers(r, a, c) })
		switch {
		case i >= 0:
			used = p.Rules[i]
		case !c.InCore():
			return action.Rule{}, false
		}
	}
	return used, used.Decision == action.Allow
}

// covers reports whether a rule allows one unwrapped command.
func (p Policy) covers(r action.Rule, a action.Action, c shell.Command) bool {
	return r.Decision == action.Allow && r.Source != action.FromProject && r.Path == "" && r.Host == "" && p.applies(r, a) &&
		len(c.Via) == 0 && c.Effect != shell.Privileged && len(r.Prefix) > 0 && begins(c, r.Prefix) && meant(r, c)
}

// meant reports whether a rule that matches the words of a command also permits its use of
// git. Changes of history and of uncommitted work need a rule in the settings that names them:
// a commit and a push by the words of the subcommand; rewriting, overwriting and deleting by
// the whole command.
func meant(r action.Rule, c shell.Command) bool {
	switch {
	case c.Git == nil:
		return true
	case r.Source == action.FromSession:
		return false
	case c.Git.Kind == shell.GitRecords, c.Git.Kind == shell.GitPublishes:
		return len(r.Prefix) >= c.Git.Words
	}
	return len(r.Prefix) == len(c.Argv)
}

// applies reports whether the tool and the target of a rule match.
func (p Policy) applies(r action.Rule, a action.Action) bool {
	if r.Tool != "" && r.Tool != a.Tool {
		return false
	}
	if r.Target == "" {
		return true
	}
	ok, _ := doublestar.Match(r.Target, a.Target)
	return ok || r.Target == a.Target
}

// matches reports whether a rule that asks or denies, or one for files and hosts, matches.
func (p Policy) matches(r action.Rule, a action.Action, report shell.Report) bool {
	if !p.applies(r, a) || r.Check() != nil {
		return false
	}
	if len(r.Prefix) > 0 && !slices.ContainsFunc(report.Commands, func(c shell.Command) bool { return begins(c, r.Prefix) || via(c, r.Prefix) }) {
		return false
	}
	if r.Host != "" && !hostMatches(r.Host, a.Host) {
		return false
	}
	if r.Path == "" {
		return true
	}
	if isCommand(a.Kind) {
		return p.names(r.Path, a, report)
	}
	return p.pathMatches(r.Path, a.Path)
}

// begins reports whether the words of a command begin with those of a prefix. A system folder
// before the program's name is ignored.
func begins(c shell.Command, prefix []string) bool {
	if len(c.Argv) < len(prefix) {
		return false
	}
	for i, want := range prefix {
		arg := c.Argv[i]
		if arg.Dynamic || arg.Text != want && (i > 0 || c.Name() != want) {
			return false
		}
	}
	return true
}

// via reports whether a command is run by the program that a prefix of one word names, such as
// sudo or xargs.
func via(c shell.Command, prefix []string) bool {
	return len(prefix) == 1 && slices.ContainsFunc(c.Via, func(v string) bool { return v == prefix[0] || strings.HasPrefix(v, prefix[0]+" ") })
}

func hostMatches(pattern, host string) bool {
	pattern, host = strings.ToLower(strings.TrimPrefix(pattern, "*.")), strings.ToLower(host)
	return host != "" && (host == pattern || strings.HasSuffix(host, "."+pattern))
}

// pathMatches reports whether a path or one of its parent folders matches the glob.
func (p Policy) pathMatches(pattern, path string) bool {
	if rest, ok := strings.CutPrefix(pattern, "~/"); ok && p.Home != "" {
		pattern = filepath.Join(literal(p.Home), rest)
	}
	if !filepath.IsAbs(pattern) {
		pattern = filepath.Join(literal(p.Workspace), pattern)
	}
	ok, err := doublestar.Match(pattern, path)
	return err == nil && ok
}

// literal escapes a path for use in a glob.
func literal(path string) string { return globMeta.Replace(path) }

var globMeta = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "{", `\{`)

// Check returns an error for a rule that can't match anything, so that a typo in a deny rule
// does not allow what it was meant to deny. tools and targets are the known names; targets
// that only the command line names are not checked.
func Check(r action.Rule, tools, targets []string) error {
	err := r.Check()
	switch {
	case err != nil:
		return err
	case r.Tool != "" && !slices.Contains(tools, r.Tool):
		return fmt.Errorf("unknown tool %q (have: %s)", r.Tool, strings.Join(tools, ", "))
	case !doublestar.ValidatePattern(r.Path):
		return fmt.Errorf("path %q is not a glob: a bracket is open, or it ends in a backslash", r.Path)
	case !doublestar.ValidatePattern(r.Target):
		return fmt.Errorf("target %q is not a glob: a bracket is open, or it ends in a backslash", r.Target)
	case r.Target != "" && !strings.ContainsAny(r.Target, "*?[{ @") && !slices.Contains(targets, r.Target):
		return fmt.Errorf("unknown target %q (have: %s)", r.Target, strings.Join(targets, ", "))
	}
	return nil
}

// names reports whether a command contains a path that matches pattern.
func (p Policy) names(pattern string, a action.Action, report shell.Report) bool {
	cwd := cmp.Or(a.Cwd, p.Workspace)
	for _, c := range report.Commands {
		for _, w := range c.Argv {
			path := w.Text
			if rest, ok := strings.CutPrefix(path, "~/"); ok && p.Home != "" {
				path = filepath.Join(p.Home, rest)
			}
			if !filepath.IsAbs(path) {
				path = filepath.Join(cwd, path)
			}
			if p.pathMatches(pattern, filepath.Clean(path)) {
				return true
			}
		}
	}
	return false
}
