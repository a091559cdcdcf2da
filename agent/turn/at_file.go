package turn

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"buddy/agent/action"
	"buddy/agent/conversation"
	"buddy/agent/event"
	"buddy/agent/inject"
	"buddy/agent/model"
	"buddy/agent/reminder"
	"buddy/tools"
)

// Limits of the files that prompts name.
const (
	maxAtFiles = 8               // of one prompt that are read
	maxAtNames = 16              // of one prompt that are looked for
	maxAtPage  = 56 << 10        // bytes of one: with escapes and a head its reminder stays below 64 KiB
	atFileTime = 5 * time.Second // for all of a prompt
)

// readTool is the tool that reads the files.
const readTool = "read_file"

// atNames returns the words of a prompt that begin with an @ and may name files. Pictures are
// not among them: they come with the prompt.
func atNames(prompt string) []string {
	var names []string
	for word := range strings.FieldsSeq(prompt) {
		name, ok := strings.CutPrefix(word, "@")
		name = strings.TrimRight(name, ",;:.!?)")
		if !ok || name == "" || model.IsImageName(name) || slices.Contains(names, name) {
			continue
		}
		if names = append(names, name); len(names) == maxAtNames {
			break
		}
	}
	return names
}

// attachFiles gives the model the files and folders that new prompts name, as if it had read them. A person who typed the
// name wants it to be read, but may have pasted it: only what needs nobody's approval is read.
func (x *Exchange) attachFiles(ctx context.Context, l *Loop) {
	heard := x.heard
	x.heard = nil
	for _, p := range heard {
		if names := atNames(p.Text); len(names) > 0 && p.Kind != event.Typed && !l.o.Reminders.Off(reminder.AtFile) {
			namedFiles{l.newBatch(ctx, x, 0)}.attach(names)
		}
	}
}

// namedFiles reads files that a prompt names.
type namedFiles struct{ *batch }

// attach gives the model those files of which it has not the same already, and tells the person
// which.
func (b namedFiles) attach(names []string) {
	defer b.cancel(nil)
	l, x := b.loop, b.x
	limited, cancel := context.WithTimeout(b.ctx, atFileTime)
	defer cancel()
	var read, paths, refused []string
	for _, name := range names {
		if len(read) == maxAtFiles || limited.Err() != nil {
			break
		}
		j, text := b.read(limited, name)
		switch {
		case j == nil:
			refused = append(refused, "@"+name)
		case text != "" && !conversation.Holds(x.talk, text):
			x.tellOnce(0, reminder.AtFile, fmt.Sprintf("The user's prompt names @%s, which was read for you: %s %s gave\n%s", name, readTool, j.call.Arguments, text))
			read, paths = append(read, name+partOf(text)), append(paths, j.call.Planned.Path)
		}
	}
	if len(read) > 0 {
		l.p.Stream.Publish(x.task, 0, event.Notice{Text: "with the prompt goes " + strings.Join(read, ", "), Code: reminder.AtFile})
		l.p.Instructions.Below(b.ctx, x.talk, x.task, 0, paths)
	}
	if len(refused) > 0 {
		l.p.Stream.Publish(x.task, 0, event.Notice{Text: strings.Join(refused, ", ") + " does not go with the prompt: the model has to ask you before it reads that", Code: reminder.AtFile})
	}
}

// read reads a file as the model would and returns what it is told of it: "" when there is no
// such file, or it is not text. The job is nil when somebody would be asked first: the person, or a
// hook.
func (b namedFiles) read(ctx context.Context, name string) (j *job, text string) {
	l := b.loop
	args, err := json.Marshal(map[string]string{"path": name})
	if err != nil {
		return &job{}, ""
	}
	j = b.plan(model.ToolCall{ID: "at_file", Name: readTool, Arguments: string(args)})
	if j.err != nil {
		return j, ""
	}
	j.call.Page = min(j.call.Page, maxAtPage)
	if b.judge(j.call.Planned).Decision != action.Allow || b.waitsForHooks(j) {
		return nil, ""
	}
	res := l.runTool(ctx, j.tool, j.call)
	var got struct{ Result json.RawMessage }
	if res.IsError || len(res.Images) > 0 || json.Unmarshal([]byte(res.Content), &got) != nil {
		return j, ""
	}
	text = l.o.Redact.Text(string(got.Result))
	found := inject.Scan(text)
	if inject.Worst(found) >= inject.High {
		why := fmt.Sprintf("prompt injection in %s, it %s: %q", tools.Clip(name, 200), found[0].Reason, found[0].Excerpt)
		distrust(l.p, b.x, why)
		b.publish(event.Warning{Text: why + "; the model is told that it is data", Code: conversation.InjectionWarning, NextStep: "until your next prompt more of it needs your approval"})
	}
	return j, inject.Defuse(text, found)
}

// partOf returns what a result has of a file or folder, for people; "" when it does not say.
func partOf(result string) string {
	var got struct {
		Lines   string
		Entries *string // of a folder
	}
	switch err := json.Unmarshal([]byte(result), &got); {
	case err != nil:
		return ""
	case got.Entries != nil:
		return " (a folder, as a list)"
	case got.Lines != "":
		return " (lines " + got.Lines + ")"
	}
	return ""
}
