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

// ToolRequested holds a tool call of the model and its action. With invalid arguments the action is empty.
type ToolRequested struct {
	CallID    string            `json:"call_id"`
	Name      string            `json:"name"`
	Corrected string            `json:"corrected,omitempty"` // the misspelled name that the model wrote
	Renamed   map[string]string `json:"renamed,omitempty"`   // misspelled names of arguments with the correct ones
	Arguments string            `json:"arguments"`
	Action    action.Action     `json:"action"`
	Target    string            `json:"target,omitempty"`
}

// Counted returns the name of the tool that the call really runs: the one that use_tool calls, otherwise Name.
func (t ToolRequested) Counted() string {
	if t.Name == "use_tool" && t.Action.Tool != "" {
		return t.Action.Tool
	}
	return t.Name
}

// Slips returns the corrections of misspelled argument names, such as "comand → command", or "".
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
	// Context helps a person to decide; Context.Similar is the rule that the decision Similar adds, or "".
	Context action.ApprovalContext `json:"context,omitzero"`
	Agent   string                 `json:"agent,omitempty"` // the asking subagent with the title of its task
}

// ApprovalAnswered settles an approval; the first answer wins.
type ApprovalAnswered struct {
	ID       string   `json:"id"`
	CallID   string   `json:"call_id"`
	Decision Decision `json:"decision"`
	By       string   `json:"by"`             // user, policy, nobody (no person to ask), prompt (a prompt came instead), cancel or shutdown
	Rule     string   `json:"rule,omitempty"` // of the policy
	Args     string   `json:"args,omitempty"` // replacement of the call's arguments
	Reason   string   `json:"reason,omitempty"`
	Remember string   `json:"remember,omitempty"` // scope in which the reason is stored: folder, person or team; nothing: for this call only
	Screen   string   `json:"screen,omitempty"`   // the user's terminal, if known: ssh from 10.0.0.5, pts/3
}

// ToolStarted marks that a tool's side effects may begin. Dir holds its output and identifies an interrupted
// command. A second ToolStarted of a call means that the read-only sandbox stopped the command and that it runs
// again in the workspace sandbox.
type ToolStarted struct {
	CallID   string `json:"call_id"`
	Name     string `json:"name"`
	Pane     string `json:"pane,omitempty"`     // of the command, if the pane exists already
	Terminal bool   `json:"terminal,omitempty"` // the command runs full screen: its live output is for a terminal
	Dir      string `json:"dir,omitempty"`
	Fenced   bool   `json:"fenced,omitempty"` // the command runs in the workspace sandbox
}

// ToolOutput holds live output. Text may contain anything, including escape sequences; invalid UTF-8 was replaced.
// BytesTotal is the number of bytes in the stream so far.
type ToolOutput struct {
	CallID     string `json:"call_id"`
	Stream     string `json:"stream"`
	Text       string `json:"text"`
	BytesTotal int64  `json:"bytes_total"`
}

// SubagentBackgrounded marks that a subagent works in the background: the call that started it has ended. OutputFile
// gets the subagent's whole result when the subagent ends.
type SubagentBackgrounded struct {
	ID         int    `json:"id"` // of its task
	Agent      string `json:"agent"`
	OutputFile string `json:"output_file,omitempty"` // "" if outputs are not kept
}

// ToolQueued marks that a call of the streaming answer is complete. The call starts now, or waits for other calls, for
// the end of the answer, or for an approval. If the answer is retried, the call never starts.
type ToolQueued struct {
	CallID string `json:"call_id"`
	Name   string `json:"name"` // as the model wrote it
}

// ToolWaits marks that the command of a call waits for keys in its terminal, or has stopped waiting.
type ToolWaits struct {
	CallID string `json:"call_id"`
	Waits  bool   `json:"waits"`
}

