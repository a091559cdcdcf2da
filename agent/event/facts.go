package event

import (
	"strings"

	"buddy/agent/action"
	"buddy/agent/model"
)

// All holds one value of every event type, for exhaustive tests and for decoding.
var All = []Event{
	SessionCreated{},
	SessionResumed{},
	SessionForked{},
	SessionRenamed{},
	SessionClosed{},
	PromptSubmitted{},
	PromptWithdrawn{},
	BranchStarted{},
	TaskQueued{},
	TaskStarted{},
	TaskDeadline{},
	TaskCancelling{},
	TaskProgress{},
	TaskFinished{},
	TurnStarted{},
	TurnFinished{},
	RequestStarted{},
	TextDelta{},
	ReasoningDelta{},
	CallDelta{},
	Checkpoint{},
	ModelMessage{},
	ResponseFinished{},
	ModelRetry{},
	ModelStalled{},
	ModelAlive{},
	ModelFallback{},
	ModelSwitched{},
	TargetSwitched{},
	ToolRequested{},
	ApprovalAsked{},
	ApprovalAnswered{},
	ToolStarted{},
	ToolOutput{},
	ToolResult{},
	FileKept{},
	FileRestored{},
	QuestionAsked{},
	QuestionAnswered{},
	ReminderAttached{},
	PaneOpened{},
	PaneLost{},
	PaneClosed{},
	PaneScreen{},
	PaneHistory{},
	ContextUsage{},
	ContextCompacted{},
	MicroCompacted{},
	ContextPinned{},
	InstructionsRead{},
	ResultSpilled{},
	MetricsUsage{},
	BudgetWarning{},
	BudgetExceeded{},
	ModeChanged{},
	RuleAdded{},
	Notice{},
	Warning{},
	Error{},
	Interrupted{},
	MaxTurnsReached{},
}

// SessionCreated is the first event of a session.
type SessionCreated struct {
	Version string `json:"version"` // of the program
	Cwd     string `json:"cwd"`
	Target  string `json:"target"`
	Profile string `json:"profile"`
	Model   string `json:"model"`
	API     string `json:"api"`
	Window  int    `json:"window,omitempty"`
	Effort  string `json:"effort,omitempty"` // reasoning_effort of the model, if one is set
	Title   string `json:"title,omitempty"`
}

// SessionResumed says that another process goes on with the session.
type SessionResumed struct {
	Version     string `json:"version"`
	Cwd         string `json:"cwd"`
	Target      string `json:"target"`
	Profile     string `json:"profile"`
	Model       string `json:"model"`
	API         string `json:"api"`
	Window      int    `json:"window,omitempty"`
	Effort      string `json:"effort,omitempty"`      // reasoning_effort of the model, if one is set
	Interrupted bool   `json:"interrupted,omitempty"` // an exchange was under way when it ended
}

// SessionForked says that what came before was copied from another session, up to the end
// of one of its exchanges.
type SessionForked struct {
	From     string `json:"from"`     // its id
	FromSeq  uint64 `json:"from_seq"` // the last event that was copied
	Exchange int    `json:"exchange"` // that it belongs to, from 1
}

// SessionRenamed gives the session another title; the last one counts.
type SessionRenamed struct {
	Title string `json:"title"` // one line; "" goes back to the first prompt
}

// SessionClosed says that the program ended in order.
type SessionClosed struct{}

// PromptSubmitted is what the person said. Queued means that a task was running, and that it
// has no Kind yet: it is submitted again when it is read.
type PromptSubmitted struct {
	ID     int           `json:"id"`
	Text   string        `json:"text"`
	Images []model.Image `json:"images,omitempty"`
	Queued bool          `json:"queued,omitempty"`
	Kind   PromptKind    `json:"kind,omitempty"` // "" in sessions of old
	Date   string        `json:"date,omitempty"` // that the model is told with it, such as "2026-11-22 (UTC)"
}

// Command reports whether it was typed after an exclamation mark to run at once. For a
// session of old that is so unless a task was running.
func (p PromptSubmitted) Command() bool {
	return p.Kind == Typed || p.Kind == "" && strings.HasPrefix(p.Text, "!")
}

// PromptKind says what a person's words are for.
type PromptKind string

// The kinds of prompts.
const (
	Opening  PromptKind = "opening"  // opens an exchange
	Steering PromptKind = "steering" // said for the exchange that goes on
	Typed    PromptKind = "typed"    // a command to run at once: the model is told, and not asked
)

// PromptWithdrawn says that a queued prompt was taken back before it was used.
type PromptWithdrawn struct {
	ID int `json:"id"`
}

// BranchStarted says that a conversation forked off another one. From here on envelopes
// with its number belong to it.
type BranchStarted struct {
	Branch     int    `json:"branch"`
	FromBranch int    `json:"from_branch,omitempty"`
	FromSeq    uint64 `json:"from_seq"` // the last event that it has in common
	Why        string `json:"why"`      // bg
}

// TaskKind says what a task does.
type TaskKind string

