// Package state holds what the screen shows of a session, computed from the session's events: the conversation as
// blocks, such as a prompt, an answer or a tool call, and the tasks, approvals and panes.
//
//	var s state.State
//	changed := s.Apply(env)
//	if changed&state.Conversation != 0 { conversation.Update(&s) }
//
// Events are added with [State.Apply] and, for a stored session, with functions such as [State.ApplyTail]. They do no
// I/O and read no clock, so that a stored session looks the same as a live one. Only the UI goroutine uses a State.
// The zero State is an empty conversation.
package state

import (
	"slices"

	"buddy/agent/action"
	"buddy/agent/event"
)

// Changed is a set of the parts of a State that an event changed.
type Changed uint16

// The parts.
const (
	Conversation Changed = 1 << iota
	Output               // the live output of a tool call
	Panes
	Tasks
	Approvals
	Header // model, context, mode, totals
	Queue  // queued prompts
	Commands
	Servers // states of MCP servers
)

// Everything makes a view update completely.
const Everything = Changed(1<<16 - 1)

// State holds all that the screen draws.
type State struct {
	Info      Info
	Blocks    []*Block // oldest first; a block's address and Seq never change
	Tasks     TaskList // by id; of the finished ones the last maxFinished, and the last maxAgents subagents
	Steps     Steps    // the model's list of its work
	Approvals []event.ApprovalAsked
	Questions []event.QuestionAsked // of the model to the user, oldest first
	Panes     []*Pane
	Began     string // id of the last command's pane, or of a pane opened since; may be gone; BarePane stands for Bare
	Bare      *Call  // the last call worth watching that started without a pane; nil for none
	Queued    []event.PromptSubmitted
	History   *event.PaneHistory  // the last pane output that was scrolled back to; else nil
	Heard     int64               // Unix milliseconds when the main task's model last sent something; 0 without a request
	Coming    Coming              // the progress of the main task's answer
	Retries   Retries             // of the main task's request
	Back      WayBack             // in the main conversation
	Hooks     []event.HookStarted // running ones
	Reaching  []string            // targets being connected to
	Focused   *Call               // the last call that started, whose output is shown
	Trying    *Call               // the last call that was tried; nil: none

	open      openBlocks
	calls     map[string]*Block          // by call id, while the call has no result
	live      []*Call                    // finished calls that still hold their output, oldest first
	ran       map[string]*Call           // by target: the last command in the shared pane
	servers   map[string]event.MCPServer // the last states of MCP servers
	workflows map[int]*Workflow          // by run
	convs     map[int]*State             // by branch: the conversations of working subagents; nil for a fork of this one
	kept      []event.Envelope           // all applied events while PrependState may need them; else nil
	parts     parts
	window    window
}

// Info holds what the screen's header shows.
type Info struct {
	Session string
	Event   event.SessionCreated // the latest of session.created and session.resumed
	First   string               // the first target of the session
	// Fallback is the model that answers in place of the session's, "" for none.
	Fallback string
	Mode     action.Mode
	Until    int64 // Unix milliseconds when Mode ends; 0 = never
	Context  event.ContextUsage
	Usage    event.MetricsUsage
	Last     int64 // Unix milliseconds of the latest event
	// Commands are the skills and custom commands that can be called now.
	Commands []event.CustomCommand
	Servers  ServerCount
	// Prompts are the prompts of the ready MCP servers, as commands.
	Prompts []event.CustomCommand
	// Goal is the newest goal of the session; State "" for none.
	Goal event.GoalChanged
	// Interrupted reports whether event.Continue would resume an interrupted exchange.
	Interrupted bool
}

// ServerCount counts the MCP servers that are not off.
type ServerCount struct {
	All      int
	Starting int
}

// Kind is the kind of a block's content.
type Kind uint8

// The kinds of blocks.
const (
	UserBlock Kind = iota + 1
	AssistantBlock
	ReasoningBlock
	ToolBlock
	NoticeBlock
	WarningBlock
	ErrorBlock
	SkillBlock    // the text of a custom command; its first line names the command
	WorkflowBlock // the progress of a workflow run: its name, then a line for each step
	RetryBlock    // the failed attempts of a request: why, and how many
	StoppedBlock  // the answer was interrupted, with what to do next
)

// Block is one piece of the conversation. Its Text is untrusted. While the block is Open, its Text may grow at its end.
// Every other change except closing increases Gen.
type Block struct {
	Seq  uint64 // of the event that created it
	Kind Kind
	Text []byte
	Gen  int
	Open bool
	Time int64 // Unix milliseconds
	Took int64 // duration of a complete ReasoningBlock in milliseconds; 0 if unknown
	Call *Call // ToolBlock only
	// Review holds the review whose findings the block shows, else nil.
	Review *event.ReviewFinished
	Raw    string // the provider's answer; untrusted; shown only on request
	Retry  *Retry // of a RetryBlock while the request waits to be sent again; else nil

	last     uint64 // Seq of the last event in it
	parallel bool   // it is about another branch
	passes   bool   // it is about a running command, and is removed once no command runs
}

// CallState is the progress of a tool call.
type CallState uint8

// The states of a call.
const (
	CallRequested CallState = iota
	CallWaiting             // for an approval
	CallTrying              // it runs so that nothing changes; then the user is asked again
	CallRunning
	CallDone
	CallFailed // the tool returned an error, or the command exited with a code other than 0
	CallDenied
	CallCancelled // its task was stopped before the call ran
	CallLeft      // it ran when its workflow was paused; buddy looks for the result when the run resumes
)