// ToolResult holds the result text for the model, and separate fields for people and programs, so that nothing has to
// parse the text.
type ToolResult struct {
	CallID     string             `json:"call_id"`
	Name       string             `json:"name"`
	Seen       []action.SeenFile  `json:"seen,omitempty"` // precedes Result, so that a decoder can skip it
	Result     string             `json:"result"`
	Aside      string             `json:"aside,omitempty"`   // the end of Result that only the model sees
	Shown      string             `json:"shown,omitempty"`   // replaces Result on the screen if it is not the tool's output
	Outcome    string             `json:"outcome,omitempty"` // the result in a few words
	IsError    bool               `json:"is_error,omitempty"`
	ExitCode   *int               `json:"exit_code,omitempty"`
	Exits      map[string]int     `json:"exits,omitempty"` // exit codes of a command on several targets, as far as known
	DurationMS int64              `json:"duration_ms"`
	Tail       string             `json:"tail,omitempty"`   // the end of the output for the screen, at most 64 KiB
	Stdout     *string            `json:"stdout,omitempty"` // the part of Tail from stdout, if stderr is not empty
	FullOutput *action.FullOutput `json:"full_output,omitempty"`
	Original   string             `json:"original,omitempty"` // the tool's result, if a hook replaced it; not sent to the model
}

// Text returns the result for the screen, "" for an empty one. JSON of other programs is formatted as a list.
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

// Failed reports whether the call or its command failed.
func (r ToolResult) Failed() bool { return r.IsError || r.ExitCode != nil && *r.ExitCode != 0 }

// TargetConnecting reports that connecting to a target started or ended.
type TargetConnecting struct {
	Target string `json:"target"`
	Ended  bool   `json:"ended,omitempty"` // connected, or not reachable
}

// HookStarted reports that a hook started.
type HookStarted struct {
	Event  string `json:"event"` // SessionStart, PreToolUse, …
	Name   string `json:"name"`
	Status string `json:"status,omitempty"` // the hook's text for the screen
}

// HookRan reports the result of a hook.
type HookRan struct {
	Event   string `json:"event"`
	Name    string `json:"name"`
	Source  string `json:"source"`  // person, project, plugin
	Outcome string `json:"outcome"` // ok, allow, deny, ask, block, stop, cancelled, or failed with the reason
	Exit    int    `json:"exit"`    // -1 without an exit code
	MS      int64  `json:"ms"`
}

// FileKept stores, for /undo, the content of files before a call changes them, or the changes that a command has made.
type FileKept struct {
	CallID  string     `json:"call_id"`
	Target  string     `json:"target"`
	Files   []KeptFile `json:"files,omitempty"`
	Command string     `json:"command,omitempty"` // the command line
	List    string     `json:"list,omitempty"`    // file with the changes of the command, see package snapshot
	Count   int        `json:"count,omitempty"`   // paths in List
	Git     string     `json:"git,omitempty"`     // which branch the command moved, and how to move it back
}

// KeptFile is one saved file.
type KeptFile struct {
	Path    string `json:"path"`
	Copy    string `json:"copy,omitempty"` // file with the old content; empty if the file did not exist or is too large
	Existed bool   `json:"existed"`
	Perm    int    `json:"perm,omitempty"` // permissions
	Bytes   int64  `json:"bytes,omitempty"`
	After   string `json:"after,omitempty"` // identifies the content that the call writes; empty if it deletes the file
}

// FileRestoring announces that files will be restored. FileRestored or FileUnchanged follows; otherwise the process
// ended, and some of the files may have been restored.
type FileRestoring struct {
	Calls  []string   `json:"calls"`            // the calls whose changes are undone
	Target string     `json:"target,omitempty"` // target of the files
	Kept   []KeptFile `json:"kept,omitempty"`   // content of the files before the restore
	List   string     `json:"list,omitempty"`   // instead of Kept, if commands changed files: see [FileKept]
	Redo   bool       `json:"redo,omitempty"`
}

// EffectApplying announces that the changes that a command made in a trial run are about to be applied to the
// workspace. The command does not run again.
type EffectApplying struct {
	CallID string `json:"call_id"`
}

// EffectApplied marks that the changes announced by EffectApplying were made.
type EffectApplied struct {
	CallID string `json:"call_id"`
	Files  int    `json:"files"` // changed files
}

// FileUnchanged revokes a FileKept or FileRestoring: no file was changed.
type FileUnchanged struct {
	CallID string `json:"call_id,omitempty"` // the call that failed; empty for FileRestoring
}

