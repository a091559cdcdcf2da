package event

import (
	"time"

	"buddy/agent/action"
	"buddy/agent/model"
)

// Command is a request to the runtime. A command that cannot be carried out yields an Error event.
type Command interface{ command() }

// Decision is a person's answer to an approval.
type Decision string

// The decisions.
const (
	Once    Decision = "once"
	Similar Decision = "similar" // approves, and adds a rule for the session
	Edit    Decision = "edit"    // approves with changed arguments
	Deny    Decision = "deny"
	Try     Decision = "try"  // runs the command in a sandbox, or lets it continue there; then asks again
	Keep    Decision = "keep" // applies the tried command's changes
)

// RememberNothing is the Remember value of a denial whose reason is not stored for later sessions.
const RememberNothing = "nothing"

type (
	// Submit sends a prompt. While a task runs, the prompt is queued; with Background it starts its own task on a fork
	// of the conversation. With Shell, Text is a command typed after "!", whose output the model sees with the next
	// prompt. With Task, the prompt steers the subagent of that task. With a Key, a program can safely send the same
	// prompt again when it does not know whether the first one arrived: the second one only continues the exchange if a
	// crash interrupted it.
	Submit struct {
		Text       string        `json:"text,omitempty"`
		Key        string        `json:"key,omitempty"`
		Images     []model.Image `json:"images,omitempty"`
		Excerpts   []Excerpt     `json:"excerpts,omitempty"`
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
	// AnswerApproval answers an approval. If Decision is Deny, the model gets Reason, and Remember names the scope in
	// which Reason is stored for later sessions: RememberNothing if it is not stored, "" if the person was not asked.
	// If Decision is Edit, Args is JSON that replaces the arguments of the call. Nobody means that the call is denied
	// because there is no person to ask. Screen is the person's terminal; the session's process sets it.
	AnswerApproval struct {
		ID       string   `json:"id,omitempty"`
		Decision Decision `json:"decision,omitempty"`
		Args     string   `json:"args,omitempty"`
		Reason   string   `json:"reason,omitempty"`
		Remember string   `json:"remember,omitempty"`
		Nobody   bool     `json:"nobody,omitempty"`
		Screen   string   `json:"screen,omitempty"`
	}
	// Answer answers a question of the model. Edited means that Text is a plan that the person has edited. Nobody means
	// that there is no person to ask. Screen is as in AnswerApproval.
	Answer struct {
		ID     string `json:"id,omitempty"`
		Text   string `json:"text,omitempty"`
		Edited bool   `json:"edited,omitempty"`
		Nobody bool   `json:"nobody,omitempty"`
		Screen string `json:"screen,omitempty"`
	}
	// Cancel stops a task; 0 is the main one. With Only and without a running main task, it stops the only running
	// task.
	Cancel struct {
		Task int  `json:"task,omitempty"`
		Only bool `json:"only,omitempty"`
	}
	// Background turns the commands that the main task waits for into tasks; the model's calls return at once.
	Background struct{}
	// RetryNow skips the wait before the main task's request is sent again.
	RetryNow struct{}
	// SetTimeout sets the time after which a task is cancelled. Task 0 means the only running task.
	SetTimeout struct {
		Task     int           `json:"task,omitempty"`
		Duration time.Duration `json:"duration_ns,omitempty"`
	}
	// SetMode changes the approval mode, for a limited time if Duration is set. Screen is as in AnswerApproval.
	SetMode struct {
		Mode     action.Mode   `json:"mode,omitempty"`
		Duration time.Duration `json:"duration_ns,omitempty"`
		Screen   string        `json:"screen,omitempty"`
	}
	// CycleMode selects the next mode: ask, edits, auto where a sandbox is available, plan. Screen is as in
	// AnswerApproval.
	CycleMode struct {
		Screen string `json:"screen,omitempty"`
	}
	// SetGoal submits a prompt and keeps the main task working until a check succeeds. It replaces an earlier goal. For
	// zero fields of Limit, the limits in the settings apply.
	SetGoal struct {
		Goal    string  `json:"goal,omitempty"`
		Check   string  `json:"check,omitempty"`   // a command that must exit with 0
		Outside bool    `json:"outside,omitempty"` // Check runs outside the sandbox in auto mode, too
		Verdict bool    `json:"verdict,omitempty"` // a subagent must confirm the goal; implied without Check
		Limit   GoalUse `json:"limit"`
	}
	// ChangeGoal pauses, resumes or ends the goal. A running answer is completed.
	ChangeGoal struct {
		To GoalState `json:"to,omitempty"` // GoalPaused, GoalActive or GoalOff
	}
	// StartLoop submits a prompt at once and then again and again, each time while nothing else runs. Every is the time
	// between the starts of two runs; a run that takes longer delays the next one. The loop ends after a number of
	// runs, or at the end of a run with which a limit is reached; zeros are no limit.
	StartLoop struct {
		Prompt Submit        `json:"prompt"` // its Text, Images and Shell
		Every  time.Duration `json:"every_ns,omitempty"`
		Runs   int           `json:"runs,omitempty"`
		Limit  GoalUse       `json:"limit"` // of all runs; the time counts from the loop's start
	}
	// StopLoop ends the loop. A run that has started continues.
	StopLoop struct{}
	// RemoveRule removes a rule of the session or of the settings. The sender has already removed a rule of the
	// settings from its file.
	RemoveRule struct {
		Rule action.Rule `json:"rule"`
	}
	// SwitchModel selects another model from the next exchange on. Effort replaces the profile's reasoning effort;
	// Effort alone keeps the model and applies from the next request on, even within a task.
	SwitchModel struct {
		Profile string `json:"profile,omitempty"`
		Effort  string `json:"effort,omitempty"`
	}
	// SwitchTarget changes the target of calls that name no target.
	SwitchTarget struct {
		Name string `json:"name,omitempty"`
	}
	// Compact replaces old exchanges by a summary, regardless of the size of the context.
	Compact struct {
		Instructions string `json:"instructions,omitempty"` // the person's wishes for the summary
	}
	// Pin excludes an exchange from compaction; Off includes it again. Back counts from the newest exchange, which
	// is 1.
	Pin struct {
		Back int  `json:"back,omitempty"`
		Off  bool `json:"off,omitempty"`
	}
	// Rename changes the session's title; "" restores the title from the first prompt.
	Rename struct {
		Title string `json:"title,omitempty"`
	}
	// Undo restores the files that the agent changed during the last Steps prompts; prompts that changed no files don't
	// count. With Steps 0, it undoes one prompt, but only if that is the newest prompt of all. Without Force, Undo does
	// nothing if a file was changed since.
	Undo struct {
		Steps int  `json:"steps,omitempty"`
		Force bool `json:"force,omitempty"`
	}
	// Rewind returns the main conversation to the state before a prompt, whose event has the number ToSeq. Without
	// Force it does nothing if one of the files was changed since.
	Rewind struct {
		ToSeq        uint64 `json:"to_seq,omitempty"`
		Conversation bool   `json:"conversation,omitempty"`
		Files        bool   `json:"files,omitempty"` // restores all files that file tools changed since that prompt
		Force        bool   `json:"force,omitempty"`
	}
	// Redo reverts the newest Undo or Rewind. Without Force it does nothing if one of the files was changed since,
	// or if newer prompts exist.
	Redo struct {
		Force bool `json:"force,omitempty"`
	}
	// Review lets a read-only subagent look for defects in the changes since the commit Base. If Base is "", it reviews
	// the uncommitted changes or, if there are none, what the branch adds to the default branch.
	Review struct {
		Base string `json:"base,omitempty"`
	}
	// RunWorkflow runs a workflow with its inputs in a new exchange.
	RunWorkflow struct {
		Name   string            `json:"name,omitempty"`
		Inputs map[string]string `json:"inputs,omitempty"`
	}
	// ResumeWorkflow resumes a paused run; 0 is the newest one.
	ResumeWorkflow struct {
		Run int `json:"run,omitempty"`
	}
	// CancelWorkflow cancels a running or paused run; 0 is the newest one.
	CancelWorkflow struct {
		Run int `json:"run,omitempty"`
	}
	// SaveWorkflow creates a workflow from the calls of the last exchange, after the person's approval.
	SaveWorkflow struct {
		Name string `json:"name,omitempty"`
	}
	// WatchPanes selects the panes for which PaneScreen events are sent; it replaces the previous list.
	WatchPanes struct {
		IDs []string `json:"ids,omitempty"`
	}
	// PaneInput sends typed bytes to a pane. They may be a password, so no event and no log contains them.
	PaneInput struct {
		Pane  string `json:"pane,omitempty"`
		Bytes []byte `json:"bytes,omitempty"`
	}
	// PanePaste sends pasted text to a pane, with bracketed-paste marks if its program asked for them. No event and
	// no log contains the text.
	PanePaste struct {
		Pane string `json:"pane,omitempty"`
		Text string `json:"text,omitempty"`
	}
	// FitPane resizes a pane, in cells, to the view in which the person types into it; zeros restore the pane's own size.
	// It does nothing while a person is attached to the pane.
	FitPane struct {
		Pane string `json:"pane,omitempty"`
		W    int    `json:"w,omitempty"`
		H    int    `json:"h,omitempty"`
	}
	// ReadPane requests the PaneHistory of a pane.
	ReadPane struct {
		Pane string `json:"pane,omitempty"`
	}
	// KillPane closes a pane and ends its programs. It refuses the shared pane.
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
func (StartLoop) command()      {}
func (StopLoop) command()       {}
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
