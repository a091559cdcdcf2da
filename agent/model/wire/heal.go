package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"buddy/agent/model"
)

// Names of remedies, as sessions store them.
const (
	NeedsReasoning  = "reasoning_required"  // each answer is sent with reasoning, if need be an empty one
	OtherThinking   = "other_thinking"      // thinking is asked for in the other of two forms
	NoThinkingYet   = "no_thinking_in_turn" // no thinking is asked for in the middle of a turn that has none
	NoReasoning     = "no_reasoning"        // what only this model understands is left out: reasoning, signatures
	NoPictures      = model.NoPictures
	Ordered         = "ordered"     // see inOrder
	NoSampling      = "no_sampling" // temperature and top_p
	NoSummary       = "no_reasoning_summary"
	NoInclude       = "no_include" // of encrypted reasoning
	NoEffort        = "no_effort"
	NoCacheMarks    = "no_cache_marks"
	NoParallelCalls = "no_parallel_calls"
	NoProgress      = "no_progress"
	NoStreamOptions = "no_stream_options"
	NoStore         = "no_store"
	NoFreeText      = "no_free_text"
)

// remedy is one way to send a request that was refused.
type remedy struct {
	name  string
	says  string         // what the request is then, for people
	named *regexp.Regexp // what in an answer asks for it
	// Of what the answer does not name, only what is optional is tried.
	optional bool
	field    bool // a field of the request other than its messages; all such are tried together
}

// remedies lists all there are, in the order in which they are tried.
var remedies = []remedy{
	// DeepSeek, Kimi: "thinking is enabled but reasoning_content is missing in assistant tool call message".
	{name: NeedsReasoning, says: "with reasoning in each answer", named: words(`reasoning_content.*(missing|required|must be passed)`)},
	// Anthropic: "\"thinking.type.enabled\" is not supported for this model. Use \"thinking.type.adaptive\"".
	{name: OtherThinking, says: "with another form of thinking", named: words(`thinking\.type|adaptive|budget_tokens|output_config|effort parameter`)},
	// Anthropic: "Expected `thinking` or `redacted_thinking`, but found `tool_use`".
	{name: NoThinkingYet, says: "without thinking in a turn that has none yet", named: words("expected .{0,6}thinking|must start with a thinking block")},
	// Anthropic: "Invalid `signature` in `thinking` block"; OpenAI: "Item 'rs_…' of type 'reasoning' was provided without
	// its required following item", "The encrypted content could not be verified"; Groq: "property 'reasoning_content'
	// is unsupported"; Gemini: "Thought signature is not valid".
	{
		name: NoReasoning, says: "without the earlier reasoning", optional: true,
		named: words(`signature|thinking.{0,3} block|redacted_thinking|reasoning_content|reasoning_details|encrypted[_ ]content|type 'reasoning'|reasoning item|\brs_`),
	},
	{name: NoPictures, says: "without the pictures so far", optional: true, named: words(`image|picture|pixel|media_type`)},
	// Mistral: "Unexpected role 'user' after role 'tool'"; vLLM: "conversation roles must alternate user and assistant";
	// llama.cpp: "Jinja Exception: …".
	{
		name: Ordered, says: "with neighbouring messages joined", optional: true,
		named: words(`alternat|(after|unexpected|same|last) role|consecutive|message_order|conversation roles|roles must|jinja|chat template`),
	},
	{name: NoSampling, says: "without temperature and top_p", optional: true, field: true, named: words(`temperature|top_p`)},
	// OpenAI: "Unsupported parameter: 'reasoning.summary'", "must be verified to generate reasoning summaries".
	{name: NoSummary, says: "without a summary of the reasoning", optional: true, field: true, named: words(`reasoning\.summary|reasoning summar|"reasoning"`)},
	{name: NoInclude, says: "without encrypted reasoning", optional: true, field: true, named: words(`"include"|include\[|encrypted content is not supported`)},
	{name: NoEffort, says: "without an effort", optional: true, field: true, named: words(`effort|reasoning|thinking|chat_template_kwargs`)},
	// Bedrock, LiteLLM: "cache_control: Extra inputs are not permitted".
	{name: NoCacheMarks, says: "without cache marks", optional: true, field: true, named: words(`cache_control|cache control|cachepoint|ephemeral`)},
	{name: NoParallelCalls, says: "without parallel calls", optional: true, field: true, named: words(`parallel_tool_calls`)},
	{name: NoProgress, says: "without return_progress", optional: true, field: true, named: words(`return_progress`)},
	{name: NoStreamOptions, says: "without stream_options, so that no tokens are counted", optional: true, field: true, named: words(`stream_options|include_usage`)},
	{name: NoStore, says: "without store", optional: true, field: true, named: words(`["'\x60]store\b|store: extra`)},
	{name: NoFreeText, says: "without calls in free text", optional: true, field: true, named: words(`["']custom["']|custom[_ ]tool|grammar`)},
}

