package event

import (
	"cmp"
	"strings"

	"buddy/agent/action"
	"buddy/agent/model"
)

// SessionCreated opens a session: its first event.
type SessionCreated struct {
	Version string `json:"version"` // buddy's version
	Cwd     string `json:"cwd"`
	Target  string `json:"target"`
	Profile string `json:"profile"`
	Model   string `json:"model"`
	API     string `json:"api"`
	Window  int    `json:"window,omitempty"`
	Effort  string `json:"effort,omitempty"` // reasoning_effort of the model, if one is set
	Title   string `json:"title,omitempty"`
}

// SessionResumed marks that another process continues the session.
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

// SessionForked marks that all earlier events were copied from another session, up to the end
// of one of its exchanges.
type SessionForked struct {
	From     string `json:"from"`     // id of that session
	FromSeq  uint64 `json:"from_seq"` // the last event copied
	Exchange int    `json:"exchange"` // its exchange, from 1
}

// SessionRenamed changes the session's title; the last one counts.
type SessionRenamed struct {
	Title string `json:"title"` // one line; "" goes back to the first prompt
}

// SessionClosed marks an orderly end of the program.
type SessionClosed struct{}

// PromptSubmitted holds a person's prompt. Queued means that a task was running and that Kind
// is not known yet: the prompt is submitted again when it is used.
type PromptSubmitted struct {
	ID     int           `json:"id"`
	Text   string        `json:"text"`
	Images []model.Image `json:"images,omitempty"`
	Queued bool          `json:"queued,omitempty"`
	Kind   PromptKind    `json:"kind,omitempty"` // "" in sessions of old
	Date   string        `json:"date,omitempty"` // that the model is told with it, such as "2026-11-22 (UTC)"
}

// Command reports whether the prompt is a shell command, or a workflow, to run at once. Old sessions have no
// Kind: there it is one unless a task was running.
func (p PromptSubmitted) Command() bool {
	return p.Kind == Typed || p.Kind == "" && strings.HasPrefix(p.Text, "!")
}

// PromptKind names the use of a prompt.
type PromptKind string

// The kinds of prompts.
const (
	Opening  PromptKind = "opening"  // opens an exchange
	Steering PromptKind = "steering" // added to the running exchange
	Typed    PromptKind = "typed"    // a shell command, or a workflow: the model is informed, not asked
)

// PromptBlocked marks that a prompt is taken out of what the model is sent, since a hook refused it or it could not be sent.
type PromptBlocked struct {
	ID     int    `json:"id"`
	By     string `json:"by"` // the hook; "" = no hook
	Reason string `json:"reason,omitempty"`
}

// PromptWithdrawn marks that a queued prompt was withdrawn before its use.
type PromptWithdrawn struct {
	ID int `json:"id"`
}

// ForSubagent says why a subagent's conversation began.
const ForSubagent = "agent"

// BranchStarted marks that a conversation forked off another, or that a subagent began one of its
// own. Envelopes with its number belong to it.
type BranchStarted struct {
	Branch     int    `json:"branch"`
	FromBranch int    `json:"from_branch,omitempty"`
	FromSeq    uint64 `json:"from_seq"` // the last event in common
	Why        string `json:"why"`      // bg or agent
}

// TaskKind names the work of a task.
type TaskKind string

// The kinds of tasks.
const (
	MainTask       TaskKind = "main"
	BackgroundTask TaskKind = "bg" // on a fork of the conversation
	ShellTask      TaskKind = "shell"
	SubagentTask   TaskKind = "subagent" // on a conversation of its own
	CompactionTask TaskKind = "compaction"
)

// Outcome names how a task ended.
type Outcome string

// The outcomes.
const (
	Completed    Outcome = "completed"
	Cancelled    Outcome = "cancelled"
	MaxTurns     Outcome = "max_turns"
	MaxCost      Outcome = "max_cost"
	ContextLimit Outcome = "context_limit"
	GoalLimit    Outcome = "goal_limit" // a goal has used what it may
	Failed       Outcome = "failed"
)

// TaskQueued announces a task, behind the prompts that it begins with and before it works. A command that
// goes on after its call is announced by its TaskStarted alone: it works already. Title has at most 80 bytes.
type TaskQueued struct {
	ID    int      `json:"id"`
	Kind  TaskKind `json:"kind"`
	Title string   `json:"title"`
}

