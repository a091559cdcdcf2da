// Package action describes what a tool call is going to do, and the policy's decision about it.
//
// Before a tool runs, it describes its effects in an [Action]. The policy answers with a [Verdict]: to allow the
// action, to deny it, or to ask the user. The package only holds data.
//
//	a := action.Action{Kind: action.Shell, Tool: "run_shell", Target: "local", Command: "make test"}
//	v := action.Verdict{Decision: action.Ask, Reason: "make is not known to be read-only"}
package action

import (
	"slices"
	"strings"
)

// Kind names what an Action does.
type Kind string

// The kinds of actions.
const (
	FileRead   Kind = "file_read"
	FileWrite  Kind = "file_write"
	FileDelete Kind = "file_delete" // deletes at least one of the files; writes the others
	Shell      Kind = "shell"
	Git        Kind = "git"       // a git command; judged like Shell
	PaneKeys   Kind = "pane_keys" // text typed into a pane, whatever runs there
	Network    Kind = "network"
	Browser    Kind = "browser"
	Connect    Kind = "connect"    // lets a command in the sandbox connect to hosts
	MCP        Kind = "mcp"        // a tool of an MCP server
	PlanFile   Kind = "plan_file"  // writes the session's plan, on this machine whatever the target
	EnterPlan  Kind = "enter_plan" // changes the mode to plan
	Internal   Kind = "internal"   // nothing outside buddy: the time, a list, a question
	Generic    Kind = "generic"    // any other; the policy asks about it
)

// IsCommand reports whether an action of this kind is a command that a shell runs to its end.
func (k Kind) IsCommand() bool { return k == Shell || k == Git }

// Risk grades the possible harm of an action, as far as it is known beforehand.
type Risk string

// The risks, in ascending order.
const (
	Low    Risk = "low"
	Medium Risk = "medium"
	High   Risk = "high"
)

// Action describes one thing that a tool is about to do. It holds the real effect: resolved paths and the whole
// command, never abbreviated.
type Action struct {
	Kind     Kind        `json:"kind"`
	Tool     string      `json:"tool"`
	Target   string      `json:"target,omitempty"`  // "local", "root@web-02 (ssh)"; several names if Targets is set
	Targets  []TargetCwd `json:"places,omitempty"`  // Shell: all targets, if there are several
	Command  string      `json:"command,omitempty"` // Shell, Git: the whole program text; PaneKeys: the typed text
	Cwd      string      `json:"cwd,omitempty"`     // Shell: its start folder, if known
	Path     string      `json:"path,omitempty"`    // files: absolute, symbolic links resolved
	Paths    []string    `json:"paths,omitempty"`   // all files including Path, if there are several
	Links    []string    `json:"links,omitempty"`   // files: absolute names of symbolic links that led to Path or Paths
	URL      string      `json:"url,omitempty"`     // Network, Browser: after redirects
	Host     string      `json:"host,omitempty"`    // Network, Browser, Connect: lower case, without the port
	Hosts    []string    `json:"hosts,omitempty"`   // Connect: all hosts with their ports, Host first
	Method   string      `json:"method,omitempty"`  // Network: GET, POST, …
	Local    bool        `json:"local,omitempty"`   // Network: the host is this machine or in the local network
	Op       string      `json:"op,omitempty"`      // Browser, MCP, Generic: the operation; FileRead: why Path differs from the path in the call
	Preview  string      `json:"preview,omitempty"` // shown to the person: a diff, a URL
	Why      string      `json:"why,omitempty"`     // the model's own reason; untrusted text
	Risk     Risk        `json:"risk,omitempty"`
	Mutation bool        `json:"mutation,omitempty"` // changes state
	Privesc  bool        `json:"privesc,omitempty"`  // runs with more rights than buddy
	Outside  bool        `json:"outside,omitempty"`  // Shell: must not run in the read-only sandbox
	NoTry    string      `json:"no_try,omitempty"`   // Shell: a clause that says why it can't be tried first; "" if it can
	MCPTool
	FileReach
}

