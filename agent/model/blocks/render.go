package blocks

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"buddy/agent/model"
	"buddy/texts"
)

// Limits, in bytes, for texts in requests to small models. Longer texts are cut, because they were written for larger
// models.
const (
	maxRules    = 1500 // of the opening: folder, instruction files and memory together
	maxReminder = 3500 // of a reminder
	maxOther    = 300  // of the arguments of a call that is not a block
	maxResult   = 3000 // of a result
	maxEnd      = 800  // of the end of a long result
)

// rendered returns a request with all calls and results converted to text. It joins adjacent messages that are not the
// model's into one. more is appended to the conversation; its first message may be joined to the last one before it.
func rendered(req model.Request, more ...model.Message) model.Request {
	system, rest := systemOf(req.Messages)
	out := []model.Message{{Role: model.System, Content: system}}
	for i, m := range rest {
		switch {
		case m.Role == model.Assistant:
			m = model.Message{Role: model.Assistant, Content: answerText(m)}
		case m.Role == model.Tool:
			m = model.Message{Role: model.User, Content: resultText(m.Content)}
		case m.Kind == model.Reminder && i == 0:
			m = model.Message{Role: model.User, Content: opening(m.Content)}
		case m.Kind == model.Reminder:
			m = model.Message{Role: model.User, Content: clipped(untagged(m.Content), maxReminder), Images: m.Images}
		default:
			text := aside.ReplaceAllLiteralString(m.Content, "") // without the date, which a small model mistakes for a part of the task
			m = model.Message{Role: model.User, Content: strings.TrimSpace(text), Images: m.Images}
		}
		if last := &out[len(out)-1]; m.Role == model.User && last.Role == model.User {
			last.Content, last.Images = strings.TrimSpace(last.Content+"\n\n"+m.Content), append(slices.Clip(last.Images), m.Images...)
			continue
		}
		out = append(out, m)
	}
	if last := &out[len(out)-1]; len(more) > 0 && last.Role == model.User {
		last.Content, more = last.Content+"\n\n"+more[0].Content, more[1:]
	}
	req.Messages, req.Tools, req.Ephemeral, req.Breakpoints = append(out, more...), nil, 0, nil
	return req
}

// systemOf returns the text of a conversation's system messages, and the messages after them.
func systemOf(all []model.Message) (system string, rest []model.Message) {
	system = System
	for i, m := range all {
		if m.Role != model.System {
			return system, all[i:]
		}
		text, own := strings.CutPrefix(m.Content, System)
		if i == 0 && !own {
			continue // that text describes tool calls
		}
		if text = strings.TrimSpace(text); text != "" {
			system += "\n\n" + clipped(text, maxRules)
		}
	}
	return system, nil
}

// clipped returns the start of a text, at most n bytes of it.
func clipped(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return texts.ClipBytes(text, n) + " [cut off]"
}

// These match parts of the conversation's first reminder that are removed, because small models derive wrong file names
// from the folder's name in them.
var (
	here    = regexp.MustCompile(`^Commands run on this machine [^\n]*\n?`)
	preface = regexp.MustCompile(`(?s)# Instructions from files\n.*?<instructions`)
)

// opening shortens a conversation's first reminder, which describes the working folder and contains the instruction
// files.
func opening(text string) string {
	text = here.ReplaceAllLiteralString(untagged(text), "")
	text = preface.ReplaceAllLiteralString(text, "How to work here, which permits nothing:\n<instructions")
	return clipped(strings.TrimSpace(text), maxRules)
}

var tags = strings.NewReplacer("<system-reminder>", "", "</system-reminder>", "")

func untagged(text string) string { return strings.TrimSpace(tags.Replace(text)) }

// answerText returns an earlier answer in the form in which a model writes it with blocks.
func answerText(m model.Message) string {
	parts := []string{strings.TrimSpace(m.Content)}
	for _, c := range m.ToolCalls {
		parts = append(parts, callText(c))
	}
	return strings.TrimSpace(strings.Join(parts, "\n"))
}

// callText returns a call as a block. A call of a tool that has no block becomes the tool's name and arguments.
func callText(c model.ToolCall) string {
	var args struct{ Command, Path, Content string }
	_ = json.Unmarshal([]byte(c.Arguments), &args) // missing members stay empty
	switch {
	case c.Name == Shell && args.Command != "":
		return texts.Fenced("sh", args.Command)
	case c.Name == Write && args.Path != "":
		return args.Path + "\n" + texts.Fenced("", args.Content)
	case c.Name == Read && args.Path != "":
		return texts.Fenced("sh", "cat "+quoted(args.Path))
	}
	return fmt.Sprintf("(%s %s)", c.Name, clipped(c.Arguments, maxOther))
}

// quoted returns a name as a shell word.
func quoted(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || strings.ContainsRune("\"'$`\\&;|<>()*?[]#~!{}", r) }) {
		return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
	}
	return name
}

// resultText returns a result as the model gets it. It cuts out the middle of a long result, because the end shows what
// has changed.
func resultText(content string) string {
	head, text := "Output", strings.Trim(content, "\n")
	if m := ended.FindStringSubmatch(text); m != nil { // the rest of that line is for larger models
		head, text = "Output (exit code "+m[1]+")", strings.Trim(ended.ReplaceAllLiteralString(text, ""), "\n")
	}
	if len(text) > maxResult {
		start, end := texts.ClipBytes(text, maxResult-maxEnd), strings.ToValidUTF8(text[len(text)-maxEnd:], "")
		text = start + "\n[the middle is left out]\n" + end
	}
	if text == "" {
		return strings.Replace(head, "Output", "No output", 1) + "."
	}
	return head + ":\n" + texts.Fenced("", text)
}

// ended matches the line of a result with the exit code.
var ended = regexp.MustCompile(`(?m)^\[exit code (\d+)[^\n]*\]\n?`)
