// Package folder shows models that are spoken to in blocks of text what is in the folder, and what a call has changed there:
// small models do not look by themselves.
//
//	parts = append(parts, folder.Part(targets))
package folder

import (
	"context"
	"path"
	"regexp"
	"slices"
	"strings"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/reminder"
	"buddy/agent/turn"
	"buddy/texts"
	"buddy/tools"
	"buddy/tools/file"
	"buddy/tools/target"
)

// Limits of what a model that is spoken to in blocks is shown of the folder.
const (
	shownNames = 60
	shownFiles = 8
	shownBytes = 3000 // of one file
	shownShare = 8    // a part of the window for all files that a prompt names
	tokenBytes = 4
)

// Part returns what shows the folder of the current target.
func Part(targets *target.Set) turn.Part { return folder{targets: targets} }

type folder struct {
	turn.Nothing
	targets *target.Set
}

func (folder) Name() string { return "folder" }

// Brief gives the model the list of files, once in a conversation, and the files that prompts name without an @.
func (f folder) Brief(ctx context.Context, b turn.Briefing) {
	if b.Off(reminder.AtFile) {
		return
	}
	for _, p := range b.Prompts() {
		if p.Kind == event.Typed {
			continue
		}
		list, named, page := f.look(ctx, b.Model(), p.Text)
		if list != "" {
			b.TellState(reminder.Folder, "told", b.Redact(list))
		}
		for _, name := range named {
			b.TellFile(ctx, name, page, func(read string) string { return name + ":\n" + texts.Fenced("", tools.Uncounted(read)) })
		}
	}
}

// Around tells the model what a call has changed in the folder. It does on this machine only: elsewhere it would take too
// long.
func (f folder) Around(ctx context.Context, m model.Info, call tools.Call) func(context.Context, *turn.Ran) {
	w := f.workspace(call.Planned.Target)
	if m.Blocks == "" || w == nil || f.targets.Target(call.Planned.Target).Host != nil {
		return nil
	}
	before := file.Shoot(ctx, w, nil)
	return func(ctx context.Context, r *turn.Ran) {
		if text := before.Changes(file.Shoot(ctx, w, before)); text != "" {
			r.Result.Tell(text)
		}
	}
}

// workspace returns the files of the target that calls work on; nil while it was not opened.
func (f folder) workspace(name string) *file.Workspace {
	if one := f.targets.Session(name); one != nil {
		return one.Files
	}
	return nil
}

// look returns the list of files, and which of them a prompt names, with how many bytes of each are shown.
func (f folder) look(ctx context.Context, m model.Info, prompt string) (list string, named []string, page int) {
	w := f.workspace(f.targets.Current())
	if m.Blocks == "" || w == nil {
		return "", nil, 0
	}
	names, more, err := file.Names(ctx, w, shownNames)
	if err != nil {
		return "", nil, 0
	}
	switch list = "Files in the folder: " + strings.Join(names, ", ") + "."; {
	case len(names) == 0:
		list = "The folder is empty."
	case more:
		list += " There are more."
	}
	for _, name := range names {
		if names := []string{name, path.Base(name)}; len(named) < shownFiles && w.Secret(path.Join(w.Root(), name)) == "" && slices.ContainsFunc(names, func(n string) bool { return mentions(prompt, n) }) {
			named = append(named, name)
		}
	}
	page = shownBytes
	if m.Window > 0 && len(named) > 0 {
		page = min(page, m.Window*tokenBytes/shownShare/len(named))
	}
	return list, named, page
}

// mentions reports whether a text has a name as a word of its own.
func mentions(text, name string) bool {
	return regexp.MustCompile(`(^|[^\w./-])(\./)?` + regexp.QuoteMeta(name) + `($|[^\w/-])`).MatchString(text)
}
