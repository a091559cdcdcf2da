package policy

import (
	"fmt"
	"strings"
	"unicode"

	"buddy/agent/action"
	"buddy/agent/policy/shell"
)

// Explanation holds the verdict on a shell command and on each of its parts.
type Explanation struct {
	Command string                 `json:"command"`
	Mode    action.Mode            `json:"mode"`
	Verdict action.Verdict         `json:"verdict"`
	Report  shell.Report           `json:"report"`
	Context action.ApprovalContext `json:"context"`
	// Confined means that commands run in the read-only sandbox if they need no approval.
	Confined bool `json:"confined"`
}

// Explain returns the judgement of a run_shell call with command on a target, in cwd ("" is unknown).
func (p Policy) Explain(mode action.Mode, target, command, cwd string) Explanation {
	a := action.Action{Kind: action.Shell, Tool: "run_shell", Target: target, Command: command, Cwd: cwd}
	j := p.strictest(a, mode)
	return Explanation{Command: command, Mode: mode, Verdict: j.verdict, Report: j.report, Context: p.context(a, j), Confined: j.on.Confined}
}

// String formats the explanation for a terminal: the verdict, then a line for each part. It
// contains no control characters.
func (e Explanation) String() string {
	var sb strings.Builder
	fmt.Fprintf(&sb, "%s (mode %s): %s\n", e.Verdict.Decision, e.Mode, e.Verdict.Reason)
	if e.Verdict.Rule != "" {
		fmt.Fprintf(&sb, "rule: %s\n", e.Verdict.Rule)
	}
	for _, c := range e.Report.Commands {
		mark := "ask "
		switch {
		case c.InCore() || e.Confined && c.ReadOnly:
			mark = "free"
		case c.ReadOnly:
			mark = "reads"
		}
		via := ""
		if len(c.Via) > 0 {
			via = " (run by " + strings.Join(c.Via, ", ") + ")"
		}
		fmt.Fprintf(&sb, "  %-5s %s%s\n        %s\n", mark, c, via, c.Reason)
	}
	for _, o := range e.Report.Other {
		fmt.Fprintf(&sb, "  ask   %s\n", o)
	}
	for _, s := range e.Context.Kept {
		fmt.Fprintf(&sb, "note: %s\n", s)
	}
	if e.Verdict.Decision != action.Allow {
		sb.WriteString(e.asked())
	}
	return visible(sb.String())
}

// asked returns the facts shown in an approval dialog, one per line.
func (e Explanation) asked() string {
	var sb strings.Builder
	c := e.Context
	fmt.Fprintf(&sb, "risk: %s\n", c.Risk)
	for _, list := range []struct {
		name  string
		lines []string
	}{{"lost", c.Loses}, {"then", c.Consequences}, {"or", c.Alternatives}, {"undo", []string{c.Undo}}, {"similar", []string{c.Similar}}, {"  so", c.Passes}, {"  not", []string{c.Stops}}} {
		for _, s := range list.lines {
			if s != "" {
				fmt.Fprintf(&sb, "%s: %s\n", list.name, s)
			}
		}
	}
	return sb.String()
}

func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)) {
			return '\uFFFD'
		}
		return r
	}, s)
}
