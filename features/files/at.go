package files

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"buddy/agent/conversation"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/reminder"
	"buddy/agent/turn"
	"buddy/texts"
)

// Limits of the files that prompts name with an @.
const (
	maxFiles = 8               // of one prompt that are read
	maxNames = 16              // of one prompt that are looked for
	maxPage  = 56 << 10        // bytes of one: with escapes and a head its reminder stays below 64 KiB
	readTime = 5 * time.Second // for all of a prompt
)

// namesAt returns the names after an @ in a prompt that may be files. Names of pictures are left out, since pictures come
// with the prompt; a quoted one stays when no picture came, so that the person learns why.
func namesAt(p event.PromptSubmitted) []texts.Mention {
	var names []texts.Mention
	for m := range texts.Mentions(p.Text) {
		picture := model.IsImageName(m.Name) && (!m.Quoted || len(p.Images) > 0)
		if picture || slices.ContainsFunc(names, func(n texts.Mention) bool { return n.Name == m.Name }) {
			continue
		}
		if names = append(names, m); len(names) == maxNames {
			break
		}
	}
	return names
}

// attach gives the model the files and folders that a prompt names, as if it had read them, and tells the person which,
// and which can't go along. A person who typed the name wants it to be read, but may have pasted it: only what needs
// nobody's approval is read. Nothing is said of a word that names no file: it may be somebody's name.
func attach(ctx context.Context, b turn.Briefing, names []texts.Mention) {
	limited, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	var read, paths, left []string
	for _, m := range names {
		if len(read) == maxFiles || limited.Err() != nil {
			break
		}
		f, err := b.ReadFile(limited, m.Name, maxPage)
		switch {
		case errors.Is(err, turn.ErrNoFile) && !m.Quoted:
		case err != nil:
			left = append(left, fmt.Sprintf("%s is not attached to the prompt: %v", m, err))
		case tell(b, m.Name, f, f.Text, fmt.Sprintf("The user's prompt names %s, which was read for you: %s returned\n%s", m, f.Call, f.Text)):
			read, paths = append(read, partOf(m.Name, f.Outcome)), append(paths, f.Path)
		}
	}
	if len(read) > 0 {
		b.Publish(event.Notice{Text: "attached to the prompt: " + strings.Join(read, ", "), Code: reminder.AtFile})
		b.TellRules(ctx, paths)
	}
	for _, text := range left {
		b.Publish(event.Notice{Text: text, Code: reminder.AtFile})
	}
}

// tell tells the model what was read of a file, unless it can read the text already, and reports whether it did.
func tell(b turn.Briefing, name string, f turn.FileRead, text, said string) bool {
	if conversation.Holds(b.Conversation(), path.Base(name), text) {
		return false
	}
	b.Conversation().Attach(b.Task(), 0, event.ReminderAttached{Kinds: []string{reminder.AtFile}, Text: reminder.Wrap(said), Seen: f.Seen})
	return true
}

// partOf names a file or folder with what was read of it, for people.
func partOf(name, outcome string) string {
	if outcome == "" {
		return name
	}
	return name + " (" + outcome + ")"
}
