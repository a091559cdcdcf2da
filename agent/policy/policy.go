// Package policy decides what may run without asking. It judges an Action, which says
// what will really happen, never the text that asked for it, and gives its reason.
//
//	p := policy.Policy{Workspace: "/home/ann/shop"}
//	v := p.Judge(act, action.ModeAsk) // v.Decision, v.Reason
//
// What it does not know it asks about. Deny beats ask beats allow, and what has no sane
// use is denied in every mode.
package policy

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"buddy/agent/action"
	"buddy/agent/policy/shell"
	"buddy/texts"
)

// The rules of commands that nobody is asked about.
const (
	// ReadOnly is for a command that the table takes for one that only reads, and that will
	// run in the read-only sandbox: the kernel sees to it that it does no harm.
	ReadOnly = "read-only commands"
	// LiteralCore is for a command of which every word is written out and every program is one
	// of few. It runs outside of the sandbox, in the first environment: of what earlier commands
	// left it gets the folder only.
	LiteralCore = "read-only commands, written out"
	// GitActs is for a command that changes history, publishes it or takes away work that is
	// not committed. Nothing but a rule of the settings that names it, and mode all, allows it.
	GitActs = "git: history and uncommitted work"
)

// Policy holds what verdicts depend on. It is read-only and safe for concurrent use.
type Policy struct {
	// Workspace is the folder, symbolic links resolved, in which ordinary files may be
	// read without asking.
	Workspace string
	// Also are more folders that count as the workspace, symbolic links resolved.
	Also []string
	// Home is the user's folder, for ~ in commands and rules; "" is unknown.
	Home string
	// Rules decide before the mode does. Their order does not matter.
	Rules []action.Rule
	// Resolve follows the symbolic links of an absolute path on the target, so that a link
	// to a secret is seen as one; "" means that it can't be found out. nil follows none.
	Resolve func(path string) string
	// Match returns what needs a second look of what a pattern matches in a folder of the
	// target: symbolic links, and names that begin with a dash there; false if that is too much
	// to look at. nil: nobody can look.
	Match func(dir, pattern string) (odd []string, ok bool)
	// Shell is the shell that runs commands; "" is bash or alike. What a zsh would do is not
	// known: its patterns can run commands.
	Shell string
	// Confined says that free commands run in the read-only sandbox. Without it only the
	// literal core is free.
	Confined bool
	// Boxed says that what was approved runs in the sandbox of the settings.
	Boxed bool
	// Git runs git with args in a folder of the target, where it can change nothing, and
	// returns what it prints. It returns when ctx ends at the latest. nil: nobody can ask git.
	Git func(ctx context.Context, dir string, args ...string) ([]byte, error)
	// At tells what holds for a target instead of Workspace, Also, Home, Resolve, Match, Git,
	// Confined and Boxed; nil: these hold for all.
	At func(target string) Target

	guarded bool // the target of the action that is judged is
}

// Target is what verdicts on the actions of one target depend on.
type Target struct {
	Workspace string   // "" is not known, and then nothing is in it
	Also      []string // as in [Policy]
	Home      string   // "" is unknown
	Resolve   func(path string) string
	Match     func(dir, pattern string) ([]string, bool)
	Git       func(ctx context.Context, dir string, args ...string) ([]byte, error)
	Confined  bool // free commands run in the read-only sandbox there
	Boxed     bool // what was approved runs in the sandbox of the settings there
	Guarded   bool // nothing happens there without a question
}

// on returns the policy for the target of a.
func (p Policy) on(a action.Action) Policy {
	if p.At == nil || a.Target == "" {
		return p
	}
	at := p.At(a.Target)
	p.Workspace, p.Also, p.Home, p.Resolve, p.Match = at.Workspace, at.Also, at.Home, at.Resolve, at.Match
	p.Git, p.Confined, p.Boxed, p.guarded, p.At = at.Git, at.Confined, at.Boxed, at.Guarded, nil
	return p
}

// With returns p with one more rule.
func (p Policy) With(r action.Rule) Policy {
	p.Rules = append(slices.Clone(p.Rules), r)
	return p
}

// Judge says what is to happen with a under mode. An unknown mode is taken for ask.
// Of several files the most dangerous decides, and so does the strictest of several targets.
func (p Policy) Judge(a action.Action, mode action.Mode) action.Verdict {
	return p.strictest(a, mode).verdict
}

// judgement holds a verdict and what it was found on.
type judgement struct {
	action  action.Action // what decided: the action, or what it does on one of its targets
	on      Policy        // for the target of action
	verdict action.Verdict
	report  shell.Report // of a command; else zero
}