// TaskStarted marks that a task began to work.
type TaskStarted struct {
	ID       int      `json:"id"`
	Kind     TaskKind `json:"kind"`
	Title    string   `json:"title"`
	Deadline int64    `json:"deadline,omitempty"` // Unix milliseconds
	// Pane and Dir are those of a ShellTask: where it runs, and where to find it after a crash. Dir
	// of a SubagentTask is where its result will be.
	Pane string `json:"pane,omitempty"`
	Dir  string `json:"dir,omitempty"`
	// What follows is of a SubagentTask.
	Agent      string `json:"agent,omitempty"`      // the name of its definition
	Parent     int    `json:"parent,omitempty"`     // the task that called it
	Call       string `json:"call,omitempty"`       // id of that call
	Background bool   `json:"background,omitempty"` // the call did not wait for it
}

// TaskDeadline sets the time by which a task has to end.
type TaskDeadline struct {
	ID       int   `json:"id"`
	Deadline int64 `json:"deadline"` // Unix milliseconds
}

// TaskCancelling marks that a task was told to stop.
type TaskCancelling struct {
	ID int `json:"id"`
}

// TaskProgress describes the current step of a task where no other event does.
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

// TurnStarted opens a turn: one model request and the tool calls that follow from it.
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

// RequestStarted describes a request that is sent to the model.
type RequestStarted struct {
	Profile         string `json:"profile"`
	Model           string `json:"model"`
	Messages        int    `json:"messages"`
	Tools           int    `json:"tools"`
	EstimatedTokens int    `json:"estimated_tokens"`
	Attempt         int    `json:"attempt"`
}

// TextDelta adds a piece to the answer.
type TextDelta struct {
	Text string `json:"text"`
}

// ReasoningDelta adds a piece to a reasoning trace.
type ReasoningDelta struct {
	Field string `json:"field,omitempty"`
	Text  string `json:"text"`
}

// CallDelta adds a piece to a tool call's arguments.
type CallDelta struct {
	CallID string `json:"call_id"`
	Text   string `json:"text"`
}

// Checkpoint saves what an unfinished answer gained since the last one, at most once a second,
// so that a crash loses little. The offsets are bytes of the answer before it.
type Checkpoint struct {
	Text        string `json:"text"`
	TextAt      int    `json:"text_at,omitempty"`
	Reasoning   string `json:"reasoning,omitempty"`
	ReasoningAt int    `json:"reasoning_at,omitempty"`
}

// OpenText tells who joins in the middle of an answer what that has gained since its last checkpoint. It is not
// stored, because the next checkpoint holds it.
type OpenText Checkpoint

// ModelMessage holds a whole answer, opaque fields included. Partial means that the stream
// broke off. Reasoning is the reasoning trace as text, for display.
type ModelMessage struct {
	Message   model.Message `json:"message"`
	Reasoning string        `json:"reasoning,omitempty"`
	Partial   bool          `json:"partial,omitempty"`
}

// CacheResult records whether the provider had the beginning of a prompt in its cache.
type CacheResult string

// The cache results.
const (
	CacheHit  CacheResult = "hit"
	CacheMiss CacheResult = "miss"
)

// ResponseFinished closes one request. Cache is empty when the provider did not report cached
// tokens.
type ResponseFinished struct {
	FinishReason string      `json:"finish_reason"`
	Calls        int         `json:"calls"`
	Tokens       int         `json:"tokens,omitempty"`
	Cache        CacheResult `json:"cache,omitempty"`
	CachedTokens int         `json:"cached_tokens,omitempty"`
	FirstMS      int64       `json:"first_ms,omitempty"` // part of PhaseMS: until the first piece of the answer; 0 = not known
	PhaseMS      int64       `json:"phase_ms"`
}

// ModelRetry marks that a request failed and is sent again after WaitMS.
type ModelRetry struct {
	Attempt int    `json:"attempt"`      // that failed, from 1
	Of      int    `json:"of,omitempty"` // attempts at most; 0 = not known
	WaitMS  int64  `json:"wait_ms"`
	Why     string `json:"why"`             // one sentence
	Short   string `json:"short,omitempty"` // the same in a few words, such as "Overloaded (529)"
	Raw     string `json:"raw,omitempty"`   // what the provider answered; only for a person who asks to see it
}

