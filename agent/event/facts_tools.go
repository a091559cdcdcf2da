package event

import (
	"fmt"
	"strings"

	"buddy/agent/action"
)

// ToolRequested is a model's call with the action that it would take. A call whose
// arguments do not fit has an empty action.
type ToolRequested struct {
	CallID    string        `json:"call_id"`
	Name      string        `json:"name"`
	Arguments string        `json:"arguments"`
	Action    action.Action `json:"action"`
	Target    string        `json:"target,omitempty"`
}

// ApprovalAsked waits for a person.
type ApprovalAsked struct {
	ID      string         `json:"id"`
	CallID  string         `json:"call_id"`
	Action  action.Action  `json:"action"`
	Verdict action.Verdict `json:"verdict"`
	// Context is what else a person should know; Context.Similar is the rule that the
	// decision similar adds, "" when there is none.
	Context action.ApprovalContext `json:"context,omitzero"`
}

// ApprovalAnswered settles an approval; the first answer wins.
type ApprovalAnswered struct {
	ID       string   `json:"id"`
	CallID   string   `json:"call_id"`
	Decision Decision `json:"decision"`
	By       string   `json:"by"`             // user, policy, nobody (could be asked), prompt (came instead), cancel or shutdown
	Args     string   `json:"args,omitempty"` // that replace those of the call
	Reason   string   `json:"reason,omitempty"`
}

// ToolStarted says that a tool's side effects may begin. Dir is where its output is
// kept and from where an interrupted command is found again.
type ToolStarted struct {
	CallID   string `json:"call_id"`
	Name     string `json:"name"`
	Pane     string `json:"pane,omitempty"`     // where it works, if that is there already
	Terminal bool   `json:"terminal,omitempty"` // it has the screen to itself: live output is what a terminal gets
	Dir      string `json:"dir,omitempty"`
}

// ToolOutput is live output. Text may hold anything, escape sequences too; bytes that
// are not UTF-8 were replaced. BytesTotal counts the stream so far.
type ToolOutput struct {
	CallID     string `json:"call_id"`
	Stream     string `json:"stream"`
	Text       string `json:"text"`
	BytesTotal int64  `json:"bytes_total"`
}

// FullOutput names the file that holds a whole output.
type FullOutput struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
}

// ToolResult is what the model read, with the end of the output for the screen.
type ToolResult struct {
	CallID     string      `json:"call_id"`
	Name       string      `json:"name"`
	Result     string      `json:"result"`
	IsError    bool        `json:"is_error,omitempty"`
	ExitCode   *int        `json:"exit_code,omitempty"`
	DurationMS int64       `json:"duration_ms"`
	Tail       string      `json:"tail,omitempty"` // at most 64 KiB
	FullOutput *FullOutput `json:"full_output,omitempty"`
}

// FileKept says what files were before a call changes them, so that /undo can put them
// back. It comes before the change.
type FileKept struct {
	CallID string     `json:"call_id"`
	Target string     `json:"target"` // where the files are
	Files  []KeptFile `json:"files"`
}

// KeptFile is one of them.
type KeptFile struct {
	Path    string `json:"path"`
	Copy    string `json:"copy,omitempty"` // the file with its content; empty when there was none, or it is too large
	Existed bool   `json:"existed"`
	Perm    int    `json:"perm,omitempty"` // permissions
	Bytes   int64  `json:"bytes,omitempty"`
	After   string `json:"after,omitempty"` // tells the content that the call makes from others; empty when it deletes the file
}

// FileRestored says that a person took changes of files back.
type FileRestored struct {
	Calls []string `json:"calls"` // whose changes they are
	Paths []string `json:"paths"` // web:/etc/hosts where that is not on the first target
	Steps int      `json:"steps"` // how many prompts went back
}

// Text says it for people.
func (r FileRestored) Text() string {
	const most = 5
	names := r.Paths[:min(len(r.Paths), most)]
	text := "took back what the last prompt changed"
	if r.Steps > 1 {
		text = fmt.Sprintf("took back what the last %d prompts changed", r.Steps)
	}
	text += ": " + strings.Join(names, ", ")
	if more := len(r.Paths) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// QuestionAsked is a question of the model to the person; the task waits.
type QuestionAsked struct {
	ID      string   `json:"id"`
	CallID  string   `json:"call_id"`
	Text    string   `json:"text"`
	Choices []string `json:"choices,omitempty"` // to choose from; any other answer will do, too
}

// QuestionAnswered settles a question. By is user, cancel, or nobody, who could be asked.
type QuestionAnswered struct {
	ID   string `json:"id"`
	Text string `json:"text"`
	By   string `json:"by"`
}

// PaneOpened says that a terminal pane exists and how a person attaches to it.
type PaneOpened struct {
	Pane   string `json:"pane"` // tmux's id, such as %3; web-01:%3 where it is not on the first target
	Title  string `json:"title"`
	Target string `json:"target"`
	Attach string `json:"attach"`
}

// PaneLost says that a pane vanished; it is made again when it is needed.
type PaneLost struct {
	Pane string `json:"pane"`
	Why  string `json:"why"`
}

// PaneClosed says that we closed a pane.
type PaneClosed struct {
	Pane string `json:"pane"`
}

// Cursor is a place in a pane, from 0.
type Cursor struct {
	X       int  `json:"x"`
	Y       int  `json:"y"`
	Visible bool `json:"visible"`
}

// PaneScreen is a picture of a pane; the latest wins. Rows hold text with SGR
// sequences as tmux captured them.
type PaneScreen struct {
	Pane   string   `json:"pane"`
	W      int      `json:"w"`
	H      int      `json:"h"`
	Cursor Cursor   `json:"cursor"`
	Rows   []string `json:"rows"`
	// AppKeys says that the program asked for the other codes of the arrow keys.
	AppKeys bool `json:"app_keys,omitempty"`
}

// PaneHistory answers ReadPane: the newest lines of a pane, at most 2,000 that scrolled
// away and then its screen, as PaneScreen has them.
type PaneHistory struct {
	Pane string   `json:"pane"`
	Rows []string `json:"rows"`
}
