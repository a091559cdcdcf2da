// Package tools defines what a tool of a model is: a definition that the model reads, a plan
// without side effects that the policy judges, and a run.
//
//	r := tools.NewRegistry(shell.New(panes, plain, "local", cwd, warn))
//	t, err := r.Lookup("run_shell")
//	act, err := t.Plan(call)      // no side effects yet
//	call.Planned = act            // approved by the policy or a person
//	res := t.Run(ctx, call)       // now it runs
//
// A tool's failure is a [Result] that the model reads, never a Go error.
//
// jsonschema-go (0.4.3) is not used for arguments, because it reports only the first mistake, in terms of the
// schema, takes no number in a string, and has no bounds or choices in its tags.
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
	// Plan describes what Run would do, with real paths. It has no side effects. An error means
	// that the arguments do not fit; its text goes to the model.
	Plan(call Call) (action.Action, error)
	// Run executes the call. It returns when the work is done or ctx ends.
	Run(ctx context.Context, call Call) Result
}

// Recoverer is a Tool whose work survives a crash of buddy: Recover waits for the work that an
// earlier process started in call.Dir and returns its result.
type Recoverer interface {
	Recover(ctx context.Context, call Call) Result
}

// Parallel is a Tool of which some calls change nothing. Such a call may run beside others,
// start before the model's answer is complete, and be cancelled and dropped when that answer
// fails. Calls of other tools run alone.
type Parallel interface {
	// Parallel reports whether this call changes nothing; call.Planned is set.
	Parallel(call Call) bool
}

// Beside is a Tool of which calls may run beside others once the model's answer is complete. What
// fails beside such a call does not cancel it.
type Beside interface {
	// Beside reports whether this call is such a one; call.Planned is set.
	Beside(call Call) bool
}

// Patient is a Tool that may run without the time limit of all tools, because it waits for a
// person or has limits of its own. Every other tool is stopped after a time.
type Patient interface {
	// Patient reports whether this call is such a one; call.Planned is set.
	Patient(call Call) bool
}

// IsParallel reports whether t is a [Parallel] of which this call changes nothing.
func IsParallel(t Tool, call Call) bool {
	p, ok := t.(Parallel)
	return ok && p.Parallel(call)
}

// IsBeside reports whether t is a [Beside] of which this call may run beside others.
func IsBeside(t Tool, call Call) bool {
	b, ok := t.(Beside)
	return ok && b.Beside(call)
}

// IsPatient reports whether t is a [Patient] of which this call waits for a person.
func IsPatient(t Tool, call Call) bool {
	p, ok := t.(Patient)
	return ok && p.Patient(call)
}

// Call is one request of a model to run a tool.
type Call struct {
	ID        string
	Name      string
	Arguments string // JSON: as the model wrote it, or as [Registry.Resolve] made it
	// Corrected is the name that the model wrote, where Resolve took it for a slip; else "".
	Corrected string
	// Renamed has the names of arguments that Resolve took for slips, each with the name that is meant; nil
	// for none.
	Renamed map[string]string
	// Notes tell the model which of its arguments Resolve ignored.
	Notes []string
	Dir   string // a folder of this call's own for its whole output; the tool makes it
	// Output gets live output for the screen. It may be called from any goroutine until Run
	// returns, and never blocks for long.
	Output func(Chunk)
	// Ask puts a question to the person and returns the answer, one of its choices or free text.
	// It is nil, or returns ErrNobody, where nobody can be asked.
	Ask func(ctx context.Context, q Question) (answer string, err error)
	// Reach decides whether a command of the call that runs in the fence may connect to a host that the settings do
	// not name: nil is yes. It may wait for a person, until ctx ends. The error is ErrNobody where nobody was asked. nil: the
	// answer is no.
	Reach func(ctx context.Context, host, port string) error
	// Begin registers work that goes on after the call as a task of the session and returns its
	// number. It is nil where there are no tasks.
	Begin func(Task) (id int)
	// Release is closed when a person sends the call to the background: a [Releasable] tool then makes
	// what it waits for a task with Begin, and returns. It is nil where nobody can.
	Release <-chan struct{}
	// Skill returns the text of a skill, called with args. It may run commands, and ask the person
	// before. It is nil where there are no skills.
	Skill func(ctx context.Context, name, args string) (text string, err error)
	// Remember proposes to the person what sessions to come should know, and returns the id of the
	// proposal. It is nil where there is no memory.
	Remember func(ctx context.Context, l Lesson) (id string, err error)
	// Agent lets a subagent work for the call and returns what came of it. It is nil where there
	// are none.
	Agent func(ctx context.Context, call Call, s Subagent) Result
	// Plan is mode plan. It is nil where there is none.
	Plan PlanMode
	// Keep stores files before the call changes them, so that a person can undo the change.
	// After an error nothing may be changed. It is nil where nothing is kept.
	Keep func([]Before) error
	// Page limits the part of a file or a web page that the model gets, in bytes; 0 is
	// [MinPage].
	Page int
	// Reader is whose knowledge of files counts: 0 is the main conversation, others are branches.
	Reader int
	// OwnPane means that a command gets a pane of its own, with this title; "" is the shared pane.
	OwnPane string
	// Planning ends when nobody waits for the plan of the call any more: Plan may connect to a target.
	// nil never ends.
	Planning context.Context
	// Planned is the approved plan; the runtime sets it before Run. A tool does exactly that or
	// fails.
	Planned action.Action
	// Free means that nobody was asked, because the call only reads: state left by earlier
	// calls must not change its meaning.
	Free bool
	// Confined means that the call is allowed only because it will run in the read-only
	// sandbox.
	Confined bool
	// Fenced means that the call is allowed only because it will run in the workspace fence.
	Fenced bool
	// Spent is the time for which the call ran in the read-only sandbox until that stopped it; 0: it did not. The
	// second run starts in the same folder, and its time to wait is shorter by this.
	Spent time.Duration
}

