package event

import (
	"cmp"
	"strings"

	"buddy/agent/action"
	"buddy/agent/model"
)

// SessionCreated is the first event of a session.
type SessionCreated struct {
	Version string `json:"version"` // buddy's version
	Cwd     string `json:"cwd"`
	Target  string `json:"target"`
	Profile string `json:"profile"`
	Model   string `json:"model"`
	API     string `json:"api"`
	Window  int    `json:"window,omitempty"`
	Effort  string `json:"effort,omitempty"` // reasoning_effort of the model, if set
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
	Effort      string `json:"effort,omitempty"`      // reasoning_effort of the model, if set
	Interrupted bool   `json:"interrupted,omitempty"` // an exchange was running when the session ended
}

// SessionForked marks that this session is a fork: all earlier events were copied from another session, up to the end
// of an exchange.
type SessionForked struct {
	From     string `json:"from"`     // id of that session
	FromSeq  uint64 `json:"from_seq"` // the last copied event
	Exchange int    `json:"exchange"` // number of the last copied exchange, from 1
}

// SessionRenamed changes the session's title; the last one wins.
type SessionRenamed struct {
	Title string `json:"title"` // one line; "" restores the title from the first prompt
}

// SessionClosed marks an orderly end of the program.
type SessionClosed struct{}

// PromptSubmitted holds a user's prompt. If a task is running, the event has Queued and no Kind; when the prompt is
// used, it is published again with its Kind.
type PromptSubmitted struct {
	ID       int           `json:"id"`
	Text     string        `json:"text"`
	Images   []model.Image `json:"images,omitempty"`
	Excerpts []Excerpt     `json:"excerpts,omitempty"`
	Queued   bool          `json:"queued,omitempty"`
	Kind     PromptKind    `json:"kind,omitempty"` // "" in old sessions
	Date     string        `json:"date,omitempty"` // date for the model, such as "2026-11-22 (UTC)"
	Key      string        `json:"key,omitempty"`  // chosen by the program that sent it, see Submit
}

// Excerpt is a text that an editor sends with a prompt: a file as it is in the editor, or the selected part of a file.
type Excerpt struct {
	Name string `json:"name"` // such as "main.go (lines 5 to 9)"
	Text string `json:"text"`
}

// Command reports whether the prompt is a shell command or a workflow that runs at once. Prompts of old sessions have
// no Kind; of these, Command takes all that start with an exclamation mark for commands, although those sent while a
// task was running were not.
func (p PromptSubmitted) Command() bool {
	return p.Kind == Typed || p.Kind == "" && strings.HasPrefix(p.Text, "!")
}

// PromptKind names the use of a prompt.
type PromptKind string

// The kinds of prompts.
const (
	Opening  PromptKind = "opening"  // starts an exchange
	Steering PromptKind = "steering" // added to the running exchange
	Typed    PromptKind = "typed"    // a shell command or a workflow: the model sees it later
)

// PromptBlocked marks that a prompt is not sent to the model, because a hook refused it or it could not be sent.
type PromptBlocked struct {
	ID     int    `json:"id"`
	By     string `json:"by"` // name of the hook; "" without one
	Reason string `json:"reason,omitempty"`
}

// PromptWithdrawn marks that a queued prompt was withdrawn before it was used.
type PromptWithdrawn struct {
	ID int `json:"id"`
}

// ForSubagent is the Why of a branch for a subagent.
const ForSubagent = "agent"

// BranchStarted marks a fork of a conversation, or the new conversation of a subagent. Events of that conversation have
// its number in their envelopes.
type BranchStarted struct {
	Branch     int    `json:"branch"`
	FromBranch int    `json:"from_branch,omitempty"`
	FromSeq    uint64 `json:"from_seq"` // the last shared event
	Why        string `json:"why"`      // bg or agent
}

// TaskKind names the work of a task.
type TaskKind string

// The kinds of tasks.
const (
	MainTask       TaskKind = "main"
	BackgroundTask TaskKind = "bg" // on a fork of the conversation
	ShellTask      TaskKind = "shell"
	SubagentTask   TaskKind = "subagent" // on its own conversation
	CompactionTask TaskKind = "compaction"
	LoopTask       TaskKind = "loop" // starts main tasks for the same prompt, again and again
)

// HasConversation reports whether tasks of this kind work on a conversation.
func (k TaskKind) HasConversation() bool { return k != ShellTask && k != LoopTask }

// Outcome names how a task ended.
type Outcome string

// The outcomes.
const (
	Completed    Outcome = "completed"
	Cancelled    Outcome = "cancelled"
	MaxTurns     Outcome = "max_turns"
	MaxCost      Outcome = "max_cost"
	ContextLimit Outcome = "context_limit"
	GoalLimit    Outcome = "goal_limit" // a goal used up its limits
	Failed       Outcome = "failed"
)

