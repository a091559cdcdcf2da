// Package model says what a language model is to buddy: messages in, a stream of
// deltas out.
//
// [Message] encodes as a Chat Completions message and keeps every field it does not
// know, so that what a provider sent is what it gets back. Adapters in the
// sub-packages translate; they do not decide.
//
//	for d, err := range m.Stream(ctx, model.Request{Messages: msgs}) {
//		if err != nil { return err }
//		fmt.Print(d.Text)
//	}
package model

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"
)

// Model is one language model behind one endpoint. It is safe for concurrent use.
type Model interface {
	// Info describes the model. It does no I/O.
	Info() Info
	// Stream sends one request and yields its answer piece by piece. The last delta of
	// a whole answer is a Done; an error ends the sequence and is its last element.
	// Leaving the loop or cancelling ctx ends the request.
	Stream(ctx context.Context, req Request) iter.Seq2[Delta, error]
}

// Info holds what is known of a model without a request to it.
type Info struct {
	Profile string `json:"profile"` // the name under [models] in the configuration
	Model   string `json:"model"`
	API     string `json:"api"`              // Demo, completions, responses or anthropic
	BaseURL string `json:"base_url"`         // empty for the demo
	Window  int    `json:"window,omitempty"` // context window in tokens; 0 = unknown
	Price   Price  `json:"price,omitzero"`   // of its tokens; zero = unknown
	Effort  string `json:"effort,omitempty"` // how much it is to think; empty: the provider decides
	Auth    string `json:"-"`                // how it is asked: "a key", "a login" or "no key"; empty for the demo
	// TextOnly means that the model is known not to take images, or has refused one: a text is
	// sent in the place of each.
	TextOnly bool `json:"text_only,omitempty"`
	// Blocks says why the model is spoken to in fenced blocks of text and not with calls of tools, for people; "": it is not.
	Blocks string `json:"blocks,omitempty"`
}

// Fits reports whether a request leaves room for an answer in the window, a twentieth of it. A window
// that is not known stops nothing.
func (i Info) Fits(req Request) bool { return i.Window <= 0 || req.Tokens <= i.Window-i.Window/20 }

// HasSection reports whether settings of a model may stand in the section [models.PROFILE]. A model that was chosen as
// NAME/MODEL has none: it takes the address and key of NAME, not what was written of another model.
func HasSection(profile, id string) bool { return !strings.HasSuffix(profile, "/"+id) }

// Demo is the API of the embedded model, which only knows a few verbs.
const Demo = "demo"

// Request is one question to a model. With no Tools the wire request has no tools key.
type Request struct {
	Messages []Message
	Tools    []ToolDef
	// Ephemeral counts the last Messages that belong to this request only: later requests do not
	// have them, so nothing from there on is worth caching.
	Ephemeral int
	// Breakpoints are the ends of prefixes that are worth to be cached: system messages that are not blank, by
	// index from 0. nil means the last one. See Marks.
	Breakpoints []int
	Tokens      int     // about how many tokens it has; 0 = not estimated. It is not sent.
	Needs       []Needs // what servers have refused earlier, of this model and others. It is not sent.
}

// HasImages reports whether any message has images.
func (r Request) HasImages() bool {
	return slices.ContainsFunc(r.Messages, func(m Message) bool { return len(m.Images) > 0 })
}

// maxMarks limits how many system messages are marked: a provider takes four marks in a request, of which the tools
// and the newest message have one each.
const maxMarks = 2

// Marks returns which of so many system messages end with a mark for the cache, in order: the Breakpoints that there
// are, of too many the last ones.
func (r Request) Marks(system int) []int {
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
	// Free is another form of its calls, for adapters whose protocol has it; nil: there is none.
	Free *FreeText `json:"-"`
}

// Argument is an argument that a tool takes, whether or not its definition tells models of it.
type Argument struct {
	Name     string
	Type     string // of JSON Schema; "" is any
	Required bool
}

// FreeText is a call that is plain text in place of JSON, which says the same.
type FreeText struct {
	Argument string // of Parameters: what the text is the value of
	Grammar  string // of the text, in Lark's notation
}

// DeltaKind tells which fields of a Delta count.
type DeltaKind uint8

// The kinds of deltas.
const (
	Text      DeltaKind = iota + 1 // Text: the next piece of the answer
	Reasoning                      // Text, Field: the next piece of a reasoning trace
	CallDelta                      // CallID, Text: the next piece of a call's arguments
	CallReady                      // Call: one tool call is complete, more may follow
	Alive                          // bytes came that say nothing, such as a ping, at most one a second; or the request is sent again
	Reading                        // Prompt: how much of the request the server has processed; nothing of the answer came
	Stalled                        // Stall: the answer stopped in the middle; what follows tells what comes of it
	Retry                          // Retry: the request failed and will be sent again
	Fallback                       // Fallback: another model answers the request from here on
	Healed                         // Needs: the server took the request only in another form
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
	Refusal string   // Done: why its content filter stopped the answer, one line; "" where it does not say
	Usage   *Usage   // Done: nil when the provider sent none
}

// PromptRead says how much of a request a server has processed, in tokens.
type PromptRead struct {
	Total  int   `json:"total"`
	Cached int   `json:"cached"` // of Done: those that it had processed for an earlier request
	Done   int   `json:"done"`
	TookMS int64 `json:"took_ms"` // since it began
}

// StallNotice reports that an answer was abandoned because nothing arrived for TimeoutMS milliseconds.
type StallNotice struct {
	TimeoutMS int64
}

// RetryNotice reports a failed request and when it is sent again.
type RetryNotice struct {
	Attempt int // the attempt that failed, from 1
	Of      int // attempts there are at most
	WaitMS  int64
	Fault   *Error
	Now     func() // ends the wait; it may be called from anywhere, at any time
}

// FallbackNotice says who answers in whose place.
type FallbackNotice struct {
	From, To Info
	Model    Model  // To; nil where the answer was recorded
	Why      string // Stream stalled or Model overloaded
	Detail   string // the error, on one line
	Raw      string // what the server answered; "" if nothing came
}

// Usage counts tokens of one request.
type Usage struct {
	Prompt     int   `json:"prompt"`
	Completion int   `json:"completion"`
	Cached     int   `json:"cached,omitempty"`      // part of Prompt that the provider had cached
	CacheWrite int   `json:"cache_write,omitempty"` // part of Prompt that it stored for later
	Cost       Money `json:"cost,omitempty"`        // of the request, as the provider or a gateway says; 0: it does not say
}

// Finish reasons that mean more than "the answer ended"; every other is treated as
// an ordinary end.
const (
	FinishStop          = "stop"
	FinishToolCalls     = "tool_calls"
	FinishLength        = "length"
	FinishContentFilter = "content_filter"
	// FinishContext means that the answer was cut off because the window is full: a longer
	// conversation would not help, a shorter one does.
	FinishContext = "context_full"
	// FinishCompaction means that the provider only summed up the conversation: the
	// message is to be kept and the same request goes on after it.
	FinishCompaction = "compaction"
)
