package turn

import (
	"context"
	"path"

	"buddy/agent/conversation"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/reminder"
	"buddy/texts"
	"buddy/tools"
)

// Folder shows models what is in the folder in which they work. To models that look there by themselves it shows nothing.
type Folder interface {
	// Look returns a list of the files, and those that a prompt names without an @, with how many bytes of each are shown.
	Look(ctx context.Context, m model.Info, prompt string) (list string, named []string, page int)
	// Watch looks at the files before a call. What it returns says after the call what has changed, "" for nothing; nil:
	// nobody wants to know.
	Watch(ctx context.Context, m model.Info, call tools.Call) (changes func(context.Context) string)
}

// showFolder gives the model the list of files, once in a conversation, and the files that a prompt names.
func (b namedFiles) showFolder(prompt string) {
	l, x := b.loop, b.x
	if l.o.Folder == nil {
		return
	}
	list, named, page := l.o.Folder.Look(b.ctx, l.model(x).Info(), prompt)
	if list = l.o.Redact.Text(list); list != "" && !conversation.Reminded(x.talk, reminder.Folder) {
		x.talk.Attach(x.task, 0, event.ReminderAttached{Kinds: []string{reminder.Folder}, Text: reminder.Wrap(list), States: map[string]string{reminder.Folder: "told"}})
	}
	ctx, cancel := context.WithTimeout(b.ctx, atFileTime)
	defer cancel()
	for _, name := range named {
		_, text, seen, err := b.read(ctx, name, page)
		if err != nil {
			continue // the model looks at it by itself
		}
		if said := name + ":\n" + texts.Fenced("", tools.Uncounted(text)); !conversation.Holds(x.talk, path.Base(name), said) {
			x.talk.Attach(x.task, 0, event.ReminderAttached{Kinds: []string{reminder.AtFile}, Text: reminder.Wrap(said), Seen: seen})
		}
	}
}

// inShort reports whether the model that answers gets short texts, because it makes its calls in blocks.
func inShort(l *Loop, x *Exchange) bool { return l.model(x).Info().Blocks != "" }

// watch begins to watch the folder for a call. What it returns adds to the result what has changed.
func watch(ctx context.Context, b *batch, j *job) func(*tools.Result) {
	if b.loop.o.Folder == nil {
		return func(*tools.Result) {}
	}
	changes := b.loop.o.Folder.Watch(ctx, b.loop.model(b.x).Info(), j.call)
	return func(res *tools.Result) {
		if changes == nil {
			return
		}
		if text := changes(ctx); text != "" {
			res.Tell(text)
		}
	}
}
