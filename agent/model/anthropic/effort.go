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

// thinking says whether and how the model thinks before it answers.
type thinking struct {
	Type    string `json:"type"`
	Budget  int    `json:"budget_tokens,omitempty"`
	Display string `json:"display,omitempty"`
}

type outputConfig struct {
	Effort wire.Effort `json:"effort"`
}

// budgets translates an effort into tokens, for models that take a budget. The least that
// the provider allows is 1,024; platform.claude.com/docs/en/build-with-claude/extended-thinking.
var budgets = map[wire.Effort]int{"minimal": 1024, "low": 4096, "medium": 10240, "high": 16384, "xhigh": 32768, "max": 49152}

// answerRoom says what an answer needs beside what is thought, in tokens: max_tokens counts both.
const answerRoom = DefaultMaxTokens

// limits sets how much an answer may have: what the person says, else what is documented, in
// the twentieth of the window that the runtime leaves for answers, but always room for what
// the model may think and an answer. It refuses a limit of the person's that leaves none.
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

// version46 is the first in which models decide by themselves how long they think:
// platform.claude.com/docs/en/build-with-claude/adaptive-thinking. A fixed budget is
// refused by those since 4.7.
const version46 = 4*100 + 6

var claudeVersion = regexp.MustCompile(`claude-(?:[a-z]+-)?(\d{1,2})(?:[-.](\d{1,2}))?(?:\D|$)`)

// adaptive reports whether a model is of that kind, by its name. Servers correct a wrong
// guess, see think.
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

// think asks for the thinking that the configuration wants, of a request that has its messages.
func (m *adapter) think(r *request, with *wire.Remedied) {
	effort := m.client.Effort()
	switch {
	case effort == "" || effort == "none": // models think only when they are asked to
	case with.With(wire.NoEffort), r.unthought() && with.With(wire.NoThinkingYet):
	case m.adaptive != with.With(wire.OtherThinking): // the name of the model may have misled us
		if effort == "minimal" {
			effort = "low" // the least that there is
		}
		// Some models show nothing of what they think unless asked for it.
		r.Thinking, r.Output = &thinking{Type: "adaptive", Display: "summarized"}, &outputConfig{effort}
	default:
		r.Thinking = &thinking{Type: "enabled", Budget: budgets[effort]}
	}
}

// unthought reports whether a request is in the middle of a turn, between calls, that began without thinking.
func (r *request) unthought() bool {
	n := len(r.Messages)
	if n < 2 || r.Messages[n-2].Role != model.Assistant {
		return false
	}
	results, _ := r.Messages[n-1].Content[0].(*part)
	_, thought := r.Messages[n-2].Content[0].(json.RawMessage)
	return results != nil && results.Type == "tool_result" && !thought
}
