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
	"buddy/texts/secretfile"
)

// denied returns the verdict for actions that every mode denies: destruction that is never sensible, changes to
// protected paths, and what deny rules match.
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
			return deny(why+"; to permit it, allow the path "+a.Path+" in a rule", "protected places")
		}
	}
	return action.Verdict{}, false
}

// lifted reports whether an allow rule of the user names the action's path, which lifts its protection.
func (p Policy) lifted(a action.Action) bool {
	return slices.ContainsFunc(p.Rules, func(r action.Rule) bool {
		return r.Decision == action.Allow && r.Source != action.FromProject && r.Path != "" && p.matches(r, a, shell.Report{})
	})
}

// match returns the first rule with decision d that matches an action.
func (p Policy) match(a action.Action, report shell.Report, d action.Decision) (action.Rule, bool) {
	if d == action.Allow && isCommand(a.Kind) {
		return p.allowed(a, report)
	}
	for _, r := range p.Rules {
		if r.Decision == d && p.matches(r, a, report) && (d != action.Allow || meantFor(r, a)) {
			return r, true
		}
	}
	return action.Rule{}, false
}

// meantFor reports whether an allow rule that matches an action was meant for such actions.
func meantFor(r action.Rule, a action.Action) bool {
	switch {
	case r.Source == action.FromProject:
		return false
	case a.Kind == action.Connect:
		return r.Source == action.FromSession && r.Host != "" && r.Shape == action.Exactly && r.Tool == a.Tool
	case strings.ContainsAny(r.Path, "*?[{") && isDelicate(a):
		return false // a pattern does not cover secrets or executed files
	case r.Source == action.FromSession && !offers(a):
		return false // a rule that "allow similar" added covers no deleting or sending
	}
	return !a.Local || r.Host != "" // a rule for web pages does not cover the local network
}

// allowed returns an allow rule if rules and the literal core cover every part of an action, which then runs outside
// the read-only sandbox. They never cover parts that are not commands (a redirection, an assignment).
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

// covers reports whether a rule allows one command that has no wrapper.
func (p Policy) covers(r action.Rule, a action.Action, c shell.Command) bool {
	return r.Decision == action.Allow && r.Source != action.FromProject && r.Path == "" && r.Host == "" && p.applies(r, a) &&
		len(c.Via) == 0 && c.Effect != shell.Privileged && len(r.Prefix) > 0 && begins(c, r.Prefix) && meant(r, c) && covered(p, r, c)
}

// meant reports whether a rule that matches the words of a git command also permits its effect. Changes to history and
// to uncommitted work need a rule in the settings that names them. To allow a commit or a push, such a rule must
// contain the words of the subcommand; to allow rewriting, overwriting or deleting, the whole command.
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

// applies reports whether a rule is for the tool and the target of an action.
func (p Policy) applies(r action.Rule, a action.Action) bool {
	// A host rule that asks or denies covers the connections of every tool.
	closed := a.Kind == action.Connect && r.Decision != action.Allow && r.Host != ""
	if !r.OfTool(a.Tool) && !closed {
		return false
	}
	if r.Target == "" {
		return true
	}
	target := action.MachineOf(a.Target)
	ok, _ := doublestar.Match(r.Target, target)
	return ok || r.Target == target
}

// matches reports whether a rule certainly matches. It is used for rules that ask or deny, and for allow rules about
// files and hosts.
func (p Policy) matches(r action.Rule, a action.Action, report shell.Report) bool {
	return p.matching(r, a, report) == shell.Yes
}

// matching is matches with a third answer: Maybe, if a part of the command that decides about the match is computed or
// was not analysed.
func (p Policy) matching(r action.Rule, a action.Action, report shell.Report) shell.Match {
	if !p.applies(r, a) || r.Check() != nil {
		return shell.No
	}
	best := shell.Yes
	if len(r.Prefix) > 0 {
		found := unread(report)
		for _, c := range report.Commands {
			if r.Shape != action.Exactly || len(c.Argv) == len(r.Prefix) {
				found = max(found, c.Begins(r.Prefix))
			}
		}
		best = min(best, found)
	}
	if r.Host != "" {
		best = min(best, reaches(r, a, report))
	}
	switch {
	case r.Path == "":
	case isCommand(a.Kind):
		if !p.names(r.Path, a, report) {
			best = min(best, unread(report))
		}
	case !p.pathMatches(r.Path, a.Path):
		return shell.No
	}
	return best
}

// reaches reports whether an action connects to the host of a rule. A read-only command connects to no host.
func reaches(r action.Rule, a action.Action, report shell.Report) shell.Match {
	at := func(h string) bool {
		if r.Shape == action.Exactly {
			return strings.EqualFold(r.Host, h)
		}
		return hostMatches(r.Host, h)
	}
	switch {
	case !isCommand(a.Kind) && at(a.Host):
		return shell.Yes
	case !isCommand(a.Kind), report.ReadOnly && (report.Beyond == "" || !a.Outside):
		return shell.No
	}
	best := max(unread(report), shell.Command{Argv: append([]shell.Arg{{}}, report.Files...)}.Reaches(at))
	for _, c := range report.Commands {
		best = max(best, c.Reaches(at))
	}
	return best
}

// unread returns Maybe if a part of the command was not analysed, because any rule may match that part. Otherwise it
// returns No.
func unread(report shell.Report) shell.Match {
	if report.Unread {
		return shell.Maybe
	}
	return shell.No
}

