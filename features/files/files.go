// Package files adds the files that a prompt names, as in @main.go, to the conversation. Small models that write
// their tool calls as text (see package blocks) also get a list of the folder and of the changes that their calls
// make, because they don't look by themselves.
//
//	parts = append(parts, files.Part(targets))
package files

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

// Limits of the folder's contents for models that write their calls as blocks of text.
const (
	shownNames = 60
	shownFiles = 8
	shownBytes = 3000 // bytes of one file
	shownShare = 8    // 1/8 of the context window for all files of a prompt
	tokenBytes = 4
)

// Part returns the feature's part in a session. If targets is nil, there is no folder to show.
func Part(targets *target.Set) turn.Part { return part{targets: targets} }

type part struct {
	turn.Nothing
	targets *target.Set
}

func (part) Name() string { return "files" }

// Brief adds the texts that an editor sent with prompts, and the files that prompts name with an @. For models that write
// their calls as blocks, it also adds the list of files, once in a conversation, and files that prompts name without an
// @.
func (f part) Brief(ctx context.Context, b turn.Briefing) {
	prompts := slices.DeleteFunc(slices.Clone(b.Prompts()), func(p event.PromptSubmitted) bool { return p.Kind == event.Typed })
	for _, p := range prompts {
		tellExcerpts(b, p.Excerpts)
	}
	if b.Off(reminder.AtFile) {
		return
	}
	for _, p := range prompts {
		attach(ctx, b, namesAt(p))
	}
	for _, p := range prompts {
		list, named, page := f.look(ctx, b.Model(), p.Text)
		if list != "" {
			b.TellState(reminder.Folder, "told", b.Redact(list))
		}
		for _, name := range named {
			f.show(ctx, b, name, page)
		}
	}
}

// show adds at most page bytes of a file. It skips files that can't be read, because the model can look at them itself.
func (part) show(ctx context.Context, b turn.Briefing, name string, page int) {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	if f, err := b.ReadFile(ctx, name, page); err == nil {
		text := name + ":\n" + texts.Fenced("", tools.Uncounted(f.Text))
		addFile(b, name, f, text, text)
	}
}

// Around adds changes in the folder to the result of a call. It works on this machine only, because it would be too
// slow elsewhere.
func (f part) Around(ctx context.Context, a turn.Access, call *tools.Call) func(context.Context, *turn.Ran) {
	if a.Model().Blocks == "" {
		return nil
	}
	w := f.workspace(call.Planned.Target)
	if w == nil || f.targets.Target(call.Planned.Target).Host != nil {
		return nil
	}
	before := file.Shoot(ctx, w, nil)
	return func(ctx context.Context, r *turn.Ran) {
		if text := before.Changes(file.Shoot(ctx, w, before)); text != "" {
			r.Result.Tell(text)
		}
	}
}

// workspace returns the files of a target, or nil if it is not open.
func (f part) workspace(name string) *file.Workspace {
	if one := f.targets.Session(name); one != nil {
		return one.Files
	}
	return nil
}

// look returns the list of files, the files that the prompt names, and how many bytes of each of these are shown.
func (f part) look(ctx context.Context, m model.Info, prompt string) (list string, named []string, page int) {
	if m.Blocks == "" {
		return "", nil, 0
	}
	w := f.workspace(f.targets.Current())
	if w == nil {
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

// mentions reports whether a text contains a name as a separate word.
func mentions(text, name string) bool {
	return regexp.MustCompile(`(^|[^\w./-])(\./)?` + regexp.QuoteMeta(name) + `($|[^\w/-])`).MatchString(text)
}