// TaskQueued announces a task: it follows the task's first prompts and precedes its work. A command that keeps running
// as a task after its call has no TaskQueued, only a TaskStarted. Title has at most 80 bytes.
type TaskQueued struct {
	ID    int      `json:"id"`
	Kind  TaskKind `json:"kind"`
	Title string   `json:"title"`
}

// TaskStarted reports that a task has started.
type TaskStarted struct {
	ID       int      `json:"id"`
	Kind     TaskKind `json:"kind"`
	Title    string   `json:"title"`
	Deadline int64    `json:"deadline,omitempty"` // Unix milliseconds
	// Pane and Dir belong to a ShellTask: the pane in which it runs, and the folder that identifies it after a crash. Dir
	// of a SubagentTask is the folder for its result.
	Pane string `json:"pane,omitempty"`
	Dir  string `json:"dir,omitempty"`
	// The fields below belong to a SubagentTask.
	Agent      string `json:"agent,omitempty"`      // name of its definition
	Parent     int    `json:"parent,omitempty"`     // the task that called it
	Call       string `json:"call,omitempty"`       // id of that call
	Background bool   `json:"background,omitempty"` // the call does not wait for it
}

// TaskDeadline sets the deadline of a task.
type TaskDeadline struct {
	ID       int   `json:"id"`
	Deadline int64 `json:"deadline"` // Unix milliseconds
}

// TaskCancelling marks that a task was asked to stop.
type TaskCancelling struct {
	ID int `json:"id"`
}

// TaskProgress describes the current step of a task if no other event does.
type TaskProgress struct {
	ID   int    `json:"id"`
	Text string `json:"text"` // "" ends the step
}

// TaskFinished is the last event of a task. Error is set for Failed only.
type TaskFinished struct {
	ID      int     `json:"id"`
	Outcome Outcome `json:"outcome"`
	Error   string  `json:"error,omitempty"`
}

// ExchangeFinished marks that buddy has finished work on a prompt in the main conversation, and does nothing more for
// it by itself. Error is set for Failed only. After a crash, the event follows only once a person has continued the
// exchange. An exchange that ended at a limit or in an outage can be continued, too; it then has another
// ExchangeFinished.
type ExchangeFinished struct {
	Outcome Outcome `json:"outcome"`
	Error   string  `json:"error,omitempty"`
}

// TurnStarted starts a turn: one model request and its tool calls.
type TurnStarted struct {
	TurnID string `json:"turn_id"`
	Number int    `json:"number"` // within the session, from 1
}

// TurnFinished ends a turn.
type TurnFinished struct {
	TurnID     string       `json:"turn_id"`
	Number     int          `json:"number"`
	StopReason string       `json:"stop_reason,omitempty"`
	Usage      *model.Usage `json:"usage,omitempty"`
	Cost       model.Money  `json:"cost,omitempty"` // of all its requests; 0 = unknown
}

// RequestStarted describes a request to the model.
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

// Checkpoint stores the new part of an unfinished answer, at most once a second, so that a crash loses little. TextAt
// and ReasoningAt are the byte offsets at which the parts start.
type Checkpoint struct {
	Text        string `json:"text"`
	TextAt      int    `json:"text_at,omitempty"`
	Reasoning   string `json:"reasoning,omitempty"`
	ReasoningAt int    `json:"reasoning_at,omitempty"`
}

// OpenText holds the part of an answer since its last checkpoint, for a client that joins in the middle. It is not
// stored, because the next checkpoint contains it.
type OpenText Checkpoint

// ModelPrefix holds the start of an answer that is still streaming. It is stored because calls in it have already
// started or have results. The next ModelMessage of the turn replaces it, whether the answer was completed or broke
// off. If buddy ends before that, the prefix stays.
type ModelPrefix struct {
	Message model.Message `json:"message"`
}

// ModelMessage holds a complete answer, including the provider's opaque fields. Partial means that the stream was cut
// off. Reasoning is the reasoning trace as text, for display.
type ModelMessage struct {
	Message   model.Message `json:"message"`
	Reasoning string        `json:"reasoning,omitempty"`
	Partial   bool          `json:"partial,omitempty"`
}

// CacheResult tells whether the provider had cached the beginning of a prompt.
type CacheResult string

// The cache results.
const (
	CacheHit  CacheResult = "hit"
	CacheMiss CacheResult = "miss"
)

// ResponseFinished ends one request. Cache is empty if the provider reported no cached tokens.
type ResponseFinished struct {
	FinishReason string      `json:"finish_reason"`
	Calls        int         `json:"calls"`
	Tokens       int         `json:"tokens,omitempty"`
	Cache        CacheResult `json:"cache,omitempty"`
	CachedTokens int         `json:"cached_tokens,omitempty"`
	FirstMS      int64       `json:"first_ms,omitempty"` // part of PhaseMS: until the first piece of the answer; 0 = unknown
	PhaseMS      int64       `json:"phase_ms"`
}

