// Package policy decides whether a tool call may run without approval. It judges the [action.Action], which describes
// what the call would really do, and gives a reason.
//
//	p := policy.Policy{Workspace: "/home/ann/shop"}
//	v := p.Judge(act, action.ModeAsk) // v.Decision, v.Reason
//
// A rule that denies beats one that asks, which beats one that allows. Anything unknown needs approval, and actions
// that are never sensible are denied in every mode.
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
	"buddy/texts/unseen"
)

// Names of built-in rules.
const (
	// ReadOnly is the rule for a command that is listed as read-only and that runs in the read-only sandbox, where the
	// kernel enforces it.
	ReadOnly = "read-only commands"
	// LiteralCore is the rule for a command whose words are all written out and whose programs are on a short list.
	// Such a command runs outside the sandbox, but with the initial environment: of earlier commands, it only keeps the
	// current folder.
	LiteralCore = "read-only commands, written out"
	// GitActs is the rule for a command that changes history, publishes it or loses uncommitted work. Only all mode, or
	// a rule in the settings that names the command, allows it.
	GitActs = "git: history and uncommitted work"
	// ChangedTool is the rule for an MCP tool whose definition changed since its approval. It needs approval in every
	// mode, whatever other rules allow.
	ChangedTool = "changed tool"
	// Production is the rule for a production target. Even what a mode or a rule allows needs approval there.
	Production = "production"
	// HardLinks is the rule for changing a file that has other names (hard links), because the change shows under all
	// of them. It needs approval in every mode, whatever other rules allow.
	HardLinks = "hard links"
	// ReadOnlyFile is the rule for changing a file that its owner made read-only. It needs approval in every mode, as
	// for HardLinks.
	ReadOnlyFile = "read-only file"
)

// Policy holds everything that verdicts depend on. It is read-only and safe for concurrent use.
type Policy struct {
	// Workspace is the folder, symbolic links resolved, whose ordinary files may be read without approval.
	Workspace string
	// Also lists more folders that are treated like the workspace, symbolic links resolved.
	Also []string
	// Home is the user's home folder, for ~ in commands and rules; "" is unknown.
	Home string
	// Own lists buddy's own files.
	Own Own
	// Plan is the file of the session's plan, an absolute real path on this machine; "" is none. The model may write it
	// without approval, and in plan mode nothing else.
	Plan string
	// Rules take precedence over the mode. Their order does not matter.
	Rules []action.Rule
	// Resolve follows the symbolic links of an absolute path on the target, so that a link to a secret is
	// recognized; it returns "" if that fails. nil follows none.
	Resolve func(path string) string
	// Match, Holds and GitKeeps are as in [shell.Env], for folders of the target.
	Match    func(dir, pattern string) (found []string, ok bool)
	Holds    func(dir string) (name string, ok bool)
	GitKeeps func(dir string) string
	// Count counts the files at and below an absolute path of the target, and reports whether the path is a folder. ok
	// is false if counting would take too long. A nil function counts nothing.
	Count func(path string) (files int, folder, ok bool)
	// Undoes reports whether /undo would restore everything that a command deletes at and below an absolute path of the
	// target. Asked about the workspace, it reports whether /undo covers commands at all. The first call may take some
	// hundred milliseconds. A nil function means that nothing is restored there.
	Undoes func(path string) bool
	// Shell is the shell that runs commands; "" is bash or a compatible one. Every command in zsh counts as unknown,
	// because zsh's glob patterns can themselves run commands.
	Shell string
	// Confined means that the target has a read-only sandbox for commands that need no approval. Without it, only the
	// literal core runs without approval.
	Confined bool
	// Boxed means that approved commands run in the sandbox of the settings.
	Boxed bool
	// Fence returns nil if commands can run in the workspace sandbox, otherwise an error with the reason and the next
	// step. The first call may take some milliseconds. A nil function means that the target has no such sandbox; auto
	// mode then asks the user, just as ask mode does.
	Fence func() error
	// Tries returns nil if the user can try commands on the target, otherwise the reason as a clause. The first call
	// may take some milliseconds. A nil function means that nobody could decide about keeping the changes, so trying is
	// not offered.
	Tries func() error
	// Unseen tracks whether the workspace was changed without asking, see package unseen.
	Unseen unseen.Place
	// Git runs git in a folder of the target in a way that prevents changes, and returns its output. It returns at the
	// latest when ctx ends. A nil function means that git can't be queried.
	Git func(ctx context.Context, dir string, args ...string) ([]byte, error)
	// At returns the values for a target that replace Workspace, Also, Home, Own, Resolve, Match, Holds, GitKeeps,
	// Count, Undoes, Git, Confined, Boxed, Fence and Tries; nil means that these fields apply to all targets.
	At func(target string) Target

	guarded   bool // the target of the judged action is guarded
	elsewhere bool // the target is another machine
}

