// Package tools defines the interface of the tools that a model can call. A [Tool] has a definition for the model, a
// Plan method, which says what a call would do, and a Run method, which does it.
//
//	r := tools.NewRegistry(shell.New(panes, plain, "local", cwd, warn))
//	t, err := r.Lookup("run_shell")
//	act, err := t.Plan(call)      // no side effects yet
//	call.Planned = act            // approved by the policy or the user
//	res := t.Run(ctx, call)       // now it runs
//
// If a tool fails, its [Result] says so to the model; Run returns no Go error.
//
// The package does not use jsonschema-go (0.4.3) for arguments, because that library reports only
// the first mistake and words it in terms of the schema, it rejects numbers in strings, and its tags can't express limits
// or choices.
package tools

import (
	"cmp"
	"context"
	"errors"
	"time"

	"buddy/agent/action"
	"buddy/agent/model"
)

// Tool is one capability offered to a model. Implementations are safe for concurrent use.
type Tool interface {
	// Definition returns the definition for the model; it never changes during a session.
	Definition() model.ToolDef
	// Plan describes the effects of Run, with real paths. It has no side effects. An error means that the call can't be
	// carried out with these arguments; its text goes to the model.
	Plan(call Call) (action.Action, error)
	// Run executes the call. It returns when the work is done or ctx ends.
	Run(ctx context.Context, call Call) Result
}

// Recoverer is a Tool whose work survives a crash of buddy: Recover waits for the work that an earlier process started
// in call.Dir and returns its result.
type Recoverer interface {
	Recover(ctx context.Context, call Call) Result
}

// Parallel is a Tool with calls that change nothing. Such a call may run at the same time as others, start before the
// model's answer is complete, and be cancelled and dropped when that answer fails. Calls of other tools run alone.
type Parallel interface {
	// Parallel reports whether this call changes nothing; call.Planned is set.
	Parallel(call Call) bool
}

// Beside is a Tool with calls that may run at the same time as others once the model's answer is complete. A failure of
// another call does not cancel them.
type Beside interface {
	// Beside reports whether this call may run at the same time as others; call.Planned is set.
	Beside(call Call) bool
}

// Patient is a Tool with calls that have no general time limit, because they wait for the user or have limits of their
// own.
type Patient interface {
	// Patient reports whether this call has no general time limit; call.Planned is set.
	Patient(call Call) bool
}

// IsParallel reports whether t is a [Parallel] and the call changes nothing.
func IsParallel(t Tool, call Call) bool {
	p, ok := t.(Parallel)
	return ok && p.Parallel(call)
}

// IsBeside reports whether t is a [Beside] and the call may run at the same time as others.
func IsBeside(t Tool, call Call) bool {
	b, ok := t.(Beside)
	return ok && b.Beside(call)
}

// IsPatient reports whether t is a [Patient] and the call has no general time limit.
func IsPatient(t Tool, call Call) bool {
	p, ok := t.(Patient)
	return ok && p.Patient(call)
}

// Call is one request of a model to run a tool.
type Call struct {
	ID        string
	Name      string
	Arguments string // JSON: as the model wrote it, or as [Registry.Resolve] made it
	// Corrected is the misspelled name that the model wrote, if Resolve corrected it; else "".
	Corrected string
	// Renamed maps the misspelled argument names that Resolve corrected to the right ones; nil for none.
	Renamed map[string]string
	// Notes tell the model which of its arguments Resolve ignored or corrected.
	Notes []string
	Dir   string // the call's own folder for its whole output; the tool creates it
	// Output receives live output for the screen. It may be called from any goroutine until Run returns, and never
	// blocks for long.
	Output func(Chunk)
	// Ask asks the user a question and returns the answer: one of the question's choices, or free text. Where nobody
	// can be asked, Ask is nil or returns ErrNobody.
	Ask func(ctx context.Context, q Question) (answer string, err error)
	// Reach decides whether a sandboxed command of the call may connect to a host that the settings do not name; it
	// returns nil to allow it. It may wait for the user, until ctx ends. The error is ErrNobody if nobody could be
	// asked. A nil Reach refuses all such hosts.
	Reach func(ctx context.Context, host, port string) error
	// Begin registers work that continues after the call as a task of the session, and returns the task's number. It is
	// nil where there are no tasks.
	Begin func(Task) (id int)
	// Release is closed when the user sends the call to the background: a [Releasable] tool then registers its work as
	// a task with Begin, and returns. It is nil where that is not possible.
	Release <-chan struct{}
	// Skill returns the text of a skill that is called with args. The text may contain commands, which Skill runs after
	// asking the user. It is nil where there are no skills.
	Skill func(ctx context.Context, name, args string) (text string, err error)
	// Remember proposes a lesson for later sessions to the user, and returns the id of the proposal. It is nil where
	// there is no memory.
	Remember func(ctx context.Context, l Lesson) (id string, err error)
	// Agent runs a subagent for the call and returns its result. It is nil where no subagents run.
	Agent func(ctx context.Context, call Call, s Subagent) Result
	// Plan enters and leaves plan mode. It is nil where plan mode does not exist.
	Plan PlanMode
	// Keep stores files before the call changes them, so that the user can undo the changes. If Keep fails, the call
	// must change nothing. It is nil where no files are stored.
	Keep func([]Before) error
	// Page limits the part of a file or a web page that the model gets, in bytes; 0 is
	// [MinPage].
	Page int
	// Reader identifies the conversation that makes the call, because each conversation has its own knowledge of files:
	// 0 is the main one, others are branches.
	Reader int
	// OwnPane is the title of a separate pane for the call's command; "" means the shared pane.
	OwnPane string
	// Planning ends when nobody waits for the call's plan any longer. Plan then stops connecting to a target. A nil
	// Planning never ends.
	Planning context.Context
	// Planned is the approved plan; the runtime sets it before Run. A tool does exactly the planned work or fails.
	Planned action.Action
	// Free means that the call runs without approval, because it only reads. The state that earlier calls left must not
	// change the meaning of such a call.
	Free bool
	// Confined means that the call is allowed only because it will run in the read-only sandbox.
	Confined bool
	// Fenced means that the call is allowed only because it will run in the workspace sandbox.
	Fenced bool
	// Spent is the time that the call's command ran in the read-only sandbox before the sandbox stopped it; 0 means
	// that it did not run there. The second run starts in the same folder, and its wait is shorter by this time.
	Spent time.Duration
}

