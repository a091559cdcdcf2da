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

// Limits of the files that a prompt names with an @.
const (
	maxFiles = 8               // files read for one prompt
	maxNames = 16              // names looked up for one prompt
	maxPage  = 56 << 10        // bytes of one file, so that its reminder, with escapes and a header, stays below 64 KiB
	readTime = 5 * time.Second // for all files of a prompt
)

// namesAt returns the names after an @ in a prompt that may be files. Pictures are left out, because they are sent with
// the prompt. A quoted picture name is kept if no picture was sent, so that the person learns why.
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

// attach reads the files and folders that a prompt names, adds them to the conversation and notifies the person about
// them. It reads only files that need no approval, because the prompt may be pasted. It ignores words that name no
// file, because they may be people's names.
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
		case addFile(b, m.Name, f, f.Text, fmt.Sprintf("The user's prompt names %s, which was read for you: %s returned\n%s", m, f.Call, f.Text)):
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

// tellExcerpts adds the texts that an editor sent with a prompt to the conversation, unless the model has them already:
// some editors send the open file with every prompt.
func tellExcerpts(b turn.Briefing, all []event.Excerpt) {
	if b.Off(reminder.Editor) {
		return
	}
	for i, e := range all {
		if i == maxFiles {
			b.Publish(event.Notice{Text: fmt.Sprintf("%s and any texts after it are not attached: a prompt can have at most %d texts from an editor", e.Name, maxFiles), Code: reminder.Editor})
			return
		}
		about := "The user's editor sent this text of " + e.Name + " with the prompt. It may differ from the file on disk"
		if len(e.Text) > maxPage {
			about += ", and its end is missing"
		}
		text := texts.Fenced("", texts.ClipBytes(b.Foreign(e.Name, e.Text), maxPage))
		if !conversation.Holds(b.Conversation(), e.Name, text) {
			b.Tell(reminder.Editor, about+":\n"+text)
		}
	}
}

// addFile adds the text of a file to the conversation unless the model has it already, and reports whether it did.
func addFile(b turn.Briefing, name string, f turn.FileRead, text, body string) bool {
	if conversation.Holds(b.Conversation(), path.Base(name), text) {
		return false
	}
	b.Conversation().Attach(b.Task(), 0, event.ReminderAttached{Kinds: []string{reminder.AtFile}, Text: reminder.Wrap(body), Seen: f.Seen})
	return true
}

// partOf names a file or folder and describes what was read of it.
func partOf(name, outcome string) string {
	if outcome == "" {
		return name
	}
	return name + " (" + outcome + ")"
}