// Target holds the part of a Policy that depends on the target.
type Target struct {
	Workspace string   // "" is unknown and contains nothing
	Also      []string // as in [Policy]
	Home      string   // "" is unknown
	Own       Own      // as in [Policy]
	Resolve   func(path string) string
	Match     func(dir, pattern string) ([]string, bool)
	Holds     func(dir string) (name string, ok bool)
	GitKeeps  func(dir string) string
	Count     func(path string) (files int, folder, ok bool)
	Undoes    func(path string) bool
	Git       func(ctx context.Context, dir string, args ...string) ([]byte, error)
	Confined  bool         // commands that need no approval run in the read-only sandbox
	Boxed     bool         // approved commands run in the sandbox of the settings
	Guarded   bool         // every side effect needs approval
	Elsewhere bool         // another machine, which does not have the workspace
	Fence     func() error // as in [Policy]
	Tries     func() error // as in [Policy]
	Unseen    unseen.Place // as in [Policy]; the zero value is that of the policy
}

// on returns the policy for an action's target.
func (p Policy) on(a action.Action) Policy {
	if p.At == nil || a.Target == "" {
		return p
	}
	at := p.At(a.Target)
	p.Workspace, p.Also, p.Home, p.Resolve, p.Match = at.Workspace, at.Also, at.Home, at.Resolve, at.Match
	p.Own, p.Holds, p.GitKeeps, p.Count = at.Own, at.Holds, at.GitKeeps, at.Count
	p.Fence, p.Undoes, p.Tries = at.Fence, at.Undoes, at.Tries
	p.Git, p.Confined, p.Boxed, p.guarded, p.At = at.Git, at.Confined, at.Boxed, at.Guarded, nil
	p.elsewhere = at.Elsewhere
	if len(at.Unseen.Folders) > 0 {
		p.Unseen = at.Unseen
	}
	return p
}

// PlaceOf returns what tracks unapproved changes to the workspace on an action's target.
func PlaceOf(p Policy, a action.Action) unseen.Place { return p.on(a).Unseen }

// With returns a copy of p with an additional rule.
func (p Policy) With(r action.Rule) Policy {
	p.Rules = append(slices.Clone(p.Rules), r)
	return p
}

// Judge returns the verdict on an action in a mode. An unknown mode counts as ask. If the action has several files,
// hosts or targets, the strictest verdict counts.
func (p Policy) Judge(a action.Action, mode action.Mode) action.Verdict {
	return p.strictest(a, mode).verdict
}

// judgement holds a verdict and the values that it was derived from.
type judgement struct {
	action  action.Action // the whole action, or its part on the deciding target
	on      Policy        // for the target of action
	verdict action.Verdict
	report  shell.Report // of a command; otherwise zero
	mode    action.Mode
}

// strictest judges an action on each of its targets and returns the strictest judgement.
func (p Policy) strictest(a action.Action, mode action.Mode) judgement {
	if len(a.Targets) == 0 {
		return p.on(a).judgeOne(a, mode)
	}
	var worst judgement
	same := true
	for i, at := range a.Targets {
		one := a.On(at)
		j := p.on(one).judgeOne(one, mode)
		same = same && (i == 0 || j.verdict.Decision == worst.verdict.Decision)
		// Among equal decisions, these rules win. LiteralCore: if it lets the command run without a sandbox on one
		// target, it must apply to all. InFence: otherwise the command would lose its sandbox.
		everywhere := (j.verdict.Rule == LiteralCore || j.verdict.Rule == InFence) && j.verdict.Decision == worst.verdict.Decision
		if i == 0 || everywhere || stricter(j.verdict.Decision, worst.verdict.Decision) {
			worst = j
		}
	}
	if !same {
		worst.verdict.Reason = "on " + worst.action.Target + ": " + worst.verdict.Reason
	}
	return worst
}

func (p Policy) judgeOne(a action.Action, mode action.Mode) judgement {
	var report shell.Report
	if isCommand(a.Kind) {
		report = p.Analyse(a.Command, a.Cwd)
		if !p.Confined || a.Outside || a.Kind == action.PaneKeys {
			report = report.Outside()
		}
	}
	return judgement{action: a, on: p, verdict: p.judgeFiles(a, report, mode), report: report, mode: mode}
}

// judgeFiles returns the strictest verdict on an action's files and hosts. report is the analysis if the action is a
// command.
func (p Policy) judgeFiles(a action.Action, report shell.Report, mode action.Mode) action.Verdict {
	v := p.judge(a, report, mode)
	for _, path := range a.Paths {
		one := a
		one.Path = path
		w := p.judge(one, report, mode)
		if stricter(w.Decision, v.Decision) || w.Decision == v.Decision && w.Rule == executedRule {
			v = w
		}
	}
	if len(a.Hosts) > 1 {
		for _, host := range a.Hosts {
			if w := p.judge(a.To(host), report, mode); stricter(w.Decision, v.Decision) {
				v = w
			}
		}
	}
	return v
}

