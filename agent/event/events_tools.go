package event

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"buddy/agent/action"
	"buddy/texts"
)

// ToolRequested holds a tool call of the model with the action that it would take. Invalid
// arguments leave the action empty.
type ToolRequested struct {
	CallID    string            `json:"call_id"`
	Name      string            `json:"name"`
	Corrected string            `json:"corrected,omitempty"` // the name that the model wrote, where it was a slip for Name
	Renamed   map[string]string `json:"renamed,omitempty"`   // names of arguments that were slips, each with the one that was meant
	Arguments string            `json:"arguments"`
	Action    action.Action     `json:"action"`
	Target    string            `json:"target,omitempty"`
}

// Counted returns the name of the tool that a call counts for: the one that use_tool calls, else its own.
func (t ToolRequested) Counted() string {
	if t.Name == "use_tool" && t.Action.Tool != "" {
		return t.Action.Tool
	}
	return t.Name
}

// Slips returns the corrected names of arguments for people: "comand → command", "" for none.
func (t ToolRequested) Slips() string {
	var all []string
	for _, from := range slices.Sorted(maps.Keys(t.Renamed)) {
		all = append(all, from+" → "+t.Renamed[from])
	}
	return strings.Join(all, ", ")
}

// ApprovalAsked asks a person for approval; the call waits.
type ApprovalAsked struct {
	ID      string         `json:"id"`
	CallID  string         `json:"call_id"`
	Action  action.Action  `json:"action"`
	Verdict action.Verdict `json:"verdict"`
	// Context helps a person to decide; Context.Similar is the rule that the decision
	// Similar adds, "" when there is none.
	Context action.ApprovalContext `json:"context,omitzero"`
	Agent   string                 `json:"agent,omitempty"` // the subagent that asks, with the title of its task
}

// ApprovalAnswered settles an approval; the first answer wins.
type ApprovalAnswered struct {
	ID       string   `json:"id"`
	CallID   string   `json:"call_id"`
	Decision Decision `json:"decision"`
	By       string   `json:"by"`             // user, policy, nobody (no person to ask), prompt (came instead), cancel or shutdown
	Rule     string   `json:"rule,omitempty"` // of the policy
	Args     string   `json:"args,omitempty"` // replacement for those of the call
	Reason   string   `json:"reason,omitempty"`
	Remember string   `json:"remember,omitempty"` // the scope in which the reason is kept: folder, person or team; nothing: the user chose only this time
	Screen   string   `json:"screen,omitempty"`   // where the user was, if that is known: ssh from 10.0.0.5, pts/3
}

// ToolStarted marks that a tool's side effects may begin. Dir holds its output; an interrupted
// command is found again by it. A second one of a call says that the read-only sandbox stopped the
// command, which runs again in the workspace fence.
type ToolStarted struct {
	CallID   string `json:"call_id"`
	Name     string `json:"name"`
	Pane     string `json:"pane,omitempty"`     // of the command, if the pane exists already
	Terminal bool   `json:"terminal,omitempty"` // it runs full screen: live output is what a terminal gets
	Dir      string `json:"dir,omitempty"`
	Fenced   bool   `json:"fenced,omitempty"` // it runs in the workspace fence
}

// ToolOutput holds live output. Text may contain anything, escape sequences too; bytes that
// are not UTF-8 were replaced. BytesTotal counts the stream so far.
type ToolOutput struct {
	CallID     string `json:"call_id"`
	Stream     string `json:"stream"`
	Text       string `json:"text"`
	BytesTotal int64  `json:"bytes_total"`
}

// ToolWaits marks that the command of a call has begun to wait for keys in its terminal, or does no longer.
type ToolWaits struct {
	CallID string `json:"call_id"`
	Waits  bool   `json:"waits"`
}

