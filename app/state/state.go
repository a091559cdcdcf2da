// Package state is what the screen knows: the events of a session folded into blocks
// of conversation, tasks, approvals and panes.
//
// [State.Apply] is the only writer. It does no I/O and reads no clock;
// feeding it a session file gives the same State as having watched the session. Only
// the UI goroutine touches a State. The zero State is an empty conversation.
//
//	var s state.State
//	changed := s.Apply(env)
//	if changed&state.Conversation != 0 { conversation.Update(&s) }
package state

import (
	"slices"

	"buddy/agent/action"
	"buddy/agent/event"
)

// Changed tells which parts of a State an event touched.
type Changed uint16

// The parts.
const (
	Conversation Changed = 1 << iota
	Output               // the live output of a tool call
	Panes
	Tasks
	Approvals
	Header // model, context, mode, totals
	Queue  // prompts that wait
	Commands
	Servers // what MCP servers do
)

// Everything tells a view to look anew.
const Everything = Changed(1<<16 - 1)

// State is all that the screen draws.
type State struct {
	Info      Info
	Blocks    []*Block // oldest first; a block's address and Seq never change
	Tasks     TaskList // by id; of the finished ones the last maxFinished, and the last maxAgents
	Steps     Steps    // the list that the model keeps of its work
	Approvals []event.ApprovalAsked
	Questions []event.QuestionAsked // that the model asks the person, oldest first
	Panes     []*Pane
	Began     string // id of the pane in which a command began last, or that opened since; it may be gone. BarePane: Bare began last
	Bare      *Call  // the last call that began without a pane and is to be watched; nil: none
	Queued    []event.PromptSubmitted
	History   *event.PaneHistory  // what somebody reads of a pane, the latest of all; else nil
	Heard     int64               // Unix milliseconds when the main task's model was last heard of; 0 while none is asked
	Coming    Coming              // the answer that the main task's model is asked for
	Retries   Retries             // of the main task's request
	Back      WayBack             // in the main conversation
	Hooks     []event.HookStarted // that run
	Reaching  []string            // targets that are being connected to
	Focused   *Call               // the call whose output is shown: the last one that started

	open      openBlocks
	calls     map[string]*Block          // by call id: the blocks whose call has no result yet
	live      []*Call                    // finished calls that still hold their output, oldest first
	ran       map[string]*Call           // by target: the command that began last in the shared pane
	servers   map[string]event.MCPServer // what was said last of each one of the process that runs the session
	workflows map[int]*Workflow          // by run
	talks     map[int]*State             // by branch: the conversations of subagents that work; nil for a fork of this one
	kept      []event.Envelope           // all that were applied, while PrependState may need them; else nil
	parts     parts
	window    window
}

// Info holds what the header shows.
type Info struct {
	Session string
	Event   event.SessionCreated // the latest of session.created and session.resumed
	First   string               // the target where the session began
	// Fallback is the model that answers in the place of the session's, "" when that one does.
	Fallback string
	Mode     action.Mode
	Until    int64 // Unix milliseconds when Mode ends; 0 = never
	Context  event.ContextUsage
	Usage    event.MetricsUsage
	Last     int64 // Unix milliseconds of the latest event
	// Commands are the skills and custom commands that can be called now.
	Commands []event.CustomCommand
	Servers  ServerCount
	// Prompts are those of MCP servers that are ready, as commands.
	Prompts []event.CustomCommand
	// Goal is the newest goal of the session; State "" is none.
	Goal event.GoalChanged
	// Interrupted means that the command Continue takes up an exchange that was cut off.
	Interrupted bool
}

// ServerCount counts the MCP servers that are not off.
type ServerCount struct {
	All      int
	Starting int // of them
}

// Kind says what a block shows.
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
	SkillBlock    // the text behind a custom command; its first line says which
	WorkflowBlock // how far a run of a workflow is: its name, then a line for each step
	RetryBlock    // the attempts of one request that failed: why, and how many
	StoppedBlock  // that the answer was cut off, and what comes next
)

// Block is one piece of the conversation. Its Text is untrusted. While Open it only
// grows at its end; when it changes in any other way, apart from not being Open any more, Gen increases.
type Block struct {
	Seq  uint64 // of the event that made it
	Kind Kind
	Text []byte
	Gen  int
	Open bool
	Time int64 // Unix milliseconds
	Took int64 // ReasoningBlock only: milliseconds, once it is complete; 0 is not known
	Call *Call // ToolBlock only
	// Review holds what a review found, if the block says so and there is something.
	Review *event.ReviewFinished
	Raw    string // what a provider answered; untrusted; only for a person who asks to see it
	Retry  *Retry // of a RetryBlock whose request waits to be sent again; else nil

	last   uint64 // Seq of the last event that it shows
	beside bool   // it shows what happened on another branch
	passes bool   // it says that a command runs, and goes when none does
}

// CallState tells how far a tool call is.
type CallState uint8

// The states of a call.
const (
	CallRequested CallState = iota
	CallWaiting             // for an approval
	CallRunning
	CallDone
	CallFailed // the tool gave an error, or the command exited with another code than 0
	CallDenied
	CallCancelled // its task was stopped before it ran
	CallLeft      // it ran when its workflow was paused; what became of it is found when that goes on
)