// The kinds of tasks.
const (
	MainTask       TaskKind = "main"
	BackgroundTask TaskKind = "bg" // on a fork of the conversation
	ShellTask      TaskKind = "shell"
	CompactionTask TaskKind = "compaction"
)

// Outcome is how a task ended.
type Outcome string

// The outcomes.
const (
	Completed    Outcome = "completed"
	Cancelled    Outcome = "cancelled"
	MaxTurns     Outcome = "max_turns"
	MaxCost      Outcome = "max_cost"
	ContextLimit Outcome = "context_limit"
	Failed       Outcome = "failed"
)

// TaskQueued announces a task. Title has at most 80 bytes.
type TaskQueued struct {
	ID    int      `json:"id"`
	Kind  TaskKind `json:"kind"`
	Title string   `json:"title"`
}

// TaskStarted says that a task began to work.
type TaskStarted struct {
	ID       int      `json:"id"`
	Kind     TaskKind `json:"kind"`
	Title    string   `json:"title"`
	Deadline int64    `json:"deadline,omitempty"` // Unix milliseconds
	// Of a ShellTask: where it runs, and where it is found again after a crash.
	Pane string `json:"pane,omitempty"`
	Dir  string `json:"dir,omitempty"`
}

// TaskDeadline says until when a task has to end.
type TaskDeadline struct {
	ID       int   `json:"id"`
	Deadline int64 `json:"deadline"` // Unix milliseconds
}

// TaskCancelling says that a task was told to stop.
type TaskCancelling struct {
	ID int `json:"id"`
}

// TaskProgress says what a task is at, beside what its other events tell.
type TaskProgress struct {
	ID   int    `json:"id"`
	Text string `json:"text"` // "" when that is over
}

// TaskFinished is the last event of a task. Error is set for Failed only.
type TaskFinished struct {
	ID      int     `json:"id"`
	Outcome Outcome `json:"outcome"`
	Error   string  `json:"error,omitempty"`
}

// TurnStarted opens one model request and the tools that it calls.
type TurnStarted struct {
	TurnID string `json:"turn_id"`
	Number int    `json:"number"` // within the session, from 1
}

// TurnFinished closes a turn.
type TurnFinished struct {
	TurnID     string       `json:"turn_id"`
	Number     int          `json:"number"`
	StopReason string       `json:"stop_reason,omitempty"`
	Usage      *model.Usage `json:"usage,omitempty"`
	Cost       model.Money  `json:"cost,omitempty"` // of all its requests; 0 = not known
}

// RequestStarted says what is sent to the model.
type RequestStarted struct {
	Profile         string `json:"profile"`
	Model           string `json:"model"`
	Messages        int    `json:"messages"`
	Tools           int    `json:"tools"`
	EstimatedTokens int    `json:"estimated_tokens"`
	Attempt         int    `json:"attempt"`
}

// TextDelta is the next piece of the answer.
type TextDelta struct {
	Text string `json:"text"`
}

// ReasoningDelta is the next piece of a reasoning trace.
type ReasoningDelta struct {
	Field string `json:"field,omitempty"`
	Text  string `json:"text"`
}

// CallDelta is the next piece of a tool call's arguments.
type CallDelta struct {
	CallID string `json:"call_id"`
	Text   string `json:"text"`
}

// Checkpoint is what an unfinished answer gained since the last one, at most one a
// second: what a crash leaves of it. The offsets count the bytes of the
// answer that came before.
type Checkpoint struct {
	Text        string `json:"text"`
	TextAt      int    `json:"text_at,omitempty"`
	Reasoning   string `json:"reasoning,omitempty"`
	ReasoningAt int    `json:"reasoning_at,omitempty"`
}

// ModelMessage is a whole answer, opaque fields kept. Partial means that the stream
// did not reach its end. Reasoning is its trace as text, for people.
type ModelMessage struct {
	Message   model.Message `json:"message"`
	Reasoning string        `json:"reasoning,omitempty"`
	Partial   bool          `json:"partial,omitempty"`
}

// CacheResult says whether the provider knew the beginning of a prompt already.
type CacheResult string

// The results.
const (
	CacheHit  CacheResult = "hit"
	CacheMiss CacheResult = "miss"
)

// ResponseFinished closes one request. Cache is empty when the provider said nothing of
// its tokens.
type ResponseFinished struct {
	FinishReason string      `json:"finish_reason"`
	Calls        int         `json:"calls"`
	Tokens       int         `json:"tokens,omitempty"`
	Cache        CacheResult `json:"cache,omitempty"`
	CachedTokens int         `json:"cached_tokens,omitempty"`
	FirstMS      int64       `json:"first_ms,omitempty"` // of PhaseMS: until something of the answer came; 0 = not known
	PhaseMS      int64       `json:"phase_ms"`
}

// ModelRetry says that a request failed and is sent again after WaitMS.
type ModelRetry struct {
	Attempt int    `json:"attempt"`
	WaitMS  int64  `json:"wait_ms"`
	Why     string `json:"why"`
}

// ModelAlive says that bytes came from the model that say nothing, such as a ping: it
// works. There is at most one a second. One also follows a ModelRetry when the request is
// sent again.
type ModelAlive struct{}