func words(pattern string) *regexp.Regexp { return regexp.MustCompile(`(?is)` + pattern) }

// noPictures matches the words by which servers say that a model takes no pictures at all: DeepSeek "unknown variant
// `image_url`, expected `text`", OpenRouter "404 No endpoints found that support image input", llama.cpp "500 image
// input is not supported - hint: … you may need to provide the mmproj", vLLM "is not a multimodal model".
var noPictures = words(`image_url|image input|mmproj|not support (images?|vision|multimodal)|not a (vision|multimodal)`)

// Remedied says which remedies a request is sent with. It is made for one request.
type Remedied struct {
	on   []model.Remedy
	asks map[string]bool // remedies that would change the request
}

// With reports whether a request is sent with a remedy. It may be called only where that makes a difference: what a
// server refuses is healed by a remedy that was asked for.
func (r *Remedied) With(name string) bool {
	if i := index(r.on, name); i >= 0 {
		return true
	}
	if r.asks == nil {
		r.asks = make(map[string]bool)
	}
	r.asks[name] = true
	return false
}

func index(all []model.Remedy, name string) int {
	return slices.IndexFunc(all, func(r model.Remedy) bool { return r.Name == name })
}

// together returns remedies with others, which replace those of the same name.
func together(all []model.Remedy, others ...model.Remedy) []model.Remedy {
	all = slices.Clone(all)
	for _, o := range others {
		if i := index(all, o.Name); i < 0 {
			all = append(all, o)
		} else if all[i].Until != "" {
			all[i] = o
		}
	}
	return all
}

// memory holds what the requests of a client need. It is safe for concurrent use.
type memory struct {
	mu  sync.Mutex // guards all
	all []model.Remedy
}

// know adds remedies, and returns all.
func (m *memory) know(others ...model.Remedy) []model.Remedy {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all = together(m.all, others...)
	return m.all
}

// maxRequests limits how often a request is sent in all forms together; a compaction may follow.
const maxRequests = 5

// healing is the way of one request through its forms.
type healing struct {
	m     *Model
	req   model.Request
	known []model.Remedy  // those that every request has
	on    []model.Remedy  // with those that answers have asked for
	trial []model.Remedy  // those that nobody asked for and that are tried now
	tried map[string]bool // by name
	err   error           // why the request was refused without a trial
}

// heal sends a request until it is taken, each time with another change that may help.
func (m *Model) heal(ctx context.Context, emit Emit, req model.Request) error {
	h := &healing{m: m, req: req, tried: make(map[string]bool)}
	for _, learnt := range req.Needs {
		if learnt.Of(m.info) {
			m.memory.know(learnt.Remedies...)
		}
	}
	h.known = m.memory.know()
	h.on = h.known
	for n := 1; ; n++ {
		with := &Remedied{on: together(h.on, h.trial...)}
		taken := false
		err := m.ask(ctx, func(d model.Delta) error {
			if !taken {
				if taken = true; n > 1 {
					if err := emit(h.healed(with.on)); err != nil {
						return err
					}
				}
			}
			return emit(d)
		}, m.changed(req, with), with)
		if err == nil || taken {
			return err
		}
		tried := h.trial != nil
		if n == maxRequests || !h.next(err, with.asks) {
			if e, ok := errors.AsType[*model.Error](err); ok && tried && e.Refused() {
				return h.err // what was tried is not what is wrong
			}
			return err
		}
	}
}

// healed remembers what helped, and returns the delta that says so.
func (h *healing) healed(with []model.Remedy) model.Delta {
	info := h.m.Info()
	text := info.Model + " refused a request: from now on it is sent "
	var says []string
	for _, r := range remedies {
		i := index(with, r.name)
		switch {
		case i < 0 || slices.Contains(h.known, with[i]):
		case r.name == NoPictures && with[i].Until == "":
			says = append(says, "without pictures, as the model takes none")
		default:
			says = append(says, r.says)
		}
	}
	h.m.memory.know(with...)
	return model.Delta{Kind: model.Healed, Needs: &model.Needs{
		Model: info.Model, BaseURL: info.BaseURL, Remedies: with, Text: text + strings.Join(says, ", "),
	}}
}

