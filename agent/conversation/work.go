package conversation

import (
	"cmp"
	"slices"
	"strings"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/record"
	"buddy/agent/reminder"
	"buddy/texts"
)

// Limits of the working memory.
const (
	maxWorkFiles  = 24
	maxWorkPrompt = 1000 // bytes
)

// work holds the working memory of a conversation: its first and last prompt, and the files that calls have used.
type work struct{ reminder.Work }

// clone returns an independent copy for a fork.
func (w *work) clone() work {
	other := *w
	other.Files = slices.Clone(w.Files)
	return other
}

func (w *work) prompted(p event.PromptSubmitted) {
	if p.Kind == event.Typed || p.Command() || strings.TrimSpace(p.Text) == "" {
		return
	}
	w.Last = p.Text
	if len(w.Last) > maxWorkPrompt {
		w.Last = texts.ClipBytes(w.Last, maxWorkPrompt)
	}
	w.First = cmp.Or(w.First, w.Last)
	w.News++
}

// Worked records the files that a call has read or changed.
func Worked(c *Conversation, act action.Action) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known.work.did(act)
}

// Did is like [Worked], for the call that a stored event is about. It does nothing unless the call has succeeded.
func Did(c *Conversation, about record.Subject) {
	if call := about.Call; call != nil && call.Result != nil && !call.Result.IsError {
		Worked(c, call.Action())
	}
}

// did records the files of a successful action.
func (w *work) did(act action.Action) {
	changed := act.Kind == action.FileWrite
	if !changed && act.Kind != action.FileRead {
		return
	}
	paths := act.Paths
	if len(paths) == 0 && act.Path != "" {
		paths = []string{act.Path}
	}
	for _, p := range paths[:min(len(paths), maxWorkFiles)] {
		w.file(reminder.WorkFile{Path: p, Target: act.Target, Changed: changed})
	}
}

func (w *work) file(f reminder.WorkFile) {
	i := slices.IndexFunc(w.Files, func(has reminder.WorkFile) bool { return has.Path == f.Path && has.Target == f.Target })
	if i >= 0 {
		if !w.Files[i].Changed && f.Changed {
			w.News++
		}
		f.Changed = f.Changed || w.Files[i].Changed
		w.Files = slices.Delete(w.Files, i, i+1)
	} else {
		w.News++
	}
	if len(w.Files) == maxWorkFiles {
		w.Files = slices.Delete(w.Files, 0, 1)
	}
	w.Files = append(w.Files, f)
}
