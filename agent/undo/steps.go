package undo

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"buddy/agent/event"
	"buddy/tools"
)

// step holds the changes made for one prompt, by the prompt's task and its subagents, until the next prompt.
type step struct {
	task     int     // task of the prompt
	title    string  // title of the task
	prompted prompts // prompts before it
	kept     []change
}

// change describes the files that a call changed, or is about to change.
type change struct {
	branch int    // conversation of the call
	agent  string // the subagent; "" is none
	event.FileKept
}

// agents returns the names of the subagents that made changes in the step.
func (s *step) agents() (names []string) {
	for _, c := range s.kept {
		if c.agent != "" && !slices.Contains(names, c.agent) {
			names = append(names, c.agent)
		}
	}
	return names
}

// inNewest reports whether a change by a task would belong to the newest step. The caller holds l.mu.
func (l *Log) inNewest(task int) bool {
	n := len(l.steps)
	return n > 0 && !l.prompted.fresh && l.steps[n-1].task == l.promptOf(task)
}

// promptOf returns the task of the prompt for which a task works, itself or as a subagent. The caller holds l.mu.
func (l *Log) promptOf(task int) int {
	for {
		a, ok := l.works[task]
		if !ok || a.parent == 0 || a.parent >= task { // a caller is older, so there is no cycle
			return task
		}
		task = a.parent
	}
}

// first returns the state of a file before the step. ok is false if the step has not changed the file.
func (s *step) first(path string) (event.KeptFile, bool) {
	for _, e := range s.kept {
		for _, f := range e.Files {
			if f.Path == path {
				return f, true
			}
		}
	}
	return event.KeptFile{}, false
}

// add appends the changes of a call. The caller holds l.mu.
func (l *Log) add(branch, task int, e event.FileKept) {
	l.settle()
	if !l.inNewest(task) {
		prompt := l.promptOf(task)
		l.prompted.fresh = false
		l.steps = append(l.steps, step{task: prompt, title: l.titles[prompt], prompted: l.prompted})
	}
	last := &l.steps[len(l.steps)-1]
	e.Files = slices.Clone(e.Files) // readers of the event share the original
	for i := range e.Files {
		f := &e.Files[i]
		if first, ok := last.first(f.Path); ok && first.Copy == f.Copy {
			f.Bytes = 0 // the step counts this copy already
		}
		l.bytes += f.Bytes
	}
	last.kept = append(last.kept, change{branch, l.works[task].name, e})
}

// free removes the oldest copies until there is room for the given number of bytes. The caller holds l.mu.
func (l *Log) free(more int64) {
	for _, s := range l.steps {
		for _, e := range s.kept {
			l.freeCopies(e.Files, more)
		}
	}
	for _, t := range l.taken {
		l.freeCopies(t.kept, more)
	}
	if l.half.undo() {
		l.freeCopies(l.half.kept, more)
	}
}

// freeCopies is free for the copies of the given files only. The caller holds l.mu.
func (l *Log) freeCopies(files []event.KeptFile, more int64) {
	for i := range files {
		if l.bytes+more <= maxKept {
			return
		}
		if f := &files[i]; f.Copy != "" {
			_ = os.Remove(f.Copy) // a missing copy can't be restored, which Restore reports
			l.bytes -= f.Bytes
			f.Copy, f.Bytes = "", 0
		}
	}
}

func writeCopy(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}

// filesOn holds files of one target.
type filesOn struct {
	target   string
	files    []tools.Before
	commands bool // commands have changed files, too: see treeUndo
}

// filesBefore returns the contents that files had before steps, with the contents that they should have now, by target.
func filesBefore(steps []step) ([]filesOn, error) {
	var all []filesOn
	for _, s := range steps {
		for _, e := range s.kept {
			i := slices.IndexFunc(all, func(f filesOn) bool { return f.target == e.Target })
			if i < 0 {
				i, all = len(all), append(all, filesOn{target: e.Target})
			}
			all[i].commands = all[i].commands || e.List != ""
			for _, f := range e.Files {
				if err := all[i].add(f); err != nil {
					return nil, err
				}
			}
		}
	}
	return all, nil
}

func (on *filesOn) add(f event.KeptFile) error {
	if i := slices.IndexFunc(on.files, func(b tools.Before) bool { return b.Path == f.Path }); i >= 0 {
		on.files[i].After = f.After
		return nil
	}
	b, err := readCopy(f)
	on.files = append(on.files, b)
	return err
}

func readCopy(f event.KeptFile) (tools.Before, error) {
	b := tools.Before{Path: f.Path, Existed: f.Existed, Perm: fs.FileMode(f.Perm).Perm(), After: f.After, Lost: f.Existed && f.Copy == ""}
	if f.Copy == "" {
		return b, nil
	}
	var err error
	b.Data, err = os.ReadFile(f.Copy)
	if errors.Is(err, fs.ErrNotExist) {
		b.Lost, err = true, nil
	}
	return b, err
}
