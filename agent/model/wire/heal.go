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

// Names of remedies, as stored in sessions.
const (
	NeedsReasoning  = "reasoning_required"  // every answer is sent with reasoning, if necessary a blank one
	OtherThinking   = "other_thinking"      // thinking is requested in the other of two forms
	NoThinkingYet   = "no_thinking_in_turn" // no thinking is requested in the middle of a turn without thinking
	NoReasoning     = "no_reasoning"        // data that only this model understands is left out: reasoning, signatures
	NoPictures      = model.NoPictures
	Ordered         = "ordered"     // see inOrder
	NoSampling      = "no_sampling" // temperature and top_p
	NoSummary       = "no_reasoning_summary"
	NoInclude       = "no_include" // no encrypted reasoning is requested
	NoEffort        = "no_effort"
	NoCacheMarks    = "no_cache_marks"
	NoParallelCalls = "no_parallel_calls"
	NoProgress      = "no_progress"
	NoStreamOptions = "no_stream_options"
	NoStore         = "no_store"
	NoFreeText      = "no_free_text"
	NoCompaction    = "no_server_compaction"
)

// remedy is one change to a refused request.
type remedy struct {
	name  string
	label string         // describes the changed request, for display
	named *regexp.Regexp // matches answers that ask for it
	// optional means that the remedy is also tried if the server's answer does not suggest it.
	optional bool
	field    bool // it removes a field other than the messages; all such remedies are tried together
}

// remedies lists all remedies in the order in which they are tried.
var remedies = []remedy{
	// DeepSeek, Kimi: "thinking is enabled but reasoning_content is missing in assistant tool call message".
	{name: NeedsReasoning, label: "with reasoning in each answer", named: words(`reasoning_content.*(missing|required|must be passed)`)},
	// Anthropic: "\"thinking.type.enabled\" is not supported for this model. Use \"thinking.type.adaptive\"".
	{name: OtherThinking, label: "with another form of thinking", named: words(`thinking\.type|adaptive|budget_tokens|output_config|effort parameter`)},
	// Anthropic: "Expected `thinking` or `redacted_thinking`, but found `tool_use`".
	{name: NoThinkingYet, label: "without thinking in a turn that has none yet", named: words("expected .{0,6}thinking|must start with a thinking block")},
	// Anthropic: "Invalid `signature` in `thinking` block"; OpenAI: "Item 'rs_…' of type 'reasoning' was provided without
	// its required following item", "The encrypted content could not be verified"; Groq: "property 'reasoning_content'
	// is unsupported"; Gemini: "Thought signature is not valid".
	{
		name: NoReasoning, label: "without the earlier reasoning", optional: true,
		named: words(`signature|thinking.{0,3} block|redacted_thinking|reasoning_content|reasoning_details|encrypted[_ ]content|type 'reasoning'|reasoning item|\brs_`),
	},
	{name: NoPictures, label: "without the pictures so far", optional: true, named: words(`image|picture|pixel|media_type`)},
	// Mistral: "Unexpected role 'user' after role 'tool'"; vLLM: "conversation roles must alternate user and assistant";
	// llama.cpp: "Jinja Exception: …".
	{
		name: Ordered, label: "with neighbouring messages joined", optional: true,
		named: words(`alternat|(after|unexpected|same|last) role|consecutive|message_order|conversation roles|roles must|jinja|chat template`),
	},
	{name: NoSampling, label: "without temperature and top_p", optional: true, field: true, named: words(`temperature|top_p`)},
	// OpenAI: "Unsupported parameter: 'reasoning.summary'", "must be verified to generate reasoning summaries".
	{name: NoSummary, label: "without a summary of the reasoning", optional: true, field: true, named: words(`reasoning\.summary|reasoning summar|"reasoning"`)},
	{name: NoInclude, label: "without encrypted reasoning", optional: true, field: true, named: words(`"include"|include\[|encrypted content is not supported`)},
	{name: NoEffort, label: "without an effort", optional: true, field: true, named: words(`effort|reasoning|thinking|chat_template_kwargs`)},
	// Bedrock, LiteLLM: "cache_control: Extra inputs are not permitted".
	{name: NoCacheMarks, label: "without cache marks", optional: true, field: true, named: words(`cache_control|cache control|cachepoint|ephemeral`)},
	{name: NoParallelCalls, label: "without parallel calls", optional: true, field: true, named: words(`parallel_tool_calls`)},
	{name: NoProgress, label: "without return_progress", optional: true, field: true, named: words(`return_progress`)},
	{name: NoStreamOptions, label: "without stream_options, so that no tokens are counted", optional: true, field: true, named: words(`stream_options|include_usage`)},
	{name: NoStore, label: "without store", optional: true, field: true, named: words(`["'\x60]store\b|store: extra`)},
	{name: NoCompaction, label: "without compaction on the server", optional: true, field: true, named: words(`context_management|compact`)},
	{name: NoFreeText, label: "without calls in free text", optional: true, field: true, named: words(`["']custom["']|custom[_ ]tool|grammar`)},
}

