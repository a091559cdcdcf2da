// Package model defines the interface to language models: a request holds messages, and the answer is a stream of
// deltas, its pieces as they arrive.
//
//	for d, err := range m.Stream(ctx, model.Request{Messages: msgs}) {
//		if err != nil { return err }
//		fmt.Print(d.Text)
//	}
//
// The subpackages implement the protocols of the providers. A [Message] is encoded as in Chat Completions and keeps
// fields that it does not know, so that a provider gets its own fields back.
package model

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"
)

// Model is one language model at one endpoint. It is safe for concurrent use.
type Model interface {
	// Info describes the model. It does no I/O.
	Info() Info
	// Stream sends one request and yields its answer piece by piece. A complete answer ends with a Done delta; an error
	// is the last element of the sequence. Leaving the loop or cancelling ctx ends the request.
	Stream(ctx context.Context, req Request) iter.Seq2[Delta, error]
}

// Info holds what buddy knows about a model without sending it a request.
type Info struct {
	Profile string `json:"profile"` // the name under [models] in the configuration
	Model   string `json:"model"`
	API     string `json:"api"`              // Demo, completions, responses or anthropic
	BaseURL string `json:"base_url"`         // empty for the demo
	Window  int    `json:"window,omitempty"` // context window in tokens; 0 = unknown
	Price   Price  `json:"price,omitzero"`   // price of its tokens; zero = unknown
	Effort  string `json:"effort,omitempty"` // reasoning effort; empty: the provider decides
	Auth    string `json:"-"`                // how requests authenticate: "a key", "a login" or "no key"; empty for the demo
	// TextOnly means that the model does not accept images: its name shows that, or it has refused one. A text is sent
	// in place of each image.
	TextOnly bool `json:"text_only,omitempty"`
	// Blocks says why the model writes calls as fenced blocks of text, for display; "" if it makes native tool calls.
	Blocks string `json:"blocks,omitempty"`
}

// Fits reports whether the request leaves a twentieth of the window for the answer. If the window is unknown, every
// request fits.
func (i Info) Fits(req Request) bool { return i.Window <= 0 || req.Tokens <= i.Window-i.Window/20 }

// HasSection reports whether the model may have a section [models.PROFILE] of its own in the settings. A model chosen
// as NAME/MODEL has none: it uses the section NAME, except for prices and limits, which hold for another model.
func HasSection(profile, id string) bool { return !strings.HasSuffix(profile, "/"+id) }

// Demo is the value of Info.API for the embedded demo model, which understands only a few commands.
const Demo = "demo"

// Request is one request to a model. If Tools is empty, it is sent without a list of tools.
type Request struct {
	Messages []Message
	Tools    []ToolDef
	// Ephemeral is the number of messages at the end of Messages that no later request will contain, so that caching
	// them is useless.
	Ephemeral int
	// Breakpoints holds the indexes, from 0, of the system messages up to which the provider should cache the request.
	// These messages must not be empty. nil means only the last system message. See Marks.
	Breakpoints []int
	NoCache     bool    // the provider is not asked to cache anything
	Tokens      int     // estimated number of tokens; 0 = not estimated. It is not sent.
	Needs       []Needs // changes that servers of this model and others needed earlier. They are not sent.
}

// HasImages reports whether any message has images.
func (r Request) HasImages() bool {
	return slices.ContainsFunc(r.Messages, func(m Message) bool { return len(m.Images) > 0 })
}

// maxMarks limits how many system messages get a cache mark. Anthropic allows four marks in a request; one is for the
// tools and one for the newest message.
const maxMarks = 2

// Marks returns the indexes of the system messages that get a cache mark, in ascending order: the last ones in
// Breakpoints, at most maxMarks. system is the number of system messages; it ignores Breakpoints beyond them.
func (r Request) Marks(system int) []int {
	if r.NoCache {
		return nil
	}
	at := r.Breakpoints
	if at == nil {
		at = []int{system - 1}
	}
	at = slices.DeleteFunc(slices.Clone(at), func(i int) bool { return i < 0 || i >= system })
	slices.Sort(at)
	at = slices.Compact(at)
	return at[max(0, len(at)-maxMarks):]
}

// ToolDef is a tool as the model sees it. Parameters is a JSON Schema object.
type ToolDef struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	// Free describes how the model may call the tool with plain text, if the protocol supports it; nil: only with JSON.
	Free *FreeText `json:"-"`
}

// Argument is an argument that a tool accepts although the tool's definition may not list it.
type Argument struct {
	Name     string
	Type     string // of JSON Schema; "" is any
	Required bool
}

