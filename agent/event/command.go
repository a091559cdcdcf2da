package event

import (
	"time"

	"buddy/agent/action"
	"buddy/agent/model"
)

// Command is an imperative for the runtime. A command that makes no sense gives an
// Error event, never a crash.
type Command interface{ command() }

// Decision is a person's answer to an approval.
type Decision string

// The decisions.
const (
	Once    Decision = "once"
	Similar Decision = "similar" // and a rule for the rest of the session
	Edit    Decision = "edit"    // with other arguments
	Deny    Decision = "deny"
)

// ReportKind says what a report is about.
type ReportKind string

// The reports.
const (
	ReportStatus  ReportKind = "status"  // model, endpoint, tools, counters
	ReportTasks   ReportKind = "ps"      // what runs and what waits
	ReportContext ReportKind = "context" // how full the context is
)

type (
	// Submit is a prompt. While a task runs it queues, or with Background it starts a
	// task of its own on a fork of the conversation. With Shell it is a command, after a
	// "!", that a person runs; the model reads what it gave with the next prompt.
	Submit struct {
		Text       string
		Images     []model.Image
		Background bool
		Shell      bool
	}
	// Unqueue takes a queued prompt back.
	Unqueue struct{ ID int }
	// Continue goes on with an exchange that was interrupted by a crash.
	Continue struct{}
	// AnswerApproval gives a person's answer to an approval. Reason goes to the model when it is denied; Args are
	// the call's new arguments, JSON, when it is edited. Nobody says that it is denied because
	// there is no person who could be asked.
	AnswerApproval struct {
		ID       string
		Decision Decision
		Args     string
		Reason   string
		Nobody   bool
	}
	// Answer is what a person says to a question. Nobody says that there is none.
	Answer struct {
		ID, Text string
		Nobody   bool
	}
	// Cancel stops a task; 0 means the main one.
	Cancel struct{ Task int }
	// RetryNow ends the wait before the main task's request is sent again.
	RetryNow struct{}
	// SetTimeout gives a task a time from now on in which it has to end; else it is
	// cancelled. 0 as the task means the only one that runs.
	SetTimeout struct {
		Task     int
		Duration time.Duration
	}
	// SetMode sets how approvals are decided; with a Duration only for that long.
	SetMode struct {
		Mode     action.Mode
		Duration time.Duration
	}
	// SwitchModel makes another model answer from the next exchange on. With Effort it thinks
	// that much instead of what its profile says; with Effort alone the model stays, and that
	// counts from the next request on, also while a task runs.
	SwitchModel struct{ Profile, Effort string }
	// SwitchTarget makes another target the one of calls that name none.
	SwitchTarget struct{ Name string }
	// Compact replaces old exchanges by a summary, however full the context is.
	Compact struct{}
	// Pin keeps an exchange out of every compaction, or with Off no longer. Back counts
	// from the newest one, which is 1.
	Pin struct {
		Back int
		Off  bool
	}
	// Rename gives the session another title, "" that of its first prompt.
	Rename struct{ Title string }
	// Undo puts the files back that the agent changed for the last prompts that changed
	// any, Steps of them. Without Force it does nothing when somebody changed one since.
	Undo struct {
		Steps int
		Force bool
	}
	// Report asks for a Notice about the session: its state or its tasks.
	Report struct{ What ReportKind }
	// WatchPanes names the panes whose pictures are wanted; it replaces the last one.
	WatchPanes struct{ IDs []string }
	// PaneInput is typed into a pane by a person: bytes as a terminal sends them. It is in no
	// event and no log, because it may be a password.
	PaneInput struct {
		Pane  string
		Bytes []byte
	}
	// PanePaste is what a person pasted into a pane, as text; the pane's program is told that
	// it is a paste if it asked for that. Like PaneInput it is in no event and no log.
	PanePaste struct{ Pane, Text string }
	// FitPane gives a pane the size of its view, in cells, while somebody types into it here;
	// zeros give it back its own. While a person is attached nothing happens.
	FitPane struct {
		Pane string
		W, H int
	}
	// ReadPane asks for the PaneHistory of a pane.
	ReadPane struct{ Pane string }
	// KillPane closes a pane and ends what runs in it. The shared pane stays.
	KillPane struct{ Pane string }
)

func (Submit) command()         {}
func (Unqueue) command()        {}
func (Continue) command()       {}
func (AnswerApproval) command() {}
func (Answer) command()         {}
func (Cancel) command()         {}
func (SetTimeout) command()     {}
func (SetMode) command()        {}
func (RetryNow) command()       {}
func (SwitchModel) command()    {}
func (SwitchTarget) command()   {}
func (Compact) command()        {}
func (Pin) command()            {}
func (Rename) command()         {}
func (Undo) command()           {}
func (Report) command()         {}
func (WatchPanes) command()     {}
func (PaneInput) command()      {}
func (PanePaste) command()      {}
func (FitPane) command()        {}
func (ReadPane) command()       {}
func (KillPane) command()       {}