// ModelRetry marks that a request failed and is repeated after WaitMS.
type ModelRetry struct {
	Attempt int    `json:"attempt"`      // number of the failed attempt, from 1
	Of      int    `json:"of,omitempty"` // maximum number of attempts; 0 = unknown
	WaitMS  int64  `json:"wait_ms"`
	Why     string `json:"why"`             // a sentence
	Short   string `json:"short,omitempty"` // in a few words, such as "Overloaded (529)"
	Raw     string `json:"raw,omitempty"`   // the provider's response; shown on request only
}

// ModelAlive marks that the model has sent bytes without content, such as a ping, or that a request is sent again after
// a ModelRetry. There is at most one a second.
type ModelAlive struct{}

// ModelReading counts the tokens of a request that a local server has processed before it answers.
type ModelReading model.PromptRead

// ModelStalled marks that an answer was abandoned, because nothing arrived for TimeoutMS. Later events show whether the
// request is sent again.
type ModelStalled struct {
	TimeoutMS int64 `json:"timeout_ms"`
}

// ModelFallback marks that the profile To answers in place of From: this request and the later ones of the task, and
// for some minutes those of all tasks, until a FallbackEnded. The part of the answer that From has sent is discarded.
type ModelFallback struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Model string `json:"model"` // of To
	Why   string `json:"why"`   // Stream stalled or Model overloaded

	Detail string `json:"detail,omitempty"` // the underlying error
	Raw    string `json:"raw,omitempty"`    // the provider's response; shown on request only
}

// Reason returns why another model answers.
func (f ModelFallback) Reason() string {
	return cmp.Or(f.Detail, f.Why)
}

// FallbackEnded marks that the profile To answers again in place of From, because some minutes have passed, the
// conversation outgrew the window of From, or the person or a skill selected a model.
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
	Effort  string `json:"effort,omitempty"` // reasoning_effort of the model, if set
	Note    string `json:"note,omitempty"`   // other differences: the protocol, the login
}

// TargetSwitched sets the target of calls that name no target, and the folder they start in; "" is the home folder,
// or not known yet.
type TargetSwitched struct {
	Name string `json:"name"`
	Cwd  string `json:"cwd,omitempty"`
}

// ResultSpilled marks that the result of a call is too long: the full result is in a file (overflow), and the model
// reads its beginning and end. Result is set only if the result was shortened later, because all results of an answer
// together were too long; it replaces the result stored before.
type ResultSpilled struct {
	CallID string `json:"call_id"`
	Path   string `json:"path,omitempty"` // "": it could not be saved
	Bytes  int64  `json:"bytes"`
	Result string `json:"result,omitempty"`
}

// ModeChanged sets the approval mode.
type ModeChanged struct {
	Mode  action.Mode `json:"mode"`
	Until int64       `json:"until,omitempty"` // Unix milliseconds; afterwards ask, or the session's initial mode if stricter

	Screen string `json:"screen,omitempty"` // terminal of the user who chose it, as in ApprovalAnswered
}

// RuleAdded adds a rule for the session, or until the next prompt.
type RuleAdded struct {
	Rule  action.Rule `json:"rule"`
	Scope string      `json:"scope"` // session or prompt
}

// RuleRemoved marks that a rule of the session was removed, or a rule of the settings, whose file no longer contains
// it.
type RuleRemoved struct {
	Rule  action.Rule `json:"rule"`
	Scope string      `json:"scope"` // session or settings
}

// Notice informs the person. Code is stable and in lower case.
type Notice struct {
	Text string `json:"text"`
	Code string `json:"code,omitempty"`
}

// Line returns the text.
func (n Notice) Line() string { return n.Text }

// LongCommand is the Code of the notice about a long-running command.
const LongCommand = "long_command"

// Warning reports something that a person may want to act on.
type Warning struct {
	Text     string `json:"text"`
	Code     string `json:"code,omitempty"`
	NextStep string `json:"next_step,omitempty"`
}

// LostLimit is the Code of warnings that a limit on the agent may be missing, because a file or a part of it has no
// effect.
const LostLimit = "limits"

// BadCommand is the Code of the error for a rejected command.
const BadCommand = "bad_command"

// Error reports something that went wrong.
type Error struct {
	Text     string `json:"text"`
	Code     string `json:"code,omitempty"`
	Task     int    `json:"task,omitempty"`
	NextStep string `json:"next_step,omitempty"`
	Raw      string `json:"raw,omitempty"` // the provider's response; shown on request only
}

// Interrupted marks that a person or a crash stopped a task. With CanContinue, the command Continue resumes it.
type Interrupted struct {
	Task        int    `json:"task,omitempty"`
	Text        string `json:"text,omitempty"`
	CanContinue bool   `json:"can_continue,omitempty"`
}
