package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// smallTasks returns the tasks for small models. Their archives contain the expected result in these files:
//
//   - want/NAME: the text of the file NAME, or * for any text
//   - gone: the names of files that must be deleted; all other files must be unchanged
//   - answer: patterns that the answer must match, one per line
//   - check: a shell script that must succeed
func smallTasks() (all []task) {
	list, err := files.ReadDir("small")
	if err != nil {
		panic(err) // can't happen: the files are embedded
	}
	for _, f := range list {
		t := task{name: strings.TrimSuffix(f.Name(), ".txtar"), folder: "small"}
		t.judge = func(r *result) error { return judgeSmall(t, r) }
		all = append(all, t)
	}
	return all
}

// wanted reports whether a file in the archive of a small task is part of the expected result.
func wanted(name string) bool {
	return name == "gone" || name == "answer" || name == "check" || strings.HasPrefix(name, "want/")
}

func judgeSmall(t task, r *result) error {
	_, list, err := t.load()
	var changed []string
	for _, f := range list {
		text := string(f.Data)
		name, file := strings.CutPrefix(f.Name, "want/")
		switch {
		case file:
			changed = append(changed, name)
			if text != "*\n" {
				err = errors.Join(err, r.has(name, text))
			}
		case f.Name == "gone":
			for _, name := range strings.Fields(text) {
				if changed = append(changed, name); exists(r, name) {
					err = errors.Join(err, fmt.Errorf("%s is still there", name))
				}
			}
		case f.Name == "answer":
			for pattern := range strings.Lines(text) {
				if pattern = strings.TrimSpace(pattern); !regexp.MustCompile(pattern).MatchString(r.answer) {
					err = errors.Join(err, fmt.Errorf("the answer is %.80q, want %s", r.answer, pattern))
				}
			}
		case f.Name == "check":
			err = errors.Join(err, r.succeeds("sh", "-c", text))
		}
	}
	return errors.Join(err, r.unchanged(slices.Compact(changed)...))
}

// has returns an error unless a file has this text, ignoring newlines at its end.
func (r *result) has(name, text string) error {
	got, err := os.ReadFile(filepath.Join(r.dir, name))
	if err == nil && strings.TrimRight(string(got), "\n") != strings.TrimRight(text, "\n") {
		err = fmt.Errorf("%s has %.80q", name, got)
	}
	return err
}