// ModelAlive marks bytes from the model without content, such as a ping: it still works. At
// most one a second; one also follows a ModelRetry when the request is sent again.
type ModelAlive struct{}

// ModelReading says how much of a request a server on this machine has processed, in tokens, before it answers.
type ModelReading model.PromptRead

// ModelStalled marks that an answer was given up, because nothing of it came for TimeoutMS.
// Later events tell whether the request is repeated.
type ModelStalled struct {
	TimeoutMS int64 `json:"timeout_ms"`
}

// ModelFallback marks that the profile To answers instead of From, this request and the others of its task, up
// to a FallbackEnded. The part of the answer that came from From is void.
type ModelFallback struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Model string `json:"model"` // of To
	Why   string `json:"why"`   // Stream stalled or Model overloaded

	Detail string `json:"detail,omitempty"` // the error that came of it
	Raw    string `json:"raw,omitempty"`    // what the provider answered; only for a person who asks to see it
}

// Reason returns why another model answers, for people.
func (f ModelFallback) Reason() string {
	return cmp.Or(f.Detail, f.Why)
}

// FallbackEnded marks that the profile To answers again, in whose place From did: the task ends, the conversation
// outgrew the window of From, or a skill lets another model answer.
type FallbackEnded struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// ModelSwitched names the model that answers from now on.
type ModelSwitched struct {
	Profile string `json:"profile"`
	Model   string `json:"model"`
	API     string `json:"api"`
	Window  int    `json:"window,omitempty"`
	Effort  string `json:"effort,omitempty"` // reasoning_effort of the model, if one is set
	Note    string `json:"note,omitempty"`   // what else differs: the protocol, the login
}

// TargetSwitched names the target of calls that name none, from now on, and the folder they
// start in; "" is the home folder, or not known yet.
type TargetSwitched struct {
	Name string `json:"name"`
	Cwd  string `json:"cwd,omitempty"`
}

// ResultSpilled marks that the whole result of a call is in a file (overflow), because it is
// too long to be sent; the model reads its beginning and its end. Result is that text when it
// replaces the result given before, because the results of one answer were too long together.
type ResultSpilled struct {
	CallID string `json:"call_id"`
	Path   string `json:"path,omitempty"` // "": it could not be saved
	Bytes  int64  `json:"bytes"`
	Result string `json:"result,omitempty"`
}

// ModeChanged sets how approvals are decided from now on.
type ModeChanged struct {
	Mode  action.Mode `json:"mode"`
	Until int64       `json:"until,omitempty"` // Unix milliseconds; then ask, or the stricter mode that the session began in

	Screen string `json:"screen,omitempty"` // where the user was who chose it, as in ApprovalAnswered
}

// RuleAdded adds a rule until the session ends.
type RuleAdded struct {
	Rule  action.Rule `json:"rule"`
	Scope string      `json:"scope"` // session
}

// RuleRemoved ends a rule that was added in the session, or one of the settings, which is gone
// from their file as well.
type RuleRemoved struct {
	Rule  action.Rule `json:"rule"`
	Scope string      `json:"scope"` // session or settings
}

// Notice informs; it needs no answer. Code is stable and lower case.
type Notice struct {
	Text string `json:"text"`
	Code string `json:"code,omitempty"`
}

// LongCommand is the code of a notice about a command that has been running for long.
const LongCommand = "long_command"

// Warning reports something that a person may want to act on.
type Warning struct {
	Text     string `json:"text"`
	Code     string `json:"code,omitempty"`
	NextStep string `json:"next_step,omitempty"`
}

// LostLimit is the code of the warning that a file limits something in a way that is not understood, so that the file, or
// what it is for, is left out.
const LostLimit = "limits"

// BadCommand is the code of the error that a command is not followed.
const BadCommand = "bad_command"

// Error reports something that went wrong.
type Error struct {
	Text     string `json:"text"`
	Code     string `json:"code,omitempty"`
	Task     int    `json:"task,omitempty"`
	NextStep string `json:"next_step,omitempty"`
	Raw      string `json:"raw,omitempty"` // what a provider answered; only for a person who asks to see it
}

// Interrupted marks that a person or a crash cut a task off. With CanContinue, the command
// Continue resumes it.
type Interrupted struct {
	Task        int    `json:"task,omitempty"`
	Text        string `json:"text,omitempty"`
	CanContinue bool   `json:"can_continue,omitempty"`
}