// Lesson holds what a model wants later sessions to know.
type Lesson struct {
	Text  string
	Kind  string // rule, correction or fact; "" is a rule
	Scope string // folder, person or team; "" is the folder
}

// Agent is the name of the tool that calls a Subagent.
const Agent = "agent"

// Subagent describes work that a call delegates to a subagent.
type Subagent struct {
	Type       string // the type of the agent
	Prompt     string // everything that the agent learns about the work
	Title      string // for display
	Background *bool  // the call does not wait for the end; nil: the agent's definition decides
}

// PlanMode switches plan mode on and off for calls. The texts are for the model.
type PlanMode interface {
	// Enter switches plan mode on.
	Enter() (text string, err error)
	// Exit shows the plan to the user, waits for the decision or the end of ctx, and returns the decision.
	Exit(ctx context.Context) (PlanDecision, error)
}

// PlanDecision holds the user's decision about a plan.
type PlanDecision struct {
	Decision string // approved, keep planning, discarded, or shown
	Remark   string
	Plan     string // the approved text
	Todo     string // its steps, in the form of the tool todo
	Note     string
}

// Question holds a question that a call asks the user. Its texts are untrusted.
type Question struct {
	From    string // the asking program, "" for the model
	Text    string
	Choices []string // suggested answers; any other text is an answer as well
}

// Page sizes in bytes: MinPage is for models whose context window is unknown.
const (
	MinPage = 8_000
	MaxPage = 40_000
)

// PageOf returns the page size in bytes for a context window in tokens, 0 if unknown: a sixteenth of the window, at
// four bytes per token, but at least MinPage. most is the maximum; 0 means MaxPage.
func PageOf(window, most int) int { return min(max(window*4/16, MinPage), cmp.Or(most, MaxPage)) }

// PageBytes returns the size limit of the part of a file or a web page that the model gets.
func (c Call) PageBytes() int {
	if c.Page > 0 {
		return c.Page
	}
	return MinPage
}

// Resource holds a text that another program provides, and that a prompt names with an @.
type Resource struct {
	Name   string // as the prompt names it, without the @
	Text   string // untrusted
	Images []model.Image
}

// Stream names the output stream that a chunk came from.
type Stream string

// Output streams.
const (
	Stdout Stream = "stdout"
	Stderr Stream = "stderr"
	// Keys is no output stream: the last byte of its chunk is 1 when the command starts to wait for keys, and 0 when it
	// stops waiting.
	Keys Stream = "keys"
)

// Chunk is a piece of live output. Text may hold any bytes, even escape sequences, and is only valid during the call of
// Output. Total counts the stream's bytes so far, including this chunk.
type Chunk struct {
	Stream Stream
	Text   []byte
	Total  int64
}

// Result is the outcome of a run. Content is the text for the model: the output or, if IsError is true, a sentence
// about the failure, perhaps followed by the output so far.
type Result struct {
	Content  string
	Aside    string // the end of Content that is for the model alone; "" for none
	Outcome  string // the outcome for display, in a few words: lines 1-40 of 900; "" for none
	IsError  bool
	Retry    bool               // an error after which the model should call again with other arguments
	Missing  bool               // the error is that a file does not exist
	Stopped  bool               // the read-only sandbox stopped the command, which changed and sent nothing
	ExitCode *int               // of a command; nil for other tools
	Exits    map[string]int     // exit codes of a command on several targets, as far as known
	Stdout   *string            // the part of Tail from stdout, if stderr has text, too
	Tail     string             // the end of the output for the screen, at most 64 KiB
	Full     *action.FullOutput // the whole output, if it is in a file
	// Seen lists the files whose content the model now knows.
	Seen []action.SeenFile
	// Images are sent to models that accept images; for other models, Content describes them.
	Images []model.Image
	// Took is the duration of the work, if the tool measured it better than its caller can.
	Took time.Duration
}

// Say sends a progress message to the screen.
func (c Call) Say(text string) {
	if c.Output != nil {
		c.Output(Chunk{Stream: Stdout, Text: []byte(text), Total: int64(len(text))})
	}
}

// PlanInternal returns the plan of a tool that neither reads nor changes anything outside
// buddy.
func PlanInternal(tool, why string) action.Action {
	return action.Action{Kind: action.Internal, Tool: tool, Why: why, Risk: action.Low}
}

// ErrNobody means that nobody can answer a question of Call.Ask or Call.Reach.
var ErrNobody = errors.New("nobody is there to answer")

// planTimeout limits the queries of one plan to a target.
const planTimeout = time.Minute

// PlanContext returns the context of a plan, which may query a target for at most a minute.
func PlanContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), planTimeout)
}