// Lesson holds what a model wants sessions to come to know.
type Lesson struct {
	Text  string
	Kind  string // rule, correction or fact; "" is a rule
	Scope string // folder, person or team; "" is the folder
}

// Agent is the name of the tool that calls a Subagent.
const Agent = "agent"

// Subagent is a part of the work that a call gives away.
type Subagent struct {
	Type       string // of the agent
	Prompt     string // all that it is told of the work
	Title      string // for people
	Background *bool  // the call does not wait for the end; nil: as the agent's definition says
}

// PlanMode begins and ends mode plan for calls. The texts are for the model.
type PlanMode interface {
	// Enter begins mode plan.
	Enter() (text string, err error)
	// Exit shows the person the plan and returns what they decided. It waits for them, or for ctx to end.
	Exit(ctx context.Context) (PlanDecision, error)
}

// PlanDecision says what became of a plan.
type PlanDecision struct {
	Decision string // approved, keep planning, discarded, or shown
	Remark   string
	Plan     string // the approved text
	Todo     string // its steps, as the tool todo keeps them
	Note     string
}

// Question holds what a call asks the person. Its texts may be anybody's.
type Question struct {
	From    string // who wants to know, "" for the model
	Text    string
	Choices []string // suggested answers; any other text is an answer, too
}

// Page sizes in bytes: MinPage is for models whose context window is unknown.
const (
	MinPage = 8_000
	MaxPage = 40_000
)

// PageOf returns the page size in bytes for a model with a context window of so many tokens:
// most, but at most a sixteenth of the window, counted with four bytes to a token, and at
// least MinPage. A window of 0 is unknown; most 0 means MaxPage.
func PageOf(window, most int) int { return min(max(window*4/16, MinPage), cmp.Or(most, MaxPage)) }

// PageBytes returns the size limit of the part of a file or a web page that the model gets.
func (c Call) PageBytes() int {
	if c.Page > 0 {
		return c.Page
	}
	return MinPage
}

// Resource holds what a prompt names with an @ and another program has.
type Resource struct {
	Name   string // as the prompt names it, without the @
	Text   string // untrusted
	Images []model.Image
}

// Stream names the output stream that a chunk came from.
type Stream string

// The streams.
const (
	Stdout Stream = "stdout"
	Stderr Stream = "stderr"
	// Keys is no output: the last byte of a chunk is 1 when the command has begun to wait for keys, 0 when it
	// waits no longer.
	Keys Stream = "keys"
)

// Chunk is a piece of live output. Text may hold any bytes, escape sequences too, and is only
// valid during the call. Total counts the stream's bytes so far, including this chunk.
type Chunk struct {
	Stream Stream
	Text   []byte
	Total  int64
}

// Result is the outcome of a run. Content is what the model reads: what a person would print, or when IsError
// a sentence and perhaps the output so far.
type Result struct {
	Content  string
	Aside    string // the end of Content that is for the model alone; "" for none
	Outcome  string // what came of it for people, in a few words: lines 1-40 of 900; "" where none tell
	IsError  bool
	Retry    bool               // an error after which the model shall call again with other arguments
	Missing  bool               // the error is that there is no file of a name
	Stopped  bool               // the read-only sandbox stopped the command, which changed and sent nothing
	ExitCode *int               // of a command; nil for other tools
	Exits    map[string]int     // exit codes of a command on several targets, as far as they are known
	Stdout   *string            // the part of Tail from stdout, if stderr has text, too
	Tail     string             // the end of the output for the screen, at most 64 KiB
	Full     *action.FullOutput // the whole output, if it is in a file
	// Seen are the files of which the model knows the content now.
	Seen []action.SeenFile
	// Images are sent to models that take them; for others Content describes them.
	Images []model.Image
	// Took is the duration of the work, when the tool knows it better than its caller.
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

// ErrNobody is returned by Call.Ask where nobody can be asked.
var ErrNobody = errors.New("nobody is there to answer")

// planTimeout bounds the questions of one plan to a target; on this machine they take no time.
const planTimeout = time.Minute

// PlanContext returns the context of a plan, which may query a target for at most a minute.
func PlanContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), planTimeout)
}