// ToolResult holds the result that the model read, and what people and programs need to know of it: the text is for
// the model, and nothing reads its form.
type ToolResult struct {
	CallID     string             `json:"call_id"`
	Name       string             `json:"name"`
	Seen       []action.SeenFile  `json:"seen,omitempty"` // before the result, so that it can be had without that
	Result     string             `json:"result"`
	Aside      string             `json:"aside,omitempty"`   // the end of Result that is for the model alone
	Shown      string             `json:"shown,omitempty"`   // what people read in place of Result, where that is not what the tool printed
	Outcome    string             `json:"outcome,omitempty"` // what came of the call, in a few words
	IsError    bool               `json:"is_error,omitempty"`
	ExitCode   *int               `json:"exit_code,omitempty"`
	Exits      map[string]int     `json:"exits,omitempty"` // exit codes of a command on several targets, as far as they are known
	DurationMS int64              `json:"duration_ms"`
	Tail       string             `json:"tail,omitempty"`   // the end of the output for the screen, at most 64 KiB
	Stdout     *string            `json:"stdout,omitempty"` // the part of Tail from stdout, if stderr has text, too
	FullOutput *action.FullOutput `json:"full_output,omitempty"`
	Original   string             `json:"original,omitempty"` // what the tool gave, where a hook replaced it; the model is not sent it
}

// Text returns the result as people read it, "" for one that says nothing: JSON of other programs as a list.
func (r ToolResult) Text() string {
	text := cmp.Or(r.Shown, strings.TrimSuffix(r.Result, r.Aside))
	if strings.HasPrefix(text, envelope) {
		text = r.Tail
	}
	if list, ok := texts.Listed(text); ok {
		return list
	}
	return text
}

// Failed reports whether the call failed, or its command.
func (r ToolResult) Failed() bool { return r.IsError || r.ExitCode != nil && *r.ExitCode != 0 }

// TargetConnecting reports that a target is being connected to, or no longer is.
type TargetConnecting struct {
	Target string `json:"target"`
	Ended  bool   `json:"ended,omitempty"` // the target is connected, or could not be reached
}

// HookStarted reports that a hook runs.
type HookStarted struct {
	Event  string `json:"event"` // SessionStart, PreToolUse, …
	Name   string `json:"name"`
	Status string `json:"status,omitempty"` // what the hook wants to be shown meanwhile
}

// HookRan reports how a hook ended.
type HookRan struct {
	Event   string `json:"event"`
	Name    string `json:"name"`
	Source  string `json:"source"`  // person, project, plugin
	Outcome string `json:"outcome"` // ok, allow, deny, ask, block, stop, cancelled, or failed: and why
	Exit    int    `json:"exit"`    // exit code; -1 without one
	MS      int64  `json:"ms"`
}

// FileKept saves what files contained before a call changes them, for /undo. It precedes the
// change.
type FileKept struct {
	CallID string     `json:"call_id"`
	Target string     `json:"target"` // target of the files
	Files  []KeptFile `json:"files"`
}

// KeptFile is one saved file.
type KeptFile struct {
	Path    string `json:"path"`
	Copy    string `json:"copy,omitempty"` // file with the old content; empty when there was none, or it is too large
	Existed bool   `json:"existed"`
	Perm    int    `json:"perm,omitempty"` // permissions
	Bytes   int64  `json:"bytes,omitempty"`
	After   string `json:"after,omitempty"` // identifies the content that the call writes; empty when it deletes the file
}

// FileRestoring announces that files are about to be restored. FileRestored follows, or FileUnchanged; else the
// process ended meanwhile, and some of the files may be restored.
type FileRestoring struct {
	Calls  []string   `json:"calls"`            // the calls whose changes are undone
	Target string     `json:"target,omitempty"` // target of the files
	Kept   []KeptFile `json:"kept,omitempty"`   // what the files contain until then
	Redo   bool       `json:"redo,omitempty"`
}

// FileUnchanged marks that what FileKept announced for a call, or FileRestoring, did not happen: no file was changed.
type FileUnchanged struct {
	CallID string `json:"call_id,omitempty"` // the call that failed; empty for FileRestoring
}

