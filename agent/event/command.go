package event

import (
	"time"

	"buddy/agent/action"
	"buddy/agent/model"
)

// Command is an imperative for the runtime. A command that cannot be carried out yields an
// Error event, never a crash.
type Command interface{ command() }

// Decision is a person's answer to an approval.
type Decision string

// The decisions.
const (
	Once    Decision = "once"
	Similar Decision = "similar" // approves, and adds a rule for the rest of the session
	Edit    Decision = "edit"    // approves with other arguments
	Deny    Decision = "deny"
)

// RememberNothing is the answer to where the reason of a denial is kept for later sessions: nowhere, it holds
// only this time.
const RememberNothing = "nothing"

type (
	// Submit sends a prompt. While a task runs it is queued, or with Background it starts a task
	// of its own on a fork of the conversation. With Shell, Text is a command that a person typed
	// after "!"; the model sees its output with the next prompt. With Task, it steers that subagent.
	Submit struct {
		Text       string        `json:"text,omitempty"`
		Images     []model.Image `json:"images,omitempty"`
		Background bool          `json:"background,omitempty"`
		Shell      bool          `json:"shell,omitempty"`
		Task       int           `json:"task,omitempty"`
	}
	// Unqueue withdraws a queued prompt.
	Unqueue struct {
		ID int `json:"id,omitempty"`
	}
	// Continue resumes an exchange that a crash or an outage interrupted.
	Continue struct{}
	// AnswerApproval answers an approval. Reason goes to the model with a denial; Args, JSON,
	// replace the call's arguments with Edit. Remember names the scope in which the reason of a
	// denial is kept for later sessions, or is RememberNothing; "" says that nobody was asked where. Nobody marks a denial because
	// there is no person to ask. Screen says where the person is; the process that runs the session
	// fills it in.
	AnswerApproval struct {
		ID       string   `json:"id,omitempty"`
		Decision Decision `json:"decision,omitempty"`
		Args     string   `json:"args,omitempty"`
		Reason   string   `json:"reason,omitempty"`
		Remember string   `json:"remember,omitempty"`
		Nobody   bool     `json:"nobody,omitempty"`
		Screen   string   `json:"screen,omitempty"`
	}
	// Answer replies to a question of the model. Edited means that Text is what the person has made of
	// a plan. Nobody means that there is no person to ask. Screen is as in AnswerApproval.
	Answer struct {
		ID     string `json:"id,omitempty"`
		Text   string `json:"text,omitempty"`
		Edited bool   `json:"edited,omitempty"`
		Nobody bool   `json:"nobody,omitempty"`
		Screen string `json:"screen,omitempty"`
	}
	// Cancel stops a task; 0 is the main one. With Only it is the only one that runs where the main one does not.
	Cancel struct {
		Task int  `json:"task,omitempty"`
		Only bool `json:"only,omitempty"`
	}
	// Background lets the commands that the main task waits for go on as tasks of their own; the model's
	// calls return at once.
	Background struct{}
	// RetryNow skips the wait before the main task's request is sent again.
	RetryNow struct{}
	// SetTimeout sets the time left for a task; when it has passed, the task is cancelled. Task 0
	// is the only one that runs.
	SetTimeout struct {
		Task     int           `json:"task,omitempty"`
		Duration time.Duration `json:"duration_ns,omitempty"`
	}
	// SetMode changes how approvals are decided, for the Duration if that is set.
	// Screen is as in AnswerApproval.
	SetMode struct {
		Mode     action.Mode   `json:"mode,omitempty"`
		Duration time.Duration `json:"duration_ns,omitempty"`
		Screen   string        `json:"screen,omitempty"`
	}
	// CycleMode changes to the next mode: ask, edits, auto where the fence is available, plan.
	// Screen is as in AnswerApproval.
	CycleMode struct {
		Screen string `json:"screen,omitempty"`
	}
	// SetGoal submits a prompt and keeps the main task going until a check says that it is done; a goal
	// that there was ends. What Limit leaves out is as the settings say.
	SetGoal struct {
		Goal    string  `json:"goal,omitempty"`
		Check   string  `json:"check,omitempty"`   // a command that has to exit with 0
		Outside bool    `json:"outside,omitempty"` // Check runs outside the fence in mode auto, too
		Verdict bool    `json:"verdict,omitempty"` // a subagent has to say so; implied without Check
		Limit   GoalUse `json:"limit"`
	}
	// ChangeGoal pauses the goal, resumes it or ends it. What runs goes on to its answer.
	ChangeGoal struct {
		To GoalState `json:"to,omitempty"` // GoalPaused, GoalActive or GoalOff
	}
	// RemoveRule ends a rule: one of the session, or one of the settings, whose file the sender has
	// changed.
	RemoveRule struct {
		Rule action.Rule `json:"rule"`
	}
	// SwitchModel selects another model from the next exchange on. With Effort, that reasoning
	// effort replaces the profile's; Effort alone keeps the model and takes effect with the next
	// request, also while a task runs.
	SwitchModel struct {
		Profile string `json:"profile,omitempty"`
		Effort  string `json:"effort,omitempty"`
	}
	// SwitchTarget changes the target of calls that name none.
	SwitchTarget struct {
		Name string `json:"name,omitempty"`
	}
	// Compact replaces old exchanges by a summary, however full the context window is.
	Compact struct {
		Instructions string `json:"instructions,omitempty"` // what the person wants of the summary
	}
	// Pin excludes an exchange from compaction, or includes it again with Off. Back counts from
	// the newest exchange, which is 1.
	Pin struct {
		Back int  `json:"back,omitempty"`
		Off  bool `json:"off,omitempty"`
	}
	// Rename changes the session's title; "" restores that of its first prompt.
	Rename struct {
		Title string `json:"title,omitempty"`
	}
	// Undo restores the files that the agent changed for the last Steps prompts that changed any. Steps
	// 0 is the last one, unless prompts came after it. Without Force it does nothing if one of them was
	// changed since.
	Undo struct {
		Steps int  `json:"steps,omitempty"`
		Force bool `json:"force,omitempty"`
	}
	// Rewind goes back to before a prompt: the one whose event has the number ToSeq, in the main
	// conversation, as far as it still counts. Without Force it does nothing if one of the files was
	// changed since.
	Rewind struct {
		ToSeq        uint64 `json:"to_seq,omitempty"`
		Conversation bool   `json:"conversation,omitempty"`
		Files        bool   `json:"files,omitempty"` // all that the tools for files changed since
		Force        bool   `json:"force,omitempty"`
	}
	// Redo takes the newest Undo or Rewind back. Without Force it does nothing if one of the files was
	// changed since, or prompts came after it.
	Redo struct {
		Force bool `json:"force,omitempty"`
	}
	// Review lets a subagent that only reads look at what differs from a commit, and list its defects. Base
	// names the commit; "" is what is not committed, else what the branch adds to the default branch.
	Review struct {
		Base string `json:"base,omitempty"`
	}
	// RunWorkflow runs a workflow, with its inputs as text, in an exchange of its own.
	RunWorkflow struct {
		Name   string            `json:"name,omitempty"`
		Inputs map[string]string `json:"inputs,omitempty"`
	}
	// ResumeWorkflow goes on with a run that is paused; 0 is the newest such.
	ResumeWorkflow struct {
		Run int `json:"run,omitempty"`
	}
	// CancelWorkflow ends a run that runs or is paused; 0 is the newest such.
	CancelWorkflow struct {
		Run int `json:"run,omitempty"`
	}
	// SaveWorkflow makes a workflow of the calls of the last exchange; the person is asked before it is written.
	SaveWorkflow struct {
		Name string `json:"name,omitempty"`
	}
	// WatchPanes names the panes to send PaneScreen events of; it replaces the previous list.
	WatchPanes struct {
		IDs []string `json:"ids,omitempty"`
	}
	// PaneInput sends what a person types into a pane: bytes as from a terminal. No event and no
	// log holds it, because it may be a password.
	PaneInput struct {
		Pane  string `json:"pane,omitempty"`
		Bytes []byte `json:"bytes,omitempty"`
	}
	// PanePaste sends pasted text to a pane, with paste marks if the pane's program asked for
	// them. No event and no log holds it.
	PanePaste struct {
		Pane string `json:"pane,omitempty"`
		Text string `json:"text,omitempty"`
	}
	// FitPane resizes a pane to its view, in cells, while somebody types into it here; zeros
	// restore its size. It does nothing while a person is attached.
	FitPane struct {
		Pane string `json:"pane,omitempty"`
		W    int    `json:"w,omitempty"`
		H    int    `json:"h,omitempty"`
	}
	// ReadPane asks for the PaneHistory of a pane.
	ReadPane struct {
		Pane string `json:"pane,omitempty"`
	}
	// KillPane closes a pane and ends what runs in it. It refuses the shared pane.
	KillPane struct {
		Pane string `json:"pane,omitempty"`
	}
)

func (Submit) command()         {}
func (Unqueue) command()        {}
func (Continue) command()       {}
func (AnswerApproval) command() {}
func (Answer) command()         {}
func (Cancel) command()         {}
func (Background) command()     {}
func (SetTimeout) command()     {}
func (SetMode) command()        {}
func (CycleMode) command()      {}
func (RemoveRule) command()     {}
func (SetGoal) command()        {}
func (ChangeGoal) command()     {}
func (RetryNow) command()       {}
func (SwitchModel) command()    {}
func (SwitchTarget) command()   {}
func (Compact) command()        {}
func (Pin) command()            {}
func (Rename) command()         {}
func (Undo) command()           {}
func (Rewind) command()         {}
func (Redo) command()           {}
func (Review) command()         {}
func (RunWorkflow) command()    {}
func (ResumeWorkflow) command() {}
func (CancelWorkflow) command() {}
func (SaveWorkflow) command()   {}
func (WatchPanes) command()     {}
func (PaneInput) command()      {}
func (PanePaste) command()      {}
func (FitPane) command()        {}
func (ReadPane) command()       {}
func (KillPane) command()       {}