func stricter(a, b action.Decision) bool {
	return later([]action.Decision{action.Allow, action.Ask, action.Deny}, a, b)
}

func later[T comparable](list []T, a, b T) bool { return slices.Index(list, a) > slices.Index(list, b) }

// judge returns the verdict on an action as if a.Path were its only file.
func (p Policy) judge(a action.Action, report shell.Report, mode action.Mode) action.Verdict {
	if v, ok := p.denied(a, report); ok {
		return v
	}
	base := p.base(a, report)
	v := base
	asks, asked := p.match(a, report, action.Ask)
	switch allows, ok := p.match(a, report, action.Allow); {
	case asked:
		v = action.Verdict{Decision: action.Ask, Reason: "a rule requires approval: " + asks.String(), Rule: asks.String()}
	case ok && base.Decision == action.Ask:
		v = action.Verdict{Decision: action.Allow, Reason: "a rule allows it: " + allows.String(), Rule: allows.String()}
	}
	if mode == action.ModeAuto {
		v = inAuto(p, a, base, v)
	} else {
		v = p.moded(a, mode, base, v)
	}
	v = uncertain(p, a, report, mode, p.guard(a, mode, v))
	return guardFile(a, mode, guardChanged(a, mode, guardUnseen(p, a, mode, guardOwn(p, a, report, mode, v))))
}

// guardChanged requires approval for an MCP tool whose definition its server changed since the tool's approval: modes
// and rules were meant for the earlier tool.
func guardChanged(a action.Action, mode action.Mode, v action.Verdict) action.Verdict {
	if !a.Changed || v.Decision == action.Deny {
		return v
	}
	v = action.Verdict{Decision: action.Ask, Reason: "its server has changed this tool since you approved it", Rule: ChangedTool}
	if mode == action.ModeNone || mode == action.ModePlan {
		v.Decision = action.Deny
	}
	return v
}

// guard requires approval for allowed actions on a guarded target. Internal actions are exempt, because they concern
// the session's outputs and plan, which are not stored on that target.
func (p Policy) guard(a action.Action, mode action.Mode, v action.Verdict) action.Verdict {
	if !p.guarded || v.Decision != action.Allow || a.Kind == action.PlanFile || a.Kind == action.Internal && a.Path != "" {
		return v
	}
	v = action.Verdict{Decision: action.Ask, Reason: a.Target + " is marked as production: everything there needs approval", Rule: Production}
	if mode == action.ModeNone {
		v.Decision = action.Deny
	}
	return v
}

func modeRule(m action.Mode) string { return string(m) + " mode" }

// moded applies the mode to the verdict v; base is the verdict without rules.
func (p Policy) moded(a action.Action, mode action.Mode, base, v action.Verdict) action.Verdict {
	rule := modeRule(mode)
	switch {
	case mode == action.ModeStrict && v.Decision == action.Allow:
		return action.Verdict{Decision: action.Ask, Reason: "strict mode: everything needs approval", Rule: rule}
	case mode == action.ModePlan:
		return inPlan(a, base, v)
	case v.Decision != action.Ask:
		return v
	case mode == action.ModeAll:
		return action.Verdict{Decision: action.Allow, Reason: "all mode allows everything", Rule: rule}
	case mode == action.ModeNone:
		return action.Verdict{Decision: action.Deny, Reason: "none mode denies everything that needs approval: " + v.Reason, Rule: rule}
	case mode == action.ModeEdits && v == base && p.editable(a):
		return action.Verdict{Decision: action.Allow, Reason: "edits mode allows changes to files in the workspace", Rule: rule}
	}
	return v
}

// isCommand reports whether actions of this kind have a Command: a command line, or text typed into a shell.
func isCommand(k action.Kind) bool {
	return k == action.Shell || k == action.Git || k == action.PaneKeys
}

// Analyse returns the analysis of a shell command on this machine, started in cwd ("" is unknown).
func (p Policy) Analyse(command, cwd string) shell.Report {
	r := shell.Analyse(command, shell.Env{Cwd: cwd, Home: p.Home, Secret: keysOf(p, cwd).secretIn, Border: p.border, Resolve: p.Resolve, Match: p.Match, Holds: p.Holds, GitKeeps: p.GitKeeps})
	if p.Shell == "zsh" {
		const why = "it runs in zsh, where buddy can't tell which commands are read-only"
		if r.ReadOnly {
			r.ReadOnly, r.Reason = false, why
		}
		r.Other = append(r.Other, why)
	}
	return r
}