// strictest judges a, of several targets the one that decides.
func (p Policy) strictest(a action.Action, mode action.Mode) judgement {
	if len(a.Targets) == 0 {
		return p.on(a).judgeOne(a, mode)
	}
	var worst judgement
	same := true
	for i, place := range a.Targets {
		one := a.On(place)
		j := p.on(one).judgeOne(one, mode)
		same = same && (i == 0 || j.verdict.Decision == worst.verdict.Decision)
		// What is in the literal core needs no sandbox on any of them.
		everywhere := j.verdict.Rule == LiteralCore && j.verdict.Decision == worst.verdict.Decision
		if i == 0 || everywhere || stricter(j.verdict.Decision, worst.verdict.Decision) {
			worst = j
		}
	}
	if !same {
		worst.verdict.Reason = "on " + worst.action.Target + ": " + worst.verdict.Reason
	}
	return worst
}

// judgeOne judges a on one target, that of p.
func (p Policy) judgeOne(a action.Action, mode action.Mode) judgement {
	var report shell.Report
	if isCommand(a.Kind) {
		report = p.Analyse(a.Command, a.Cwd)
	}
	return judgement{action: a, on: p, verdict: p.judgeFiles(a, report, mode), report: report}
}

// judgeFiles returns the verdict on the most dangerous file of a; report holds what a command
// would do.
func (p Policy) judgeFiles(a action.Action, report shell.Report, mode action.Mode) action.Verdict {
	v := p.judge(a, report, mode)
	for _, path := range a.Paths {
		one := a
		one.Path = path
		if w := p.judge(one, report, mode); stricter(w.Decision, v.Decision) {
			v = w
		}
	}
	return v
}

// stricter reports whether a lets less happen than b.
func stricter(a, b action.Decision) bool {
	return later([]action.Decision{action.Allow, action.Ask, action.Deny}, a, b)
}

// later reports whether a comes after b in a list.
func later[T comparable](list []T, a, b T) bool { return slices.Index(list, a) > slices.Index(list, b) }

// judge returns the verdict on one file of a.
func (p Policy) judge(a action.Action, report shell.Report, mode action.Mode) action.Verdict {
	if v, ok := p.denied(a, report); ok {
		return v
	}
	base := p.base(a, report)
	v := base
	asks, asked := p.match(a, report, action.Ask)
	switch allows, ok := p.match(a, report, action.Allow); {
	case asked:
		v = action.Verdict{Decision: action.Ask, Reason: "a rule asks about it: " + asks.String(), Rule: asks.String()}
	case ok && base.Decision == action.Ask:
		v = action.Verdict{Decision: action.Allow, Reason: "a rule allows it: " + allows.String(), Rule: allows.String()}
	}
	return p.guard(a, mode, p.moded(a, mode, base, v))
}

// guard asks about what was allowed on a target where nothing happens without a question. An
// output of this session, which an action inside buddy may read, is not there.
func (p Policy) guard(a action.Action, mode action.Mode, v action.Verdict) action.Verdict {
	if !p.guarded || v.Decision != action.Allow || a.Kind == action.Internal && a.Path != "" {
		return v
	}
	v = action.Verdict{Decision: action.Ask, Reason: a.Target + " is marked as production: everything there is asked about", Rule: "production"}
	if mode == action.ModeNone {
		v.Decision = action.Deny
	}
	return v
}

// moded applies the mode to the verdict v; base is the one without rules.
func (p Policy) moded(a action.Action, mode action.Mode, base, v action.Verdict) action.Verdict {
	rule := "mode " + string(mode)
	switch {
	case mode == action.ModeStrict && v.Decision == action.Allow:
		return action.Verdict{Decision: action.Ask, Reason: "mode strict asks about everything", Rule: rule}
	case mode == action.ModePlan && (base.Decision != action.Allow || v.Decision != action.Allow || a.Kind == action.Internal && a.Mutation):
		return action.Verdict{Decision: action.Deny, Rule: rule, Reason: "while planning only reading is allowed: " + base.Reason +
			". Put it into the plan; it can run once the plan is approved"}
	case v.Decision != action.Ask:
		return v
	case mode == action.ModeAll:
		return action.Verdict{Decision: action.Allow, Reason: "mode all allows everything", Rule: rule}
	case mode == action.ModeNone:
		return action.Verdict{Decision: action.Deny, Reason: "mode none denies what would need an approval: " + v.Reason, Rule: rule}
	case mode == action.ModeEdits && v == base && p.editable(a):
		return action.Verdict{Decision: action.Allow, Reason: "mode edits allows to write files of the workspace", Rule: rule}
	}
	return v
}