func words(pattern string) *regexp.Regexp { return regexp.MustCompile(`(?is)` + pattern) }

// noPictures matches messages which mean that a model accepts no pictures at all: DeepSeek "unknown variant
// `image_url`, expected `text`", OpenRouter "404 No endpoints found that support image input", llama.cpp "500 image
// input is not supported - hint: … you may need to provide the mmproj", vLLM "is not a multimodal model".
var noPictures = words(`image_url|image input|mmproj|not support (images?|vision|multimodal)|not a (vision|multimodal)`)

// Remedied holds the remedies for one request: the applied and the possible ones.
type Remedied struct {
	on   []model.Remedy
	asks map[string]bool // remedies that would change the request
}

// With reports whether to apply a remedy. Call it only if the remedy would change the request: if it is not applied,
// With records that it can be tried in case the server refuses the request.
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

// together merges two lists of remedies. If a remedy is in both, the one in others counts, unless the one in all has no
// Until and so leaves out everything.
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

// memory holds the remedies that a client applies to all later requests. It is safe for concurrent use.
type memory struct {
	mu  sync.Mutex // guards all
	all []model.Remedy
}

// know adds remedies to the memory, and returns all that are in it.
func (m *memory) know(others ...model.Remedy) []model.Remedy {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all = together(m.all, others...)
	return m.all
}

// maxRequests limits how often one request is sent, whatever its form.
const maxRequests = 5

// healing searches for a form of a request that the server accepts.
type healing struct {
	m     *Model
	req   model.Request
	known []model.Remedy  // used for every request
	on    []model.Remedy  // known, and those that answers asked for
	trial []model.Remedy  // those tried now without a matching answer
	tried map[string]bool // by name
	err   error           // why the request without trial was refused
}

// heal sends a request until the server accepts it, each time with another change that may help.
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
		accepted := false
		err := m.ask(ctx, func(d model.Delta) error {
			if !accepted {
				if accepted = true; n > 1 {
					if err := emit(h.healed(with.on)); err != nil {
						return err
					}
				}
			}
			return emit(d)
		}, m.changed(req, with), with)
		if err == nil || accepted {
			return err
		}
		tried := h.trial != nil
		if n == maxRequests || !h.next(err, with.asks) {
			if e, ok := errors.AsType[*model.Error](err); ok && tried && e.Refused() {
				return h.err // the trial did not address the problem
			}
			return err
		}
	}
}

// healed stores the remedies that made the server accept the request, and returns a delta that describes the new ones.
func (h *healing) healed(with []model.Remedy) model.Delta {
	info := h.m.Info()
	text := info.Model + " refused a request: from now on, requests are sent "
	var labels []string
	for _, r := range remedies {
		i := index(with, r.name)
		switch {
		case i < 0 || slices.Contains(h.known, with[i]):
		case r.name == NoPictures && with[i].Until == "":
			labels = append(labels, "without pictures, as the model takes none")
		default:
			labels = append(labels, r.label)
		}
	}
	h.m.memory.know(with...)
	return model.Delta{Kind: model.Healed, Needs: &model.Needs{
		Model: info.Model, BaseURL: info.BaseURL, Remedies: with, Text: text + strings.Join(labels, ", "),
	}}
}

