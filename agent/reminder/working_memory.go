package reminder

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"buddy/texts"
)

// Work summarizes the prompts and file accesses of a conversation.
type Work struct {
	First, Last string     // prompts of the person; equal if there was only one
	Files       []WorkFile // read or changed by calls, newest last
	Compactions int
	Answers     int
	News        int // number of distinct prompts and files so far
}

// WorkFile is a file that the model has worked with.
type WorkFile struct {
	Path, Target string
	Changed      bool
}

// Limits of the summary, in bytes.
const (
	maxWork      = 1000
	maxGoal      = 200
	maxWorkSteps = 250
)

// The summary is sent right after a compaction, and again after this many answers with this many new prompts or
// files.
const (
	workAnswers = 20
	workNews    = 8
)

// workingMemory summarizes the work for a model whose conversation was compacted.
func workingMemory(now Snapshot) Said {
	w := now.Work
	var compactions, answers, news int
	_, _ = fmt.Sscanf(now.Told[WorkingMemory], "%d/%d/%d", &compactions, &answers, &news) // unknown: zeros
	again := w.Compactions > 0 && w.Answers-answers >= workAnswers && w.News-news >= workNews
	if w.Compactions <= compactions && !again {
		return Said{}
	}
	text := w.Text(now.Steps.Open)
	if text == "" {
		return Said{}
	}
	return Said{Text: "What you work on:\n" + text, State: fmt.Sprintf("%d/%d/%d", w.Compactions, w.Answers, w.News)}
}

// Text returns the work and the open steps in at most 1,000 bytes, or "".
func (w Work) Text(open []string) string {
	var lines []string
	if w.First != "" {
		lines = append(lines, "goal: "+clipLine(w.First, maxGoal))
	}
	if w.Last != w.First {
		lines = append(lines, "last prompt: "+clipLine(w.Last, maxGoal))
	}
	if len(open) > 0 {
		lines = append(lines, "open steps: "+clipLine(strings.Join(open, "; "), maxWorkSteps))
	}
	remaining := maxWork - len(strings.Join(lines, "\n"))
	for _, changed := range []bool{true, false} {
		if line := w.files(changed, remaining); line != "" {
			lines = append(lines, line)
			remaining -= len(line) + 1
		}
	}
	return strings.Join(lines, "\n")
}

// files lists the files that were changed, or only read, relative to their common folder: the newest first, as many
// as fit into room. It returns "" without files.
func (w Work) files(changed bool, room int) string {
	dir := w.folder()
	line := "files read"
	if changed {
		line = "files changed"
	}
	if dir != "" {
		line += " below " + dir
	}
	line += ":"
	none := len(line)
	for _, f := range slices.Backward(w.Files) {
		if f.Changed != changed {
			continue
		}
		name := " " + clipLine(strings.TrimPrefix(f.Path, dir+"/"), maxGoal)
		if f.Target != w.Files[0].Target {
			name += " (on " + f.Target + ")"
		}
		if len(line)+len(name)+2 > room {
			break
		}
		line += name + ","
	}
	if len(line) == none {
		return ""
	}
	return strings.TrimSuffix(line, ",")
}

// folder returns the common folder of all files, or "" if that is the root or too long.
func (w Work) folder() string {
	if len(w.Files) == 0 {
		return ""
	}
	dir := path.Dir(w.Files[0].Path)
	for _, f := range w.Files {
		for dir != "/" && dir != "." && !strings.HasPrefix(f.Path, dir+"/") {
			dir = path.Dir(dir)
		}
	}
	if dir == "/" || dir == "." || len(dir) > maxGoal {
		return ""
	}
	return dir
}

// clipLine returns a text on one line, clipped to n bytes.
func clipLine(text string, n int) string {
	text = texts.OneLine(text)
	if len(text) <= n {
		return text
	}
	return strings.TrimSuffix(texts.ClipBytes(text, n-len("…")), "…") + "…"
}