// FileRestored marks that a person undid changes of files. With Redo, the newest undo was reverted instead.
type FileRestored struct {
	Calls   []string   `json:"calls"`             // the calls whose changes were undone
	Paths   []string   `json:"paths"`             // web:/etc/hosts if not on the first target; with List only the first ones
	Steps   int        `json:"steps"`             // number of prompts undone
	Prompts []string   `json:"prompts,omitempty"` // first words of the newest ones, oldest first; untrusted
	Agents  []string   `json:"agents,omitempty"`  // subagents that made some of these changes, such as explore #5
	Target  string     `json:"target,omitempty"`  // target of the files
	Kept    []KeptFile `json:"kept,omitempty"`    // content of the files before they were restored
	List    string     `json:"list,omitempty"`    // instead of Kept, if commands changed files: see [FileKept]
	Count   int        `json:"count,omitempty"`   // with List: number of paths
	Left    []string   `json:"left,omitempty"`    // with List: some paths that could not be restored, because their content is not kept
	Redo    bool       `json:"redo,omitempty"`
	Rewind  bool       `json:"rewind,omitempty"` // a history.rewound with the same content follows
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
	if more := max(r.Count, len(r.Paths)) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	if len(r.Left) > 0 {
		text += " · not restored: " + strings.Join(r.Left, ", ")
	}
	return text
}

// QuestionAsked holds a question to the user; the task waits for the answer.
type QuestionAsked struct {
	ID      string      `json:"id"`
	CallID  string      `json:"call_id"`
	From    string      `json:"from,omitempty"`   // who asks, untrusted text; "" is the model
	Gate    string      `json:"gate,omitempty"`   // the waiting step of a workflow; From names the workflow
	Plan    string      `json:"plan,omitempty"`   // file of the plan in Text, which needs approval
	Before  action.Mode `json:"before,omitempty"` // with a plan: the mode before planning, in which the plan would be carried out
	Text    string      `json:"text"`
	Choices []string    `json:"choices,omitempty"` // suggested answers; any other is accepted
}

// QuestionAnswered settles a question. By is user, cancel, or nobody (no person to ask).
type QuestionAnswered struct {
	ID     string `json:"id"`
	Text   string `json:"text"`
	By     string `json:"by"`
	Edited bool   `json:"edited,omitempty"` // Text is the plan as changed by the user; the question is asked again
	Screen string `json:"screen,omitempty"` // the user's terminal, as in ApprovalAnswered
}

// PaneOpened announces a managed pane and how a person attaches to it.
type PaneOpened struct {
	Pane   string `json:"pane"` // tmux's id, such as %3; web-01:%3 if not on the first target
	Title  string `json:"title"`
	Target string `json:"target"`
	Attach string `json:"attach"`
	// Session is the tmux session of the pane, which a resumed session reuses.
	Session string `json:"session,omitempty"`
}

// PaneLost marks that a pane has vanished; buddy creates it again when it is next used.
type PaneLost struct {
	Pane string `json:"pane"`
	Why  string `json:"why"`
}

// PaneClosed marks that buddy closed a pane.
type PaneClosed struct {
	Pane string `json:"pane"`
}

// Cursor is the cursor's position in a pane, counted from 0.
type Cursor struct {
	X       int  `json:"x"`
	Y       int  `json:"y"`
	Visible bool `json:"visible"`
}

// PaneScreen holds the visible text of a pane; the latest one wins. Rows contain SGR sequences as captured by tmux.
type PaneScreen struct {
	Pane   string   `json:"pane"`
	W      int      `json:"w"`
	H      int      `json:"h"`
	Cursor Cursor   `json:"cursor"`
	Rows   []string `json:"rows"`
	// AppKeys means that the program uses application codes for the arrow keys.
	AppKeys bool `json:"app_keys,omitempty"`
}

// PaneHistory answers ReadPane: the newest lines of a pane's scrollback, at most 2,000, then its screen, with rows
// as in PaneScreen.
type PaneHistory struct {
	Pane string   `json:"pane"`
	Rows []string `json:"rows"`
}
