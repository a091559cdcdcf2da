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

// smallTasks returns what small models can do. What must be afterwards stands in the files of the tasks: want/NAME is the
// text of a file, * if any will do; the files named in gone are deleted, all others as they were; each line of answer is a pattern of the
// answer; and check is a shell script that succeeds.
func smallTasks() (all []task) {
	list, err := files.ReadDir("small")
	if err != nil {
		panic(err) // they are embedded
	}
	for _, f := range list {
		t := task{name: strings.TrimSuffix(f.Name(), ".txtar"), folder: "small"}
		t.judge = func(r *result) error { return judgeSmall(t, r) }
		all = append(all, t)
	}
	return all
}

// wanted reports whether a file of a small task says what must be afterwards.
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

// has returns an error when a file has another text; a line end at its end does not count.
func (r *result) has(name, text string) error {
	got, err := os.ReadFile(filepath.Join(r.dir, name))
	if err == nil && strings.TrimRight(string(got), "\n") != strings.TrimRight(text, "\n") {
		err = fmt.Errorf("%s has %.80q", name, got)
	}
	return err
}