// FileRestored marks that a person undid changes of files, or with Redo that what the newest one undid is
// there again.
type FileRestored struct {
	Calls   []string   `json:"calls"`             // the calls whose changes were undone
	Paths   []string   `json:"paths"`             // as web:/etc/hosts where that is not on the first target
	Steps   int        `json:"steps"`             // prompts undone
	Prompts []string   `json:"prompts,omitempty"` // their first words, the oldest first, untrusted text; of many the newest
	Agents  []string   `json:"agents,omitempty"`  // subagents whose changes are among them, as explore #5
	Target  string     `json:"target,omitempty"`  // target of the files
	Kept    []KeptFile `json:"kept,omitempty"`    // what the files contained before they were restored
	Redo    bool       `json:"redo,omitempty"`
	Rewind  bool       `json:"rewind,omitempty"` // a history.rewound follows, which says so
}

// Text returns the event as one line for the screen.
func (r FileRestored) Text() string {
	const most = 5
	names := r.Paths[:min(len(r.Paths), most)]
	text := "undid the changes of "
	if r.Redo {
		text = "redid the changes of "
	}
	switch n := len(r.Prompts); {
	case r.Steps > 1:
		text += fmt.Sprintf("the last %d prompts", r.Steps)
	case n == 1:
		text += "“" + texts.Clip(r.Prompts[0], maxWords) + "”"
	default:
		text += "the last prompt"
	}
	if len(r.Agents) > 0 {
		text += ", also through agents (" + strings.Join(r.Agents, ", ") + ")"
	}
	text += ": " + strings.Join(names, ", ")
	if more := len(r.Paths) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// QuestionAsked holds a question to the person; the task waits.
type QuestionAsked struct {
	ID      string      `json:"id"`
	CallID  string      `json:"call_id"`
	From    string      `json:"from,omitempty"`   // who asks, untrusted text; "" for the model
	Gate    string      `json:"gate,omitempty"`   // the step of a workflow that waits for the answer; From names the workflow
	Plan    string      `json:"plan,omitempty"`   // file of the plan that is to be approved: Text is in it
	Before  action.Mode `json:"before,omitempty"` // of a plan: the mode from before, in which it would be carried out
	Text    string      `json:"text"`
	Choices []string    `json:"choices,omitempty"` // suggested answers; any other is accepted, too
}

// QuestionAnswered settles a question. By is user, cancel, or nobody (no person to ask).
type QuestionAnswered struct {
	ID     string `json:"id"`
	Text   string `json:"text"`
	By     string `json:"by"`
	Edited bool   `json:"edited,omitempty"` // Text is the plan as the user has changed it, which is asked about again
	Screen string `json:"screen,omitempty"` // where the user was, as in ApprovalAnswered
}

// PaneOpened announces a managed pane and how a person attaches to it.
type PaneOpened struct {
	Pane   string `json:"pane"` // tmux's id, such as %3; web-01:%3 where it is not on the first target
	Title  string `json:"title"`
	Target string `json:"target"`
	Attach string `json:"attach"`
	// Session is the name of the tmux session that the pane is in, which a resumed session keeps.
	Session string `json:"session,omitempty"`
}

// PaneLost marks that a pane vanished; the next use makes it again.
type PaneLost struct {
	Pane string `json:"pane"`
	Why  string `json:"why"`
}

// PaneClosed marks that buddy closed a pane.
type PaneClosed struct {
	Pane string `json:"pane"`
}

// Cursor is a position in a pane, from 0.
type Cursor struct {
	X       int  `json:"x"`
	Y       int  `json:"y"`
	Visible bool `json:"visible"`
}

// PaneScreen holds the visible text of a pane; the latest wins. Rows have SGR sequences as
// tmux captured them.
type PaneScreen struct {
	Pane   string   `json:"pane"`
	W      int      `json:"w"`
	H      int      `json:"h"`
	Cursor Cursor   `json:"cursor"`
	Rows   []string `json:"rows"`
	// AppKeys means that the program asked for application codes of the arrow keys.
	AppKeys bool `json:"app_keys,omitempty"`
}

// PaneHistory answers ReadPane: at most 2,000 lines of a pane's scrollback, the newest, then
// its screen, in the form of PaneScreen.
type PaneHistory struct {
	Pane string   `json:"pane"`
	Rows []string `json:"rows"`
}
