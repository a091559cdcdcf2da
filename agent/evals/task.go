package main

import (
	"cmp"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

// task describes a task for a model. Its files and prompts are in FOLDER/NAME.txtar.
type task struct {
	name   string
	folder string // folder of its file; "" is tasks
	// prepare adds files that an archive can't hold; nil adds nothing.
	prepare func(dir string) error
	// judge returns why the task was not done well, or nil.
	judge func(*result) error
}

// step is one prompt of a task; later steps continue its session.
type step struct {
	approve string // approval mode; nobody can answer
	prompt  string
}

//go:embed tasks/*.txtar small/*.txtar
var files embed.FS

// load reads the prompts and the files of a task. The archive's comment contains the steps, separated by ---, each
// with a line "approve: MODE" followed by the prompt.
func (t task) load() ([]step, []txtar.File, error) {
	file := cmp.Or(t.folder, "tasks") + "/" + t.name + ".txtar"
	data, err := files.ReadFile(file)
	if err != nil {
		return nil, nil, err
	}
	archive := txtar.Parse(data)
	var steps []step
	for part := range strings.SplitSeq(string(archive.Comment), "---\n") {
		first, prompt, _ := strings.Cut(part, "\n")
		mode, ok := strings.CutPrefix(first, "approve: ")
		if !ok {
			return nil, nil, fmt.Errorf("%s: %q is not approve: MODE", file, first)
		}
		steps = append(steps, step{mode, strings.TrimSpace(prompt)})
	}
	return steps, archive.Files, nil
}

// unpack writes the files of a task into a folder.
func (t task) unpack(list []txtar.File, dir string) error {
	for _, f := range list {
		if t.folder != "" && wanted(f.Name) {
			continue
		}
		if err := write(filepath.Join(dir, f.Name), string(f.Data)); err != nil {
			return err
		}
	}
	if t.prepare == nil {
		return nil
	}
	return t.prepare(dir)
}

// write creates a file and its parent folders.
func write(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}
