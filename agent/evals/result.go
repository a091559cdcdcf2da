package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"buddy/agent/event"
)

// result holds the state after a run: the files, and the events of the session.
type result struct {
	dir    string            // the repository
	home   string            // the home of the run
	env    []string          // environment of the run
	before map[string]string // initial files of the repository
	events []event.Envelope
	answer string // last answer of the model
}

// readJournal reads the events of the only session.
func (r *result) readJournal() error {
	found, err := filepath.Glob(filepath.Join(r.dir, ".buddyx/sessions/*.jsonl"))
	if err != nil || len(found) != 1 {
		return fmt.Errorf("there are %d session files, want 1", len(found))
	}
	f, err := os.Open(found[0])
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewReader(f)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if n == 1 {
			continue // the header
		}
		var env event.Envelope
		if err := json.Unmarshal(line, &env); err != nil {
			return fmt.Errorf("line %d of the session: %w", n, err)
		}
		r.add(env)
	}
}

// add records an event, and keeps the main conversation's last answer.
func (r *result) add(env event.Envelope) {
	r.events = append(r.events, env)
	if m, ok := env.Payload.(event.ModelMessage); ok && env.Branch == 0 {
		r.answer = m.Message.Content
	}
}

// tree returns the files of the repository by path, without those of git and buddy.
func (r *result) tree() (map[string]string, error) {
	tree := make(map[string]string)
	err := filepath.WalkDir(r.dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == ".buddyx"):
			return filepath.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		name, err := filepath.Rel(r.dir, path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		tree[name] = string(text)
		return err
	})
	return tree, err
}

// unchanged returns an error if files other than the named ones changed. A name that ends in / covers everything
// below it.
func (r *result) unchanged(except ...string) error {
	after, err := r.tree()
	if err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(after))
	for name := range r.before {
		if _, ok := after[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if slices.ContainsFunc(except, func(e string) bool { return e == name || strings.HasSuffix(e, "/") && strings.HasPrefix(name, e) }) {
			continue
		}
		was, before := r.before[name]
		is, there := after[name]
		switch {
		case !before:
			return fmt.Errorf("%s was made", name)
		case !there:
			return fmt.Errorf("%s was deleted", name)
		case was != is:
			return fmt.Errorf("%s was changed", name)
		}
	}
	return nil
}

// text returns the content of a file of the repository.
func (r *result) text(name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(r.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("there is no %s", name)
	}
	return string(text), err
}

// holds returns an error unless a file has exactly this content.
func (r *result) holds(name, want string) error {
	text, err := r.text(name)
	switch {
	case err != nil:
		return err
	case text == r.before[name] && text != want:
		return fmt.Errorf("%s is as it was", name)
	case text != want:
		return fmt.Errorf("%s is not what it should be", name)
	}
	return nil
}

// replaced returns an error unless a file differs from its initial content by exactly these replacements.
func (r *result) replaced(name string, oldnew ...string) error {
	return r.holds(name, strings.NewReplacer(oldnew...).Replace(r.before[name]))
}

// edited returns an error if a file is unchanged or missing.
func (r *result) edited(name string) error {
	text, err := r.text(name)
	if err == nil && text == r.before[name] {
		err = fmt.Errorf("%s is as it was", name)
	}
	return err
}

// answerHas returns an error unless the answer contains one of the words, ignoring case.
func (r *result) answerHas(words ...string) error {
	answer := strings.ToLower(strings.ReplaceAll(r.answer, "’", "'"))
	if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(answer, strings.ToLower(w)) }) {
		return nil
	}
	return fmt.Errorf("the answer does not say %s", strings.Join(words, " or "))
}

// judgeTime limits a command that a judge runs.
const judgeTime = time.Minute

// output runs a command in the repository and returns its output.
func (r *result) output(name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), judgeTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = r.dir, r.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return string(out), nil
}

// ran reports whether a command was started that contains these words.
func (r *result) ran(words string) bool {
	requested := make(map[string]event.ToolRequested)
	for _, env := range r.events {
		switch p := env.Payload.(type) {
		case event.ToolRequested:
			requested[p.CallID] = p
		case event.ToolStarted:
			if strings.Contains(requested[p.CallID].Action.Command, words) {
				return true
			}
		}
	}
	return false
}

// denied returns the number of calls that were denied.
func (r *result) denied() int {
	n := 0
	for _, env := range r.events {
		if p, ok := env.Payload.(event.ApprovalAnswered); ok && p.Decision == event.Deny {
			n++
		}
	}
	return n
}

// asked reports whether the model asked the person a question.
func (r *result) asked() bool {
	return strings.Contains(r.answer, "?") || slices.ContainsFunc(r.events, func(env event.Envelope) bool {
		_, ok := env.Payload.(event.QuestionAsked)
		return ok
	})
}