// next chooses the next form of a refused request, and reports whether there is one. asks holds the remedies that have
// not been applied and would change the request.
func (h *healing) next(err error, asks map[string]bool) bool {
	e, ok := errors.AsType[*model.Error](err)
	if !ok {
		return false
	}
	if h.trial == nil {
		h.err = err
	}
	if e.Status == http.StatusRequestEntityTooLarge { // pictures are most of a large request
		return h.try(NoPictures, asks)
	}
	// If a model takes no pictures, OpenRouter answers 404 and llama.cpp 500.
	vague := e.Kind == model.StatusError && (e.Status == http.StatusNotFound || e.Status == http.StatusInternalServerError)
	if !vague && !e.Refused() {
		return false
	}
	for _, r := range remedies {
		if asks[r.name] && !h.tried[r.name] && r.named.MatchString(e.Body) {
			h.on, h.trial = together(h.on, h.trial...), nil // the trial led to another refusal
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

// try adds a remedy that no answer has suggested. It returns false if the remedy was tried before or would not change
// the request.
func (h *healing) try(name string, asks map[string]bool) bool {
	if !asks[name] || h.tried[name] {
		return false
	}
	h.tried[name] = true
	h.trial = append(h.trial, h.extent(name, nil))
	return true
}

// tryOptional tries the next optional remedy. Optional remedies that only remove a field are all tried together.
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

// extent returns a remedy with its Until. Usually, reasoning and pictures are left out only up to the newest message of
// this request that has them. Until is "" if the server refuses reasoning although older reasoning was already left
// out, or if the model accepts no pictures at all.
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

// opaque returns a hash of the data in a message that only this model understands, or "" if there is none.
func (m *Model) opaque(msg model.Message) string {
	if msg.Role != model.Assistant || !m.protocol.Opaque(msg) {
		return ""
	}
	sum := crc32.New(castagnoli)
	_, _ = sum.Write([]byte(msg.Content)) // a hash accepts everything
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

// changed returns a request with the remedies applied to its messages.
func (m *Model) changed(req model.Request, with *Remedied) model.Request {
	req.Messages = leaveOut(req.Messages, with, NoReasoning, m.opaque, func(msg *model.Message) {
		msg.Extra = nil
		msg.ToolCalls = slices.Clone(msg.ToolCalls)
		for i := range msg.ToolCalls {
			msg.ToolCalls[i].Extra = nil
		}
	})
	replacement := pictureRefused
	if model.TextOnly(with.on) {
		replacement = pictureLeftOut
	}
	req.Messages = leaveOut(req.Messages, with, NoPictures, lastPicture, func(msg *model.Message) { withoutPictures(msg, replacement) })
	return m.inOrder(req, with)
}

// leaveOut applies the remedy with the given name, which removes one kind of data from messages up to its Until. has
// returns a hash of that data in a message, or "" if the message has none; cut removes the data.
func leaveOut(msgs []model.Message, with *Remedied, name string, has func(model.Message) string, cut func(*model.Message)) []model.Message {
	until, at := "", index(with.on, name)
	if at >= 0 {
		until = with.on[at].Until
	}
	cutting, cloned := at >= 0 && until == "", false
	for i := len(msgs) - 1; i >= 0; i-- {
		if at < 0 && with.asks[name] {
			break // nothing more to find
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
			msgs, cloned = slices.Clone(msgs), true // the history has the original
		}
		cut(&msgs[i])
	}
	return msgs
}

// newer records that the data that a remedy removes also occurs in messages after its Until. The remedy can then be
// tried again, to remove that data, too.
func (r *Remedied) newer(name string) {
	if r.asks == nil {
		r.asks = make(map[string]bool)
	}
	r.asks[name] = true
}
