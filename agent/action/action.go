// Package action describes what a tool is about to do and what was decided about it.
//
// A tool's plan yields an [Action]; the policy answers with a [Verdict]; a person may
// have the last word. It is data only and imports nothing of ours.
//
//	a := action.Action{Kind: action.Shell, Tool: "run_shell", Target: "local", Command: "make test"}
//	v := action.Verdict{Decision: action.Ask, Reason: "make is not known to be read-only"}
package action

// Kind says what sort of thing an Action does.
type Kind string

// The kinds of actions.
const (
	FileRead   Kind = "file_read"
	FileWrite  Kind = "file_write"
	FileDelete Kind = "file_delete" // deletes one of the files at least; the others are written
	Shell      Kind = "shell"
	Git        Kind = "git"       // a command of git; judged like Shell
	PaneKeys   Kind = "pane_keys" // text typed into a pane, whatever runs there
	Network    Kind = "network"
	Browser    Kind = "browser"
	MCP        Kind = "mcp"      // a tool of another program
	Internal   Kind = "internal" // changes and reads nothing outside buddy: the time, a list, a question
	Generic    Kind = "generic"  // anything no other kind fits; the policy asks about it
)

// Risk is how much harm an action can do, as far as it can be known beforehand.
type Risk string

// The risks, from least to most.
const (
	Low    Risk = "low"
	Medium Risk = "medium"
	High   Risk = "high"
)

// Action is one thing that a tool is about to do, described by what will really
// happen: resolved paths, the whole command, never an abbreviation of it.
type Action struct {
	Kind     Kind        `json:"kind"`
	Tool     string      `json:"tool"`
	Target   string      `json:"target,omitempty"`  // where it happens: "local", "root@web-02 (ssh)"; several names when Targets is set
	Targets  []TargetCwd `json:"places,omitempty"`  // Shell: every target on which it runs, when there are several
	Command  string      `json:"command,omitempty"` // Shell, Git: the whole program text; PaneKeys: what is typed
	Cwd      string      `json:"cwd,omitempty"`     // Shell: where it starts, if known
	Path     string      `json:"path,omitempty"`    // files: absolute, symbolic links resolved
	Paths    []string    `json:"paths,omitempty"`   // all files, Path too, when there are several
	URL      string      `json:"url,omitempty"`     // Network, Browser: after redirects, if there were any
	Host     string      `json:"host,omitempty"`    // Network, Browser: lower case, without the port
	Method   string      `json:"method,omitempty"`  // Network: GET, POST, …
	Op       string      `json:"op,omitempty"`      // Browser, MCP, Generic: what is done
	Preview  string      `json:"preview,omitempty"` // what a person should see beside it: a diff, a URL
	Why      string      `json:"why,omitempty"`     // the model's own reason; untrusted text
	Risk     Risk        `json:"risk,omitempty"`
	Mutation bool        `json:"mutation,omitempty"` // changes state
	Privesc  bool        `json:"privesc,omitempty"`  // runs with more rights than buddy has
	Outside  bool        `json:"outside,omitempty"`  // Shell: is not to run in the read-only sandbox
}

// TargetCwd is one of several targets on which an Action runs.
type TargetCwd struct {
	Target string `json:"target"`
	Cwd    string `json:"cwd,omitempty"` // where it starts there, if known
}

// On returns the part of a that runs on one of its targets.
func (a Action) On(p TargetCwd) Action {
	a.Target, a.Cwd, a.Targets = p.Target, p.Cwd, nil
	return a
}

// Decision is what is to happen with an Action.
type Decision string

// The decisions of a policy.
const (
	Allow Decision = "allow" // run it
	Ask   Decision = "ask"   // a person decides
	Deny  Decision = "deny"  // do not run it; the model is told why
)

// Verdict is a policy's answer with its reason. Rule names the rule that decided,
// so that a person can change it.
type Verdict struct {
	Decision Decision `json:"decision"`
	Reason   string   `json:"reason"`
	Rule     string   `json:"rule,omitempty"`
}

// Mode says how what a policy would ask about is decided (F05, F16).
type Mode string

// The modes.
const (
	ModeAsk    Mode = "ask"    // what only reads is free, a person decides the rest; the default
	ModeStrict Mode = "strict" // a person decides everything
	ModeEdits  Mode = "edits"  // as ask, and files of the workspace may be written
	ModePlan   Mode = "plan"   // what only reads is free, everything else is denied
	ModeAll    Mode = "all"    // all is allowed that no rule denies
	ModeNone   Mode = "none"   // what would be asked about is denied
)

// Modes are all modes, in the order in which help lists them.
var Modes = []Mode{ModeAsk, ModeStrict, ModeEdits, ModePlan, ModeAll, ModeNone}
