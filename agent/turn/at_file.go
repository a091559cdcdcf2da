package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"buddy/agent/action"
	"buddy/agent/conversation"
	"buddy/agent/event"
	"buddy/agent/inject"
	"buddy/agent/model"
	"buddy/agent/reminder"
	"buddy/texts"
	"buddy/tools"
)

// Limits of the files that prompts name.
const (
	maxAtFiles = 8               // of one prompt that are read
	maxAtNames = 16              // of one prompt that are looked for
	maxAtPage  = 56 << 10        // bytes of one: with escapes and a head its reminder stays below 64 KiB
	maxAtWhy   = 300             // characters of why one does not go along
	atFileTime = 5 * time.Second // for all of a prompt
)

// readTool is the tool that reads the files.
const readTool = "read_file"

// errNoFile says that a name is none of a file.
var errNoFile = errors.New("there is no such file")

// atNames returns the names after an @ in a prompt that may be files. Names of pictures are left out, since pictures come
// with the prompt; a quoted one stays when no picture came, so that the person is told why.
func atNames(p event.PromptSubmitted) []texts.Mention {
	var names []texts.Mention
	for m := range texts.Mentions(p.Text) {
		picture := model.IsImageName(m.Name) && (!m.Quoted || len(p.Images) > 0)
		if picture || slices.ContainsFunc(names, func(n texts.Mention) bool { return n.Name == m.Name }) {
			continue
		}
		if names = append(names, m); len(names) == maxAtNames {
			break
		}
	}
	return names
}

// tellFiles gives the model the files and folders that new prompts name, as if it had read them. A person who typed the
// name wants it to be read, but may have pasted it: only what needs nobody's approval is read.
func tellFiles(ctx context.Context, b Briefing) {
	for _, p := range b.Prompts() {
		names := atNames(p)
		if p.Kind == event.Typed || len(names) == 0 || b.l.o.Reminders.Off(reminder.AtFile) {
			continue
		}
		files := namedFiles{b.l.newBatch(ctx, b.x, 0)}
		files.attach(names)
		files.cancel(nil)
	}
}

// namedFiles reads files that a prompt names.
type namedFiles struct{ *batch }

// attach gives the model those files of which it has not the same already, and tells the person
// which, and which can't go along. Nothing is said of a word that names no file: it may be somebody's name.
func (b namedFiles) attach(names []texts.Mention) {
	l, x := b.loop, b.x
	limited, cancel := context.WithTimeout(b.ctx, atFileTime)
	defer cancel()
	var read, paths, left []string
	for _, m := range names {
		if len(read) == maxAtFiles || limited.Err() != nil {
			break
		}
		j, text, seen, err := b.read(limited, m.Name, maxAtPage)
		switch {
		case errors.Is(err, errNoFile) && !m.Quoted:
		case err != nil:
			left = append(left, fmt.Sprintf("%s is not attached to the prompt: %v", m, err))
		case !conversation.Holds(x.talk, path.Base(m.Name), text):
			said := fmt.Sprintf("The user's prompt names %s, which was read for you: %s %s returned\n%s", m, readTool, j.call.Arguments, text)
			x.talk.Attach(x.task, 0, event.ReminderAttached{Kinds: []string{reminder.AtFile}, Text: reminder.Wrap(said), Seen: seen})
			read, paths = append(read, partOf(m.Name, j.result.Outcome)), append(paths, j.call.Planned.Path)
		}
	}
	if len(read) > 0 {
		l.p.Stream.Publish(x.task, 0, event.Notice{Text: "attached to the prompt: " + strings.Join(read, ", "), Code: reminder.AtFile})
		l.p.Instructions.Below(b.ctx, x.talk, x.task, 0, paths)
	}
	for _, text := range left {
		l.p.Stream.Publish(x.task, 0, event.Notice{Text: text, Code: reminder.AtFile})
	}
}

// read reads a file as the model would, at most a page of it, and returns what it is told of it, or why that does not go along: there is no
// such file, it is not text, or somebody would be asked first, the person or a hook.
func (b namedFiles) read(ctx context.Context, name string, page int) (j *job, text string, seen []action.SeenFile, err error) {
	l := b.loop
	args, err := json.Marshal(map[string]string{"path": name})
	if err != nil {
		return nil, "", nil, err
	}
	j = b.plan(model.ToolCall{ID: conversation.AtFile, Name: readTool, Arguments: string(args)})
	switch {
	case tools.Missing(j.err):
		return nil, "", nil, errNoFile
	case j.err != nil:
		return nil, "", nil, j.err
	case j.call.Planned.Kind == action.FileRead && j.call.Planned.Op != "": // what is there has another name
		return nil, "", nil, errNoFile
	}
	j.call.Page = min(j.call.Page, page)
	if b.judge(j.call.Planned).Decision != action.Allow || b.waitsForHooks(j) {
		return nil, "", nil, errors.New("the model needs your approval to read it")
	}
	res := l.runTool(ctx, j.call, func(ctx context.Context) tools.Result { return j.tool.Run(ctx, j.call) })
	switch {
	case res.Missing:
		return nil, "", nil, errNoFile
	case res.IsError:
		return nil, "", nil, errors.New(texts.Clip(texts.OneLine(tools.Why(res)), maxAtWhy))
	case len(res.Images) > 0:
		return nil, "", nil, errors.New("it is a picture: only pictures on this machine with names such as shot.png can be attached")
	}
	text = l.o.Redact.Text(res.Content)
	j.result.Outcome = res.Outcome
	found := inject.Scan(text)
	if inject.Worst(found) >= inject.High {
		why := fmt.Sprintf("prompt injection in %s, it %s: %q", texts.ClipBytes(name, 200), found[0].Reason, found[0].Excerpt)
		distrust(l.p, b.x, why)
		b.publish(event.Warning{Text: why + "; buddy marks it as data for the model", Code: conversation.InjectionWarning, NextStep: "until your next prompt, more actions need your approval"})
	}
	return j, inject.Defuse(text, found), res.Seen, nil
}

// partOf names a file or folder with what was read of it, for people.
func partOf(name, outcome string) string {
	if outcome == "" {
		return name
	}
	return name + " (" + outcome + ")"
}