// isCommand reports the kinds whose Command is a program for a shell.
func isCommand(k action.Kind) bool {
	return k == action.Shell || k == action.Git || k == action.PaneKeys
}

// Analyse says what a shell command would do on this machine, from cwd ("" is unknown).
func (p Policy) Analyse(command, cwd string) shell.Report {
	r := shell.Analyse(command, shell.Env{Cwd: cwd, Home: p.Home, Secret: SecretIn, Border: p.border, Resolve: p.Resolve, Match: p.Match})
	if p.Shell == "zsh" {
		const why = "zsh runs it, of which it is not known what only reads"
		if r.ReadOnly {
			r.ReadOnly, r.Reason = false, why
		}
		r.Other = append(r.Other, why)
	}
	return r
}

// base is the verdict of mode ask without rules.
func (p Policy) base(a action.Action, report shell.Report) action.Verdict {
	ask := func(reason, rule string) action.Verdict {
		return action.Verdict{Decision: action.Ask, Reason: reason, Rule: rule}
	}
	switch a.Kind {
	case action.FileRead:
		if secret := Secret(a.Path); secret != "" {
			return ask(secret+" may hold secrets", "secret files")
		}
		if why := p.border(a.Path); why != "" {
			return ask(why, "workspace")
		}
		return action.Verdict{Decision: action.Allow, Reason: "reads a file of the workspace", Rule: "workspace"}
	case action.Shell, action.Git:
		if a.Privesc {
			return ask("it runs with more rights", "shell")
		}
		return p.free(a, report)
	case action.PaneKeys:
		return ask("what typed text does depends on what runs in the pane", "pane keys")
	case action.FileWrite:
		if why := delicate(a.Path); why != "" {
			return ask(why, "delicate files")
		}
		return ask("changes a file", "file write")
	case action.FileDelete:
		return ask("deletes a file", "file delete")
	case action.Network, action.Browser:
		return ask("uses the network: "+cmp.Or(a.Host, a.URL, "host not known"), "network")
	case action.MCP:
		return ask("another program does it: "+cmp.Or(a.Op, a.Tool), "mcp")
	case action.Internal:
		v := action.Verdict{Decision: action.Allow, Reason: "touches nothing outside buddy", Rule: "internal"}
		if a.Mutation {
			v.Reason = "opens or ends only what buddy itself runs"
		}
		return v
	default:
		return ask("not known to be harmless", "unknown action")
	}
}

// free is the verdict on a command by what it was found to do. What talks to a service can't
// run in the sandbox, so that it needs to be in the literal core wherever it runs.
func (p Policy) free(a action.Action, report shell.Report) action.Verdict {
	v := action.Verdict{Decision: action.Ask, Reason: report.Reason, Rule: "shell"}
	switch {
	case report.Harm == "" && acts(report) != nil:
		v.Rule = GitActs
		v.Reason = acts(report)[0].Name + " " + acts(report)[0].Does
	case !report.ReadOnly:
	case a.Outside && p.Confined && report.Talks == "":
		v.Reason = "it would run outside of the read-only sandbox"
	case report.Beyond == "" && (report.Talks != "" || !p.Confined):
		v.Decision, v.Rule = action.Allow, LiteralCore
	case !p.Confined:
		v.Reason = "it seems to only read, but there is no read-only sandbox here to see to that: " + report.Beyond
	case report.Talks != "":
		v.Reason = "it asks " + report.Talks + ", which the read-only sandbox cuts off, and " + report.Beyond
	default:
		v.Decision, v.Rule = action.Allow, ReadOnly
	}
	return v
}

// systemFacts are files that say nothing private and are much looked at.
var systemFacts = []string{
	"/etc/os-release", "/usr/lib/os-release", "/etc/debian_version", "/etc/alpine-release", "/etc/timezone", "/etc/shells",
	"/proc/cpuinfo", "/proc/meminfo", "/proc/loadavg", "/proc/uptime", "/proc/version", "/proc/stat", "/proc/filesystems",
}

// border says why a file, whose links were followed, is not to be looked at without asking,
// by a tool or a command, or "". Secrets by name are another question.
func (p Policy) border(path string) string {
	if p.inWorkspace(path) || slices.Contains(systemFacts, path) {
		return ""
	}
	if !filepath.IsAbs(path) {
		return "in a folder that is not known"
	}
	return "outside the workspace " + strings.Join(append([]string{p.Workspace}, p.Also...), ", ")
}

func (p Policy) inWorkspace(path string) bool {
	return texts.Below(path, p.Workspace) || slices.ContainsFunc(p.Also, func(folder string) bool { return texts.Below(path, folder) })
}