// ModelStalled says that an answer was given up, because nothing of it came for TimeoutMS.
// What follows tells whether another is asked for.
type ModelStalled struct {
	TimeoutMS int64 `json:"timeout_ms"`
}

// ModelFallback says that the profile To answers this request in place of From. What From
// had said of its answer is void.
type ModelFallback struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Model string `json:"model"` // of To
	Why   string `json:"why"`
}

// ModelSwitched says which model answers from now on.
type ModelSwitched struct {
	Profile string `json:"profile"`
	Model   string `json:"model"`
	API     string `json:"api"`
	Window  int    `json:"window,omitempty"`
	Effort  string `json:"effort,omitempty"` // reasoning_effort of the model, if one is set
	Note    string `json:"note,omitempty"`   // what else is different: the protocol, the login
}

// TargetSwitched says on which target calls work from now on that name none, and in which
// folder they begin; "" is the home folder, or not known yet.
type TargetSwitched struct {
	Name string `json:"name"`
	Cwd  string `json:"cwd,omitempty"`
}

// ReminderAttached is what the model is told beside what people and tools say.
type ReminderAttached struct {
	Kinds  []string      `json:"kinds"` // images
	Text   string        `json:"text"`
	Images []model.Image `json:"images,omitempty"`
}

// Health says how urgent the use of a context is.
type Health string

// The healths of a context.
const (
	Healthy  Health = ""
	Hint     Health = "hint"     // it fills up
	Warned   Health = "warning"  // compact soon
	Critical Health = "critical" // compact or pin now
)

// ContextUsage says how full the model's context is, by estimate.
type ContextUsage struct {
	Estimated int    `json:"estimated"`
	Limit     int    `json:"limit"`   // 0 = unknown
	Percent   int    `json:"percent"` // 0 when Limit is
	Health    Health `json:"health,omitempty"`
}

// ContextCompacted says that old messages were replaced by a summary in what the model
// is sent; the session keeps them. Places count the messages after the leading system
// messages, the last summary and what was restored with it: from Boundary on all stay,
// and the Kept ones before it.
type ContextCompacted struct {
	By       string `json:"by"`                 // summary, digest, window or server
	Summary  string `json:"summary,omitempty"`  // what the model reads instead
	Restored string `json:"restored,omitempty"` // files that it reads besides
	Before   int    `json:"before"`             // tokens, by estimate
	After    int    `json:"after"`
	Removed  int    `json:"removed"` // messages
	Turns    int    `json:"turns"`   // exchanges that they were of
	Boundary int    `json:"boundary"`
	Kept     []int  `json:"kept,omitempty"`
}

// MicroCompacted says that the model no longer reads the results of these calls.
type MicroCompacted struct {
	CallIDs []string `json:"call_ids"`
}

// ContextPinned says that an exchange, counted back from the newest at that moment, which
// is 1, stays as it is in every compaction, or no longer.
type ContextPinned struct {
	Back     int  `json:"back"`
	Off      bool `json:"off,omitempty"`
	Messages int  `json:"messages"` // that it has
}

// ResultSpilled says that the whole result of a call is in a file, because it is too
// long to be sent; the model reads its beginning and its end. Result is that when it takes
// the place of the result that was given before: those of one answer were too long together.
type ResultSpilled struct {
	CallID string `json:"call_id"`
	Path   string `json:"path,omitempty"` // "": it could not be saved
	Bytes  int64  `json:"bytes"`
	Result string `json:"result,omitempty"`
}

// ModeChanged says how approvals are decided from now on.
type ModeChanged struct {
	Mode  action.Mode `json:"mode"`
	Until int64       `json:"until,omitempty"` // Unix milliseconds; then ask again
}

// RuleAdded says that a rule decides from now on, until the session ends.
type RuleAdded struct {
	Rule  action.Rule `json:"rule"`
	Scope string      `json:"scope"` // session
}

// Notice is information that needs no answer. Code is stable and lower case.
type Notice struct {
	Text string `json:"text"`
	Code string `json:"code,omitempty"`
}

// Warning is something that a person may want to act on.
type Warning struct {
	Text     string `json:"text"`
	Code     string `json:"code,omitempty"`
	NextStep string `json:"next_step,omitempty"`
}

// Error is something that went wrong.
type Error struct {
	Text     string `json:"text"`
	Code     string `json:"code,omitempty"`
	Task     int    `json:"task,omitempty"`
	NextStep string `json:"next_step,omitempty"`
}

// Interrupted says that a task was cut off, by a person or by a crash. CanContinue
// means that the command Continue takes it up again.
type Interrupted struct {
	Task        int    `json:"task,omitempty"`
	Text        string `json:"text,omitempty"`
	CanContinue bool   `json:"can_continue,omitempty"`
}

// MaxTurnsReached says that an exchange used all its turns. The main one can be continued
// with the command Continue, which gives it as many again.
type MaxTurnsReached struct {
	Task  int `json:"task"`
	Turns int `json:"turns"`
}