// FreeText describes a call written as plain text instead of JSON.
type FreeText struct {
	Argument string // the member of Parameters whose value is the text
	Grammar  string // of the text, in Lark's notation
}

// DeltaKind selects which fields of a Delta are set.
type DeltaKind uint8

// The kinds of deltas.
const (
	Text      DeltaKind = iota + 1 // Text: the next piece of the answer
	Reasoning                      // Text, Field: the next piece of a reasoning trace
	CallDelta                      // CallID, Text: the next piece of a call's arguments
	CallReady                      // Call: one tool call is complete, more may follow
	Alive                          // bytes without content arrived, such as a ping, at most one a second; or the request is sent again
	Reading                        // Prompt: how much of the request the server has processed; the answer has not started
	Stalled                        // Stall: the answer stopped in the middle; the next deltas show how it is recovered
	Retry                          // Retry: the request failed and will be sent again
	Fallback                       // Fallback: another model answers the request from here on
	Healed                         // Needs: the server accepted the request only in another form
	Done                           // Message, Finish, Usage: the answer is complete
)

// Delta is one piece of a streamed answer.
type Delta struct {
	Kind   DeltaKind
	Text   string
	Field  string // Reasoning: the provider's name of the field
	CallID string
	Call   *ToolCall

	Prompt   *PromptRead
	Stall    *StallNotice
	Retry    *RetryNotice
	Fallback *FallbackNotice
	Needs    *Needs

	Message *Message // Done: the whole message, opaque fields kept
	Finish  string   // Done: the provider's finish reason
	Refusal string   // Done: why the provider's content filter stopped the answer, one line; "" if it gave no reason
	Usage   *Usage   // Done: nil when the provider sent none
	// Limits holds the account's rate limits as they are after the request; nil if the provider sent none. Only Done
	// has it.
	Limits []RateLimit
}

// PromptRead reports how much of a request a server has processed, in tokens.
type PromptRead struct {
	Total  int   `json:"total"`
	Cached int   `json:"cached"` // part of Done that was processed for an earlier request
	Done   int   `json:"done"`
	TookMS int64 `json:"took_ms"` // since processing started
}

// StallNotice reports that buddy abandoned an answer because nothing arrived for TimeoutMS milliseconds.
type StallNotice struct {
	TimeoutMS int64
}

// RetryNotice reports that a request failed, and when it will be sent again.
type RetryNotice struct {
	Attempt int // the attempt that failed, from 1
	Of      int // maximum number of attempts
	WaitMS  int64
	Fault   *Error
	Now     func() // ends the wait; safe for concurrent use
}

// FallbackNotice reports that the model To answers instead of the model From.
type FallbackNotice struct {
	From, To Info
	Model    Model  // the model To; nil if the answer was recorded
	Why      string // Stream stalled or Model overloaded
	Detail   string // the error, on one line
	Raw      string // the server's answer; "" if none came
}

// Usage counts tokens of one request.
type Usage struct {
	Prompt     int `json:"prompt"`
	Completion int `json:"completion"`
	Cached     int `json:"cached,omitempty"`      // part of Prompt that the provider had cached
	CacheWrite int `json:"cache_write,omitempty"` // part of Prompt that the provider stored for later
	// CacheUnknown means that the provider does not report Cached.
	CacheUnknown bool  `json:"cache_unknown,omitempty"`
	Cost         Money `json:"cost,omitempty"` // as reported by the provider or a gateway; 0: not reported
}

// RateLimit is a limit of the requests or tokens that an account may use in a period.
type RateLimit struct {
	Of        string `json:"of"` // such as "requests" or "input tokens"
	Limit     int64  `json:"limit"`
	Remaining int64  `json:"remaining"`
	Reset     int64  `json:"reset_unix_ms,omitempty"` // when the limit is whole again; 0 is unknown
}

// Percent returns how much of the limit is used, from 0 to 100.
func (l RateLimit) Percent() int {
	if l.Limit <= 0 {
		return 0
	}
	return int(max(0, min(100, 100*(float64(l.Limit)-float64(l.Remaining))/float64(l.Limit))))
}

// The finish reasons that need special treatment. Any other reason is an ordinary end of the answer.
const (
	FinishStop          = "stop"
	FinishToolCalls     = "tool_calls"
	FinishLength        = "length"
	FinishContentFilter = "content_filter"
	// FinishContext means that the answer was cut off because the window is full. Only a shorter conversation can be
	// continued.
	FinishContext = "context_full"
	// FinishCompaction means that the provider only summarized the conversation: keep the message and send the same
	// request after it.
	FinishCompaction = "compaction"
)
