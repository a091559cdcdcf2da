package blocks

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"buddy/agent/model"
)

// maxGuess is the length in bytes up to which an answer can count as a guess.
const maxGuess = 300

// past describes the exchange so far. It is used to judge whether an answer is useful.
type past struct {
	last    string // the last call as text, if nothing follows its result; else ""
	blind   bool   // nothing was shown or run since the prompt
	names   bool   // the commands since the prompt only listed names of files
	seen    string // the results since the prompt
	idle    bool   // the prompt asks for a change, and none was made since then
	fails   bool   // the prompt asks for a change, and the last command failed
	reckons bool   // the prompt asks for a number or a comparison, and nothing was run since then
	vain    int    // how many of the last results have no output and no change
}

// orders matches words of prompts that ask for a change.
var orders = regexp.MustCompile(`(?i)^(please )?(add|append|change|convert|copy|correct|create|delete|edit|fix|insert|make|move|put|remove|rename|replace|rewrite|save|set|sort|update|write)\b|[.,;] (add|change|correct|create|delete|fix|make|remove|rename|replace|update|write)\b`)

// reckonings matches words of prompts that ask for a number or a comparison.
var reckonings = regexp.MustCompile(`(?i)\bhow (many|much|big|large|long|old)\b|\b(sum|total|average|mean|number of|count|largest|biggest|smallest|longest|shortest|newest|oldest)\b`)

// pastOf examines the last exchange of a conversation.
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

// lastCall returns the last call of an exchange as text, or "" if the conversation has continued after the call's
// result.
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

// blind reports whether the model can't know the contents of any file: since the prompt it has called nothing, and no
// reminder with a file's text has come with the prompt.
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

// lists matches commands that show only the names of files.
var lists = regexp.MustCompile(`^(ls|pwd|tree|find)\b[^|;&\n]*$`)

// listsOnly reports whether the model has made calls since a prompt, and all of them only listed names of files.
func listsOnly(since []model.Message) (only bool) {
	for _, m := range since {
		for _, c := range m.ToolCalls {
			var args struct{ Command string }
			_ = json.Unmarshal([]byte(c.Arguments), &args) // anything else is not a command
			if only = lists.MatchString(args.Command); !only {
				return false
			}
		}
	}
	return only
}

// aside matches a reminder inside a user's message, such as the one with the date.
var aside = regexp.MustCompile(`(?s)<system-reminder>.*?</system-reminder>`)

// bare matches an answer that is only a command.
var bare = regexp.MustCompile("^`?(ls|cat|grep|sed|echo|head|tail|wc|find|mkdir|cp|mv|rm|touch|sort|sh|bash|git|python3?)( [^\n]*[^.\n])?$")

// exits matches a non-zero exit code in a result.
var exits = regexp.MustCompile(`(?:"exit_code":|exit code )[1-9]`)

// unchanged is a line of a result that says that the command has changed no file.
const unchanged = "[no file was changed]"

// inVain reports whether a command has printed nothing and changed nothing: its result has only lines in brackets,
// which are buddy's own, and one of them is unchanged.
func inVain(result string) bool {
	for line := range strings.Lines(strings.TrimSpace(result)) {
		if !strings.HasPrefix(line, "[") {
			return false
		}
	}
	return strings.Contains(result, unchanged)
}

// occurs reports whether the model has seen a text, other than in its own answers.
func occurs(all []model.Message, text string) bool {
	return slices.ContainsFunc(all, func(m model.Message) bool {
		read := m.Content
		if m.Role == model.Tool {
			read = resultText(read)
		}
		return m.Role != model.Assistant && strings.Contains(read, text)
	})
}

// unread returns a call that reads a file, if the model's last call was refused because it would overwrite the file
// without knowing the current text. Otherwise it returns nil.
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