// base returns the verdict of ask mode without rules.
func (p Policy) base(a action.Action, report shell.Report) action.Verdict {
	ask := func(reason, rule string) action.Verdict {
		return action.Verdict{Decision: action.Ask, Reason: reason, Rule: rule}
	}
	switch a.Kind {
	case action.FileRead:
		if secret := keysOf(p, "").secret(a.Path); secret != "" {
			return ask(secret+" may hold secrets", "secret files")
		}
		if why := p.border(a.Path); why != "" {
			return ask(why, "workspace")
		}
		return action.Verdict{Decision: action.Allow, Reason: "reads a file in the workspace", Rule: "workspace"}
	case action.Shell, action.Git:
		if a.Privesc {
			return ask("it runs with elevated privileges", "shell")
		}
		return p.free(a, report)
	case action.PaneKeys:
		return ask("the effect of typed text depends on the program in the pane", "pane keys")
	case action.FileWrite, action.FileDelete:
		return ask(changeReason(a))
	case action.Network, action.Browser, action.Connect:
		return ask(reachReason(a))
	case action.MCP:
		return baseMCP(a)
	case action.PlanFile, action.EnterPlan:
		return basePlan(p, a)
	case action.Internal:
		v := action.Verdict{Decision: action.Allow, Reason: "affects nothing outside buddy", Rule: "internal"}
		if a.Mutation {
			v.Reason = "opens or ends only things that buddy itself runs"
		}
		return v
	default:
		return ask("not known to be harmless", "unknown action")
	}
}

// reachReason returns why a network action needs approval, and the name of the rule that requires it.
func reachReason(a action.Action) (reason, rule string) {
	switch {
	case a.Kind == action.Connect:
		return "a command in the sandbox wants to reach a host that the sandbox does not allow", FenceHosts
	case a.Local:
		return a.Host + " is this machine or in the local network", "local network"
	}
	return "uses the network: " + cmp.Or(a.Host, a.URL, "host not known"), "network"
}

// baseMCP returns the verdict on a tool of an MCP server in ask mode without rules.
func baseMCP(a action.Action) action.Verdict {
	if a.Hinted && !a.Mutation {
		return action.Verdict{Decision: action.Allow, Reason: "its server says that it is read-only, and you trust that server's hints", Rule: "trust_hints"}
	}
	return action.Verdict{Decision: action.Ask, Reason: "it runs in another program: " + cmp.Or(a.Op, a.Tool), Rule: "mcp"}
}

// free returns the verdict on a command from its analysis. A command that talks to a service can't run in the sandbox,
// so it needs approval unless it is in the literal core.
func (p Policy) free(a action.Action, report shell.Report) action.Verdict {
	v := action.Verdict{Decision: action.Ask, Reason: report.Reason, Rule: "shell"}
	switch {
	case report.Harm == "" && acts(report) != nil:
		v.Rule = GitActs
		v.Reason = acts(report)[0].Name + " " + acts(report)[0].Does
	case !report.ReadOnly:
	case a.Outside && p.Confined && report.Talks == "":
		v.Reason = "it would run outside the read-only sandbox"
	case report.Beyond == "" && (report.Talks != "" || !p.Confined):
		v.Decision, v.Rule = action.Allow, LiteralCore
	case !p.Confined:
		v.Reason = "it seems to be read-only, but there is no read-only sandbox here to enforce that: " + report.Beyond
	case report.Talks != "":
		v.Reason = "it contacts " + report.Talks + ", which the read-only sandbox blocks, and " + report.Beyond
	default:
		v.Decision, v.Rule = action.Allow, ReadOnly
	}
	return v
}

// systemFacts lists files outside the workspace that may be read without approval, because they are often needed and
// hold nothing private.
var systemFacts = []string{
	"/etc/os-release", "/usr/lib/os-release", "/etc/debian_version", "/etc/alpine-release", "/etc/timezone", "/etc/shells",
	"/proc/cpuinfo", "/proc/meminfo", "/proc/loadavg", "/proc/uptime", "/proc/version", "/proc/stat", "/proc/filesystems",
}

// border returns why reading a file outside the workspace needs approval, or "". Links in path are already resolved.
// Names that suggest secrets are checked separately.
func (p Policy) border(path string) string {
	if _, given := p.Own.given(path); given || p.inWorkspace(path) || slices.Contains(systemFacts, path) {
		return ""
	}
	if !filepath.IsAbs(path) {
		return "in an unknown folder"
	}
	return "outside the workspace " + strings.Join(append([]string{p.Workspace}, p.Also...), ", ")
}

func (p Policy) inWorkspace(path string) bool {
	return texts.Below(path, p.Workspace) || slices.ContainsFunc(p.Also, func(folder string) bool { return texts.Below(path, folder) })
}
