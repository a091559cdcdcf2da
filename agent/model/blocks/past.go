package blocks

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"buddy/agent/model"
)

// maxGuess limits an answer that may be a guess, in bytes.
const maxGuess = 300

// past holds what the answer to come is judged by.
type past struct {
	last    string // the call whose result is the newest thing in the conversation, as text; "": something came after it
	blind   bool   // nothing was shown or run since the prompt
	names   bool   // what was run since the prompt lists names of files only
	seen    string // what the results since the prompt say
	idle    bool   // the prompt asks for a change, and since then there was none
	fails   bool   // the prompt asks for a change, and the newest command has failed
	reckons bool   // the prompt asks for a number or a comparison, and nothing was run since then
	vain    int    // how many of the newest results say that nothing was printed and nothing has changed
}

// orders matches words of prompts that ask for a change.
var orders = regexp.MustCompile(`(?i)^(please )?(add|append|change|convert|copy|correct|create|delete|edit|fix|insert|make|move|put|remove|rename|replace|rewrite|save|set|sort|update|write)\b|[.,;] (add|change|correct|create|delete|fix|make|remove|rename|replace|update|write)\b`)

// reckonings matches words of prompts that ask for a number or a comparison.
var reckonings = regexp.MustCompile(`(?i)\bhow (many|much|big|large|long|old)\b|\b(sum|total|average|mean|number of|count|largest|biggest|smallest|longest|shortest|newest|oldest)\b`)

// pastOf returns what a conversation says of the exchange that it ends with.
func pastOf(all []model.Message) past {
	at := len(all) - 1
	for at >= 0 && (all[at].Role != model.User || all[at].Kind != model.Prompt) {
		at--
	}
	if at < 0 {
		return past{}
	}
	since := all[at+1:]
	p := past{last: lastCall(since), blind: blind(all[:at], nil)}
	if p.blind {
		p.blind, p.names = blind(nil, since), listsOnly(since)
	}
	for _, m := range since {
		if m.Role == model.Tool {
			p.seen += m.Content
			if p.vain++; !inVain(m.Content) {
				p.vain = 0
			}
		}
	}
	prompt := strings.TrimSpace(aside.ReplaceAllString(all[at].Content, ""))
	p.reckons = reckonings.MatchString(prompt) && !slices.ContainsFunc(since, func(m model.Message) bool { return m.Role == model.Tool })
	if !orders.MatchString(strings.TrimSpace(aside.ReplaceAllString(all[at].Content, ""))) {
		return p
	}
	p.idle = true
	for _, m := range since {
		if m.Role == model.Tool {
			p.idle, p.fails = p.idle && strings.Contains(m.Content, unchanged), exits.MatchString(m.Content)
		}
	}
	return p
}

// lastCall returns the call whose result is the newest thing in an exchange, as text; "" where something came after it.
func lastCall(since []model.Message) string {
	for _, m := range slices.Backward(since) {
		switch {
		case m.Role == model.Assistant && len(m.ToolCalls) == 1:
			return callText(m.ToolCalls[0])
		case m.Role == model.Assistant, m.Role == model.User && m.Kind != model.Reminder:
			return ""
		}
	}
	return ""
}

// blind reports whether the model has seen no text of a file or command since a prompt or right before it.
func blind(before, since []model.Message) bool {
	for _, m := range since {
		if m.Role != model.User || strings.Contains(m.Content, "```") {
			return false
		}
	}
	for _, m := range slices.Backward(before) {
		switch {
		case m.Role != model.User || m.Kind != model.Reminder:
			return true
		case strings.Contains(m.Content, "```"):
			return false
		}
	}
	return true
}

// lists matches commands that say no more of files than their names.
var lists = regexp.MustCompile(`^(ls|pwd|tree|find)\b[^|;&\n]*$`)

// listsOnly reports whether all calls since a prompt, one at least, only list names of files.
func listsOnly(since []model.Message) (only bool) {
	for _, m := range since {
		for _, c := range m.ToolCalls {
			var args struct{ Command string }
			_ = json.Unmarshal([]byte(c.Arguments), &args) // what does not fit is no command
			if only = lists.MatchString(args.Command); !only {
				return false
			}
		}
	}
	return only
}

// aside matches what buddy says in a message of the person, such as the date.
var aside = regexp.MustCompile(`(?s)<system-reminder>.*?</system-reminder>`)

// bare matches an answer that is nothing but a command.
var bare = regexp.MustCompile("^`?(ls|cat|grep|sed|echo|head|tail|wc|find|mkdir|cp|mv|rm|touch|sort|sh|bash|git|python3?)( [^\n]*[^.\n])?$")

// exits matches an exit code in a result that is not 0.
var exits = regexp.MustCompile(`(?:"exit_code":|exit code )[1-9]`)

// unchanged ends a result when nothing has changed.
const unchanged = "[no file was changed]"

// inVain reports whether a result says that nothing has changed, and has no more than lines of ours, which are in brackets.
func inVain(result string) bool {
	for line := range strings.Lines(strings.TrimSpace(result)) {
		if !strings.HasPrefix(line, "[") {
			return false
		}
	}
	return strings.Contains(result, unchanged)
}

// occurs reports whether a model was given a text.
func occurs(all []model.Message, text string) bool {
	return slices.ContainsFunc(all, func(m model.Message) bool {
		read := m.Content
		if m.Role == model.Tool {
			read = resultText(read)
		}
		return m.Role != model.Assistant && strings.Contains(read, text)
	})
}

// unread returns the call that reads a file which the model wanted to write, if that was refused because it has not read it
// as it is; else nil.
func unread(all []model.Message) *model.ToolCall {
	calls := make(map[string]model.ToolCall)
	var last model.Message
	for _, m := range all {
		for _, c := range m.ToolCalls {
			calls[c.ID] = c
		}
		if m.Role != model.User || m.Kind != model.Reminder {
			last = m
		}
	}
	c := calls[last.ToolCallID]
	if last.Role != model.Tool || c.Name != Write || !strings.Contains(last.Content, "read it first") && !strings.Contains(last.Content, "read it again") {
		return nil
	}
	var args struct {
		Path string `json:"path"`
	}
	if json.Unmarshal([]byte(c.Arguments), &args) != nil {
		return nil
	}
	data, _ := json.Marshal(args) // of a string
	return &model.ToolCall{Name: Read, Arguments: string(data)}
}