// Call is one tool call.
type Call struct {
	ID           string
	Name         string
	Corrected    string // the name that the model wrote, where it was a slip for Name
	Slips        string // in the names of its arguments, as they were corrected
	Arguments    string
	Action       action.Action
	On           string // the target where it works, "" for the first
	State        CallState
	Dir          string // where its output is kept; "" before it started
	Pane         string // where it works, "" if that is not known
	WaitsForKeys bool   // the program in its pane reads the terminal and has printed nothing for a while
	Terminal     bool   // while it runs, Output is what a terminal gets, and the pane shows what it means
	Started      int64  // Unix milliseconds; 0 before it started
	Duration     int64  // milliseconds, when it has ended
	ExitCode     *int
	Exits        map[string]int // of a command on several targets, by target, as far as they are known
	Denied       string         // what the person said why it was denied
	Answered     string         // where the person was who answered its approval or its question, "" if that is not known
	Result       string         // as people read it
	Outcome      string         // what came of it in a few words, "" where none tell
	Full         *action.FullOutput
	Output       Tail
	Agent        *Task // of the subagent that it began; else nil
	Decision     event.DecisionExplained
}

// Task is one unit of work.
type Task struct {
	ID       int
	Kind     event.TaskKind
	Title    string
	State    TaskState
	Waits    []Wait // the approvals and questions that are open
	Started  int64  // Unix milliseconds
	Ended    int64
	Deadline int64
	Outcome  event.Outcome
	Error    string
	Doing    string // what it is at, when it says so
	Turns    int    // that have ended
	Own      Used   // itself
	All      Used   // with the agents that worked for it
	Pane     string // of a ShellTask: where it runs
	Dir      string // of a ShellTask: where its output is
	Answer   string // on a fork, while it runs: what its model said last
	Agent    *Subagent
	Workflow *Workflow // that it runs
	Earlier  bool      // it had ended before this process took the session up
}

// Wait is an approval or a question that a task waits for.
type Wait struct {
	Request string // its id
	Since   int64  // when it was asked, in Unix milliseconds
}

// Coming tells how far the answer to a request is. The zero value is no request.
type Coming struct {
	Asked int64 // when the request was sent first, in Unix milliseconds
	First int64 // when something of the answer came; 0: nothing has
	Bytes int   // of thoughts, text and calls that came
	Call  bool  // what came last is a part of a call

	Reading Reading
}

// Reading tells how much of a request a server has processed, in tokens. A Total of 0 is not known.
type Reading struct {
	Total, Done int
	At          int64   // when it said so, in Unix milliseconds
	Speed       float64 // tokens per millisecond, of this request or an earlier one; 0 is not known
}

// took adds what came of the answer.
func (c *Coming) took(at int64, n int, call bool) {
	if c.Asked == 0 {
		c.Asked = at // the request itself was before the screen listened
	}
	if c.First == 0 {
		c.First = at
	}
	c.Bytes, c.Call = c.Bytes+n, call
	c.Reading.Total = 0
}

// Retry is a request that waits to be sent again.
type Retry struct {
	Text  string // what failed, in a few words; untrusted
	Count string // which attempt comes, such as "2 of 6"
	At    int64  // when, in Unix milliseconds
}

// TaskState tells what a task does now.
type TaskState uint8

// The states of a task.
const (
	TaskQueued TaskState = iota
	TaskRunning
	TaskWaiting // for an approval
	TaskCancelling
	TaskDone
)

// Pane is a terminal pane. Screen is nil until a picture came.
type Pane struct {
	event.PaneOpened
	Lost   string // why it is gone; empty while it lives
	Screen *event.PaneScreen
}

// Call returns a call that has no result yet, nil when there is none of that id.
func (s *State) Call(id string) *Call {
	if b := s.calls[id]; b != nil {
		return b.Call
	}
	return nil
}

// Begun reports whether the conversation has more than notices.
func Begun(s *State) bool {
	return slices.ContainsFunc(s.Blocks, func(b *Block) bool { return !b.Kind.Notice() })
}

// Notice reports whether a block of the kind says something that nobody asked for.
func (k Kind) Notice() bool {
	return k == NoticeBlock || k == WarningBlock || k == ErrorBlock || k == StoppedBlock
}

// Running returns the task that works on the main conversation, else nil.
func (s *State) Running() *Task {
	for i := len(s.Tasks) - 1; i >= 0; i-- {
		if t := s.Tasks[i]; t.Kind != event.BackgroundTask && t.Kind != event.ShellTask && t.Kind != event.SubagentTask && t.State != TaskDone {
			return t
		}
	}
	return nil
}

// Ran returns the command that began last on a target, nil if none did. It runs, or ran,
// in the target's shared pane.
func (s *State) Ran(target string) *Call { return s.ran[target] }

const (
	tailLimit   = 64 << 10 // bytes of output that a call keeps for the screen
	maxFinished = 50       // finished tasks that stay listed
	maxAgents   = 200      // finished subagents that stay listed, with their conversations
	maxLive     = 16       // finished calls that keep their output in memory
)

// Tail is the end of an output, at most 64 KiB of it.
type Tail struct {
	Buf     []byte
	Dropped int64 // bytes that came before Buf
	Gen     int   // increases when Buf changed other than by growing
}

// Append adds p. Half of the buffer goes at once, so that the cost per byte is constant.
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

// Set replaces everything.
func (t *Tail) Set(p string) {
	*t = Tail{Gen: t.Gen + 1}
	t.Append(p)
}