// Call holds one tool call, from the request to its result.
type Call struct {
	ID           string
	Name         string
	Corrected    string // the misspelled name that the model used for Name
	Slips        string // corrected slips in the names of its arguments
	Arguments    string
	Action       action.Action
	On           string // its target, "" for the first
	State        CallState
	Dir          string // the folder of its output; "" before it started
	Pane         string // its pane, "" if unknown
	WaitsForKeys bool   // its program reads the terminal and has printed nothing for a while
	Terminal     bool   // while it runs, Output holds terminal sequences that the pane displays
	Started      int64  // Unix milliseconds; 0 before it started
	Duration     int64  // milliseconds, when it has ended
	ExitCode     *int
	Exits        map[string]int // exit codes of a command on several targets, by target, as far as known
	Denied       string         // the user's reason for denying it
	Answered     string         // the screen that answered its approval or question, "" if unknown
	Result       string         // formatted for display
	Outcome      string         // the result in a few words, "" for none
	Full         *action.FullOutput
	Output       Tail
	Agent        *Task // the subagent that it started; else nil
	Decision     event.DecisionExplained
}

// Task is the work on a prompt, or a command, that can be listed and cancelled.
type Task struct {
	ID       int
	Kind     event.TaskKind
	Title    string
	State    TaskState
	Waits    []Wait // open approvals and questions
	Started  int64  // Unix milliseconds
	Ended    int64
	Deadline int64
	Outcome  event.Outcome
	Error    string
	Doing    string // its reported activity
	Turns    int    // finished ones
	Own      Used   // by itself
	All      Used   // including the subagents that worked for it
	Pane     string // the pane of a ShellTask
	Dir      string // the output folder of a ShellTask
	Answer   string // the last text of a running fork's model
	Agent    *Subagent
	Workflow *Workflow // the run it belongs to
	Earlier  bool      // it ended in an earlier process
}

// Wait is an approval or a question that a task waits for.
type Wait struct {
	Request string // its id
	Since   int64  // when it was asked, in Unix milliseconds
}

// Coming is the progress of an answer. The zero value means that no request is running.
type Coming struct {
	Asked int64 // when the request was first sent, in Unix milliseconds
	First int64 // when the first part of the answer came; 0 for none
	Bytes int   // of reasoning, text and calls so far
	Call  bool  // whether the last part belongs to a call

	Reading Reading
}

// Reading is a server's progress in processing a request, in tokens. If Total is 0, the progress is not known.
type Reading struct {
	Total, Done int
	At          int64   // when the server reported it, in Unix milliseconds
	Speed       float64 // tokens per millisecond, of this request or an earlier one; 0 if unknown
}

func (c *Coming) add(at int64, n int, call bool) {
	if c.Asked == 0 {
		c.Asked = at // the request was sent before the screen joined
	}
	if c.First == 0 {
		c.First = at
	}
	c.Bytes, c.Call = c.Bytes+n, call
	c.Reading.Total = 0
}

// Retry is a request that waits to be sent again.
type Retry struct {
	Text  string // why it failed, in a few words; untrusted
	Count string // the next attempt, such as "2 of 6"
	At    int64  // when, in Unix milliseconds
}

// TaskState is the current state of a task.
type TaskState uint8

// The states of a task.
const (
	TaskQueued TaskState = iota
	TaskRunning
	TaskWaiting // for an approval
	TaskCancelling
	TaskDone
)

// Pane is a terminal pane. Screen is nil until its first update.
type Pane struct {
	event.PaneOpened
	Lost   string // why it is gone; "" while it exists
	Screen *event.PaneScreen
}

// Call returns a call that has no result yet, nil if there is none with that id.
func (s *State) Call(id string) *Call {
	if b := s.calls[id]; b != nil {
		return b.Call
	}
	return nil
}

// Begun reports whether the conversation has blocks other than notices.
func Begun(s *State) bool {
	return slices.ContainsFunc(s.Blocks, func(b *Block) bool { return !b.Kind.Notice() })
}

// Notice reports whether blocks of the kind are notices.
func (k Kind) Notice() bool {
	return k == NoticeBlock || k == WarningBlock || k == ErrorBlock || k == StoppedBlock
}

// Running returns the task that works on the main conversation, nil for none.
func (s *State) Running() *Task {
	for i := len(s.Tasks) - 1; i >= 0; i-- {
		if t := s.Tasks[i]; t.Kind.HasConversation() && t.Kind != event.BackgroundTask && t.Kind != event.SubagentTask && t.State != TaskDone {
			return t
		}
	}
	return nil
}

// Ran returns the last command that started in a target's shared pane, nil for none.
func (s *State) Ran(target string) *Call { return s.ran[target] }

const (
	tailLimit   = 64 << 10 // bytes of a call's output kept for the screen
	maxFinished = 50       // finished tasks that stay listed
	maxAgents   = 200      // finished subagents that stay listed, with their conversations
	maxLive     = 16       // finished calls that keep their output in memory
)

// Tail is the end of an output, at most 64 KiB.
type Tail struct {
	Buf     []byte
	Dropped int64 // bytes before Buf
	Gen     int   // increases when Buf changes other than by growing
}

// Append adds p. When the buffer is full, it drops half of it at once, so that the cost per byte is constant.
func (t *Tail) Append(p string) {
	if drop := len(t.Buf) + len(p) - tailLimit; drop > 0 {
		drop = min(max(drop, tailLimit/2), len(t.Buf))
		t.Dropped += int64(drop)
		t.Buf = append(t.Buf[:0], t.Buf[drop:]...)
		t.Gen++
	}
	if over := len(p) - tailLimit; over > 0 {
		t.Dropped += int64(over)
		p = p[over:]
	}
	t.Buf = append(t.Buf, p...)
}

// Set replaces the output.
func (t *Tail) Set(p string) {
	*t = Tail{Gen: t.Gen + 1}
	t.Append(p)
}
