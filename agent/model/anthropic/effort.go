package anthropic

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"buddy/agent/model"
	"buddy/agent/model/wire"
)

// thinking configures whether and how much the model thinks before it answers.
type thinking struct {
	Type    string `json:"type"`
	Budget  int    `json:"budget_tokens,omitempty"`
	Display string `json:"display,omitempty"`
}

type outputConfig struct {
	Effort wire.Effort `json:"effort"`
}

// budgets maps an effort to tokens, for models with a thinking budget. The provider's minimum is 1,024;
// platform.claude.com/docs/en/build-with-claude/extended-thinking.
var budgets = map[wire.Effort]int{"minimal": 1024, "low": 4096, "medium": 10240, "high": 16384, "xhigh": 32768, "max": 49152}

// answerRoom is the number of tokens reserved for the text of an answer, because max_tokens limits thinking and text
// together.
const answerRoom = DefaultMaxTokens

// limits sets maxTokens to the configured limit of an answer, and refuses a limit that leaves no room for text after
// the thinking. By default, maxTokens is a twentieth of the window, the part that the runtime reserves for answers. It
// is at least large enough for the thinking and an answer, and at most the documented maximum.
func (m *adapter) limits(c Config) error {
	thought := budgets[m.client.Effort()]
	switch {
	case c.MaxTokens > 0 && c.MaxTokens <= thought:
		return fmt.Errorf("max_tokens = %d leaves no room for an answer: reasoning_effort = %q may use %d tokens of it", c.MaxTokens, m.client.Effort(), thought)
	case c.MaxTokens > 0:
		m.maxTokens = c.MaxTokens
		return nil
	}
	m.maxTokens = max(min(c.MaxOutput, c.Window/20), thought+answerRoom)
	if c.MaxOutput > 0 {
		m.maxTokens = min(m.maxTokens, c.MaxOutput)
	}
	return nil
}

// version46 is the first version whose models decide how long they think:
// platform.claude.com/docs/en/build-with-claude/adaptive-thinking. Models since 4.7 refuse a fixed budget.
const version46 = 4*100 + 6

var claudeVersion = regexp.MustCompile(`claude-(?:[a-z]+-)?(\d{1,2})(?:[-.](\d{1,2}))?(?:\D|$)`)

// adaptive guesses from a model's name whether the model decides how long it thinks. If the server refuses a wrong
// guess, think corrects it.
func adaptive(name string) bool {
	name = strings.ToLower(name)
	v := claudeVersion.FindStringSubmatch(name)
	if v == nil {
		return strings.Contains(name, "claude-mythos")
	}
	major, _ := strconv.Atoi(v[1]) // digits
	minor, _ := strconv.Atoi(v[2]) // digits or nothing
	return major*100+minor >= version46
}

// think adds the configured thinking to a request. The request must have its messages already.
func (m *adapter) think(r *request, with *wire.Remedied) {
	effort := m.client.Effort()
	switch {
	case effort == "" || effort == "none": // models think only on request
	case with.With(wire.NoEffort), r.unthought() && with.With(wire.NoThinkingYet):
	case m.adaptive != with.With(wire.OtherThinking): // the guess from the name may be wrong
		if effort == "minimal" {
			effort = "low" // the minimum here
		}
		// Some models hide their thoughts by default.
		r.Thinking, r.Output = &thinking{Type: "adaptive", Display: "summarized"}, &outputConfig{effort}
	default:
		r.Thinking = &thinking{Type: "enabled", Budget: budgets[effort]}
	}
}

// unthought reports whether the request continues a turn, after calls that the model made without thinking.
func (r *request) unthought() bool {
	n := len(r.Messages)
	if n < 2 || r.Messages[n-2].Role != model.Assistant {
		return false
	}
	results, _ := r.Messages[n-1].Content[0].(*part)
	_, thought := r.Messages[n-2].Content[0].(json.RawMessage)
	return results != nil && results.Type == "tool_result" && !thought
}