// FileReach describes effects of a file change that its diff doesn't show: other names (hard links) change too, or a
// file is read-only.
type FileReach struct {
	OtherNames int  `json:"other_names,omitempty"` // number of other names (hard links) that change as well
	ReadOnly   bool `json:"read_only,omitempty"`   // the owner of a file made it read-only
}

// MCPTool identifies the tool of an MCP server that an Action calls.
type MCPTool struct {
	Definition string `json:"definition,omitempty"` // hash of the definition that the server sent
	Changed    bool   `json:"changed,omitempty"`    // the definition changed since it was approved
	Hinted     bool   `json:"hinted,omitempty"`     // the person trusts the server's hints about it
}

// TargetCwd is one of several targets on which an Action runs, with the start folder there.
type TargetCwd struct {
	Target string `json:"target"`
	Cwd    string `json:"cwd,omitempty"` // start folder there, if known
}

// ShortHost limits a host name in a sentence, in bytes.
const ShortHost = 40

// To returns a copy of the action that connects only to host, one of a.Hosts.
func (a Action) To(host string) Action {
	name, _, _ := strings.Cut(host, ":")
	a.Host, a.Hosts = name, []string{host}
	return a
}

// On returns a copy of the action that runs only on p, one of a.Targets.
func (a Action) On(p TargetCwd) Action {
	a.Target, a.Cwd, a.Targets = p.Target, p.Cwd, nil
	return a
}

// Decision is a policy's answer to an Action.
type Decision string

// The decisions of a policy.
const (
	Allow Decision = "allow" // run it
	Ask   Decision = "ask"   // a person decides
	Deny  Decision = "deny"  // do not run it; the model gets the reason
)

// Verdict holds a policy's decision and its reason. Rule names the rule that decided, so that the user can change the
// rule.
type Verdict struct {
	Decision Decision `json:"decision"`
	Reason   string   `json:"reason"`
	Rule     string   `json:"rule,omitempty"`
}

// OwnKeys names the built-in rule for the files that hold buddy's own keys. Actions on such a file need approval in
// every mode, unless a rule of the user names the file and allows them.
const OwnKeys = "buddy's own keys"

// Mode sets what happens to actions that need approval.
type Mode string

// The modes.
const (
	ModeAsk    Mode = "ask"    // read-only actions run, a person decides the rest; the default
	ModeStrict Mode = "strict" // a person decides everything
	ModeEdits  Mode = "edits"  // as ask, and workspace files may be written
	ModeAuto   Mode = "auto"   // as edits, and commands run in the workspace sandbox, where available
	ModePlan   Mode = "plan"   // read-only actions run, and the session's plan may be written; everything else is denied
	ModeAll    Mode = "all"    // everything runs unless a rule denies it
	ModeNone   Mode = "none"   // actions that need approval are denied
)

// Modes lists all modes in the order of the help.
var Modes = []Mode{ModeAsk, ModeStrict, ModeEdits, ModeAuto, ModePlan, ModeAll, ModeNone}

// Label returns the display name of a mode.
func (m Mode) Label() string {
	if m == ModeAuto {
		return "auto · sandbox"
	}
	return string(m)
}

// strictness lists the modes, strictest first.
var strictness = []Mode{ModeNone, ModePlan, ModeStrict, ModeAsk, ModeEdits, ModeAuto, ModeAll}

// Stricter returns the stricter of two modes; "" is the loosest.
func Stricter(a, b Mode) Mode {
	switch {
	case a == "":
		return b
	case b == "" || slices.Index(strictness, a) <= slices.Index(strictness, b):
		return a
	}
	return b
}

// worktreeMark is the prefix of the target name of a subagent's own worktree. No configured target's name starts with
// it.
const worktreeMark = "local+"

// InWorktree returns the target name of a subagent's own worktree on this machine.
func InWorktree(name string) string { return worktreeMark + name }

// MachineOf returns the target whose rules apply to the given target: this machine for a subagent's own worktree,
// otherwise the target itself.
func MachineOf(target string) string {
	if strings.HasPrefix(target, worktreeMark) {
		return "local"
	}
	return target
}