// next chooses the next form of a request that was refused. asks are the remedies that would change it.
func (h *healing) next(err error, asks map[string]bool) bool {
	e, ok := errors.AsType[*model.Error](err)
	if !ok {
		return false
	}
	if h.trial == nil {
		h.err = err
	}
	if e.Status == http.StatusRequestEntityTooLarge { // the pictures are most of a large request
		return h.try(NoPictures, asks)
	}
	// OpenRouter answers 404 for pictures, llama.cpp 500.
	vague := e.Kind == model.StatusError && (e.Status == http.StatusNotFound || e.Status == http.StatusInternalServerError)
	if !vague && !e.Refused() {
		return false
	}
	for _, r := range remedies {
		if asks[r.name] && !h.tried[r.name] && r.named.MatchString(e.Body) {
			h.on, h.trial = together(h.on, h.trial...), nil // what was tried led to another objection
			h.tried[r.name] = true
			h.on = together(h.on, h.extent(r.name, e))
			return true
		}
	}
	if vague {
		return false
	}
	return h.tryOptional(asks)
}

// try tries a remedy that nobody asked for.
func (h *healing) try(name string, asks map[string]bool) bool {
	if !asks[name] || h.tried[name] {
		return false
	}
	h.tried[name] = true
	h.trial = append(h.trial, h.extent(name, nil))
	return true
}

// tryOptional tries the next remedy that leaves out what is optional, alone; all fields together.
func (h *healing) tryOptional(asks map[string]bool) bool {
	tries := false
	h.trial = nil
	for _, r := range remedies {
		if r.optional && (!tries || r.field) && h.try(r.name, asks) {
			if tries = true; !r.field {
				return true
			}
		}
	}
	return tries
}

// extent returns a remedy as far as it reaches: of reasoning and pictures only what the request has is left out. Reasoning that
// is refused again is never sent any more.
func (h *healing) extent(name string, e *model.Error) model.Remedy {
	r := model.Remedy{Name: name}
	var has func(model.Message) string
	switch {
	case name == NoReasoning && index(h.known, name) < 0:
		has = h.m.opaque
	case name == NoPictures && (e == nil || !noPictures.MatchString(e.Body)):
		has = lastPicture
	default:
		return r
	}
	for _, msg := range slices.Backward(h.req.Messages) {
		if r.Until = has(msg); r.Until != "" {
			break
		}
	}
	return r
}

// opaque returns a hash of what only this model understands of a message, "" if there is nothing.
func (m *Model) opaque(msg model.Message) string {
	if msg.Role != model.Assistant || !m.protocol.Opaque(msg) {
		return ""
	}
	sum := crc32.New(castagnoli)
	_, _ = sum.Write([]byte(msg.Content)) // a hash takes everything
	add := func(extra map[string]json.RawMessage) {
		for _, k := range slices.Sorted(maps.Keys(extra)) {
			_, _ = fmt.Fprintf(sum, "%s %s\n", k, extra[k])
		}
	}
	add(msg.Extra)
	for _, c := range msg.ToolCalls {
		add(c.Extra)
	}
	return fmt.Sprintf("%08x", sum.Sum32())
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// changed returns a request with the remedies that concern its messages.
func (m *Model) changed(req model.Request, with *Remedied) model.Request {
	req.Messages = leaveOut(req.Messages, with, NoReasoning, m.opaque, func(msg *model.Message) {
		msg.Extra = nil
		msg.ToolCalls = slices.Clone(msg.ToolCalls)
		for i := range msg.ToolCalls {
			msg.ToolCalls[i].Extra = nil
		}
	})
	left := pictureRefused
	if model.TextOnly(with.on) {
		left = pictureLeftOut
	}
	req.Messages = leaveOut(req.Messages, with, NoPictures, lastPicture, func(msg *model.Message) { withoutPictures(msg, left) })
	return m.inOrder(req, with)
}

// leaveOut takes something out of messages, as far as a remedy says: has returns a hash of it, "" for a message without,
// and cut takes it out of one.
func leaveOut(msgs []model.Message, with *Remedied, name string, has func(model.Message) string, cut func(*model.Message)) []model.Message {
	until, at := "", index(with.on, name)
	if at >= 0 {
		until = with.on[at].Until
	}
	cutting, cloned := at >= 0 && until == "", false
	for i := len(msgs) - 1; i >= 0; i-- {
		if at < 0 && with.asks[name] {
			break // there is nothing more to find out
		}
		hash := has(msgs[i])
		if hash == "" {
			continue
		}
		if cutting = cutting || at >= 0 && hash == until; !cutting {
			with.newer(name)
			continue
		}
		if !cloned {
			msgs, cloned = slices.Clone(msgs), true // they are the history's
		}
		cut(&msgs[i])
	}
	return msgs
}

// newer notes that a remedy would change the request, also one that is on for what is older.
func (r *Remedied) newer(name string) {
	if r.asks == nil {
		r.asks = make(map[string]bool)
	}
	r.asks[name] = true
}