// uncertain requires approval for an allowed command that a deny rule might match, because words that decide about it
// are computed or a part was not analysed.
func uncertain(p Policy, a action.Action, report shell.Report, mode action.Mode, v action.Verdict) action.Verdict {
	if v.Decision != action.Allow || !report.Unread && !report.Dynamic && !computedName(report) {
		return v
	}
	why := "a part of it is known only when it runs"
	if report.Unread {
		why = "buddy can't check a part of it"
	}
	for _, r := range p.Rules {
		if r.Decision != action.Deny || p.matching(r, a, report) != shell.Maybe {
			continue
		}
		v = action.Verdict{Decision: action.Ask, Reason: why + ", and a rule might deny that: " + r.String(), Rule: r.String()}
		if mode == action.ModeNone {
			v.Decision = action.Deny
		}
		return v
	}
	return v
}

// computedName reports whether the name of a program to run is a glob pattern.
func computedName(report shell.Report) bool {
	return slices.ContainsFunc(report.Commands, func(c shell.Command) bool { return len(c.Argv) > 0 && c.Argv[0].Pattern })
}

// begins reports whether a command starts with the words of a prefix. The program's name may be written with a system
// folder before it.
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

func hostMatches(pattern, host string) bool {
	pattern, host = shell.HostNames(strings.TrimPrefix(pattern, "*."))[0], strings.ToLower(host)
	return host != "" && (host == pattern || strings.HasSuffix(host, "."+pattern))
}

// pathMatches reports whether a path or one of its parent folders matches the glob.
func (p Policy) pathMatches(pattern, path string) bool {
	ok, err := doublestar.Match(absolute(p, pattern), path)
	return err == nil && ok
}

func absolute(p Policy, pattern string) string {
	if rest, ok := strings.CutPrefix(pattern, "~/"); ok && p.Home != "" {
		pattern = filepath.Join(literal(p.Home), rest)
	}
	if !filepath.IsAbs(pattern) {
		pattern = filepath.Join(literal(p.Workspace), pattern)
	}
	return pattern
}

// literal escapes a path for use in a glob.
func literal(path string) string { return globMeta.Replace(path) }

var globMeta = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "{", `\{`)

// Check returns an error for a rule that can't match anything, so that a typo in a deny rule does not allow an
// action. tools and targets are the known names; targets that only the command line names are not checked.
func Check(r action.Rule, tools, targets []string) error {
	err := r.Check()
	switch {
	case err != nil:
		return err
	case r.Tool != "" && !strings.HasPrefix(r.Tool, "mcp__") && !slices.Contains(tools, r.Tool): // MCP servers come and go
		return fmt.Errorf("unknown tool %q (have: %s)", r.Tool, strings.Join(tools, ", "))
	case !doublestar.ValidatePattern(r.Path):
		return fmt.Errorf("path %q is not a valid glob: it has an open bracket or ends in a backslash", r.Path)
	case !doublestar.ValidatePattern(r.Target):
		return fmt.Errorf("target %q is not a valid glob: it has an open bracket or ends in a backslash", r.Target)
	case r.Target != "" && !strings.ContainsAny(r.Target, "*?[{ @") && !slices.Contains(targets, r.Target):
		return fmt.Errorf("unknown target %q (have: %s)", r.Target, strings.Join(targets, ", "))
	}
	return nil
}

// names reports whether a command or a redirection names a path that matches pattern. The path may be relative to any
// folder in which a part of the command runs, and may be the value of an option.
func (p Policy) names(pattern string, a action.Action, report shell.Report) bool {
	folders := append([]string{cmp.Or(a.Cwd, p.Workspace)}, report.Folders...)
	words := slices.Clone(report.Files)
	for _, c := range report.Commands {
		words = append(words, c.Argv...)
	}
	for _, w := range words {
		for _, text := range pathsIn(w.Text) {
			if wordNames(p, pattern, text, w.Pattern, folders) {
				return true
			}
		}
	}
	return false
}

// pathsIn returns the parts of a word that may name a file: the whole word, and the parts after an option's name or @
// and around a colon.
func pathsIn(word string) []string {
	all := []string{word}
	for i, r := range word {
		if strings.ContainsRune("=@:", r) && i+1 < len(word) {
			all = append(all, word[i+1:])
			if r == ':' { // docker -v x:/y
				all = append(all, word[:i])
			}
		}
	}
	if len(word) > 2 && word[0] == '-' && word[1] != '-' {
		all = append(all, word[2:])
	}
	return all
}

// wordNames reports whether text names a path that matches pattern, from one of the folders. glob means that text is
// itself a pattern.
func wordNames(p Policy, pattern, text string, glob bool, folders []string) bool {
	if rest, ok := strings.CutPrefix(text, "~/"); ok && p.Home != "" {
		text = filepath.Join(p.Home, rest)
	}
	for _, dir := range folders {
		full := text
		if !filepath.IsAbs(full) {
			full = filepath.Join(dir, full)
		}
		full = filepath.Clean(full)
		if p.pathMatches(pattern, full) || glob && globsMeet(strings.Split(absolute(p, pattern), "/"), strings.Split(full, "/")) {
			return true
		}
	}
	return false
}

// globsMeet reports whether some path matches both patterns, given as path elements. a may contain **.
func globsMeet(a, b []string) bool {
	switch {
	case len(a) == 0:
		return len(b) == 0
	case a[0] == "**":
		return globsMeet(a[1:], b) || len(b) > 0 && globsMeet(a, b[1:])
	case len(b) == 0:
		return false
	}
	return secretfile.NamesMeet(a[0], b[0]) && globsMeet(a[1:], b[1:])
}
