// Package tools says what a tool of a model is: a definition that the model reads, a plan without
// side effects that the policy judges, and a run.
//
//	r := tools.NewRegistry(shell.New(panes, plain, "local", cwd, warn))
//	t, err := r.Lookup("run_shell")
//	act, err := t.Plan(call)      // nothing happens yet
//	call.Planned = act            // what the policy or a person has allowed
//	res := t.Run(ctx, call)       // now it does
//
// A tool's failure is a [Result] that the model reads, never a Go error.
package tools

import (
	"cmp"
	"context"
	"errors"
	"time"

	"buddy/agent/action"
	"buddy/agent/model"
)

// Tool is one capability offered to a model. It is safe for concurrent use.
type Tool interface {
	// Definition is what the model reads; it never changes during a session.
	Definition() model.ToolDef
	// Plan says what Run would do, with real paths. It has no side effect. An error
	// means that the arguments do not fit; its text goes to the model.
	Plan(call Call) (action.Action, error)
	// Run does it. It returns when the work is done or ctx ends.
	Run(ctx context.Context, call Call) Result
}

// Recoverer is a Tool whose work outlives a crash of ours: Recover waits for work that
// an earlier process started in call.Dir and returns its result.
type Recoverer interface {
	Recover(ctx context.Context, call Call) Result
}

// Parallel is a Tool of which some calls change nothing. Such a call may run beside
// others, start before the answer that makes it is complete, and be cancelled and
// forgotten when that answer fails. A Tool that is no Parallel runs alone.
type Parallel interface {
	// Parallel reports whether this call changes nothing; call.Planned is set.
	Parallel(call Call) bool
}

// Patient is a Tool that may run for as long as it takes, because it waits for a person
// and not for a machine. Every other is stopped after a time.
type Patient interface {
	// Patient reports whether this call is one of those; call.Planned is set.
	Patient(call Call) bool
}

// Call is one request of a model to run a tool.
type Call struct {
	ID        string
	Name      string
	Arguments string // JSON: as the model wrote it, or as [Registry.Resolve] made it
	// Notes tell the model what of its arguments Resolve ignored.
	Notes []string
	Dir   string // a folder of this call's own for its whole output; the tool makes it
	// Output gets live output for the person watching. It may be called from any
	// goroutine until Run returns, and never blocks for long.
	Output func(Chunk)
	// Ask puts a question to the person and waits for the answer, which is one of choices
	// or anything else. It is nil, or gives ErrNobody, where nobody can be asked.
	Ask func(ctx context.Context, question string, choices []string) (answer string, err error)
	// Begin makes work that goes on after the call a task of the session and returns its
	// number. It is nil where tasks have none.
	Begin func(Task) (id int)
	// Keep stores files as they are before the call changes them, so that a person can take
	// the change back. On an error nothing may be changed. It is nil where nothing is kept.
	Keep func([]Before) error
	// Page is how many bytes of a file or a web page the model gets at most; 0 is [MinPage].
	Page int
	// Planned is what Plan answered for these arguments and was allowed; the runtime
	// sets it before Run. A tool does that or fails, never something else.
	Planned action.Action
	// Free means that nobody was asked, because it only reads: what earlier calls left
	// behind must not change what it means.
	Free bool
	// Confined means that it is allowed only because it will run in the read-only sandbox.
	Confined bool
}

// Pages are sized for the model, in bytes: the least is for those of which little is known.
const (
	MinPage = 8_000
	MaxPage = 40_000
)

// PageOf returns how much of a file a model with a window of so many tokens gets at once: most,
// but never more than a sixteenth of the window, counted with four bytes to a token, or than
// MinPage where that is more. A window of 0 is not known; most is MaxPage when it is 0.
func PageOf(window, most int) int { return min(max(window*4/16, MinPage), cmp.Or(most, MaxPage)) }

// MaxEncoded returns how many bytes the text of a page has at most in a result, where it is a
// JSON string: an eighth more than the page for its escapes. A page with more of them is shorter,
// so that one reads on, and never so long that a part of it is left out of the result.
func MaxEncoded(page int) int { return max(page, MaxPage) / 8 * 9 }

// PageBytes returns how many bytes of a file or a web page the model gets at most.
func (c Call) PageBytes() int {
	if c.Page > 0 {
		return c.Page
	}
	return MinPage
}

// Stream names where a chunk of output came from.
type Stream string

// The streams.
const (
	Stdout Stream = "stdout"
	Stderr Stream = "stderr"
)

// Chunk is a piece of live output. Text may hold any bytes, escape sequences too, and
// is only valid during the call. Total counts the stream's bytes so far, this one in.
type Chunk struct {
	Stream Stream
	Text   []byte
	Total  int64
}

// Result is what a run gave. Content is what the model reads: a JSON envelope on
// success, a sentence when IsError.
type Result struct {
	Content  string
	IsError  bool
	Retry    bool   // an error by which the model shall call again with other arguments
	ExitCode *int   // of a command; nil for other tools
	Tail     string // the end of the output for the screen, at most 64 KiB
	Full     *File  // the whole output, if it is in a file
	// Images are shown to models that take them; others have what Content says.
	Images []model.Image
	// Took is how long the work ran, when the tool knows better than who called it.
	Took time.Duration
}

// File is a file that holds a whole output.
type File struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
}

// Say shows progress to the person who watches.
func (c Call) Say(text string) {
	if c.Output != nil {
		c.Output(Chunk{Stream: Stdout, Text: []byte(text), Total: int64(len(text))})
	}
}

// PlanInternal is the plan of a tool that reads and changes nothing outside buddy.
func PlanInternal(tool, why string) action.Action {
	return action.Action{Kind: action.Internal, Tool: tool, Why: why, Risk: action.Low}
}

// ErrNobody is the error of Call.Ask where nobody can be asked.
var ErrNobody = errors.New("nobody is there to answer")

// planTime bounds the questions to a target of one plan; on this machine they take none.
const planTime = time.Minute

// Planning returns the context of a plan, which may ask a target for at most a minute.
func Planning() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), planTime)
}
