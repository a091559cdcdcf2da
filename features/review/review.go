// Package review implements code reviews by a subagent. It finds the change, sends it to a model, parses the findings
// and finds their lines in the files. /findings lists the findings.
//
//	r := review.Reviewer{Folder: review.On(targets), Redact: secret, Publish: publish}
//	options.Agents.Review = r.Review
package review

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/inject"
	"buddy/agent/redact"
	"buddy/agent/turn"
	"buddy/app/slash"
	"buddy/extensions"
	"buddy/extensions/subagent"
	"buddy/features/feature"
	"buddy/texts"
)

// Feature has the commands of reviews. The runtime gets a [Reviewer].
var Feature = &feature.Feature{Commands: []feature.Command{
	{Command: slash.Command{
		Name: "review", Means: []string{"check", "defects"}, Use: 5, Args: "[BASE]", Brief: "let a subagent review your changes",
		Help:   "let a read-only subagent list the defects in your uncommitted changes, or else in what this branch adds; with BASE, in the changes since that commit or branch",
		Events: func(base string) ([]event.Command, error) { return []event.Command{event.Review{Base: base}}, nil },
	}},
	{Command: slash.Command{
		Name: "findings", Args: "[N]", Brief: "list the last review's findings", Early: true,
		Help: "list the findings of the last review, and open their files in your editor; with a number, open the file of that finding at its line",
	}, Run: onFindings},
}}

const (
	findChange      = time.Minute // limit for finding the change
	maxReviewAnswer = 4 << 10     // bytes kept of an answer that can't be parsed
	reviewTries     = 2           // answers that are parsed
)

// Reviewer reviews changes in a session.
type Reviewer struct {
	// Folder returns the folder to review on a target; it may connect to the target.
	Folder  func(ctx context.Context, target string) (Folder, error)
	OutDir  string // folder on this machine for the whole diff; "": it is not stored
	Redact  *redact.Redactor
	Publish func(event.Event)
}

// Review reviews the difference from a base on a target. The function by runs the subagent.
func (r Reviewer) Review(ctx context.Context, target, base string, by turn.Delegate) event.ReviewFinished {
	done := event.ReviewFinished{Base: base}
	began := time.Now()
	finding, cancel := context.WithTimeout(ctx, findChange)
	defer cancel()
	in, err := r.Folder(finding, target)
	if err != nil {
		done.Problem = err.Error()
		return done
	}
	change, err := Find(finding, in, base)
	done.Of, done.Commit, done.Target, done.Files, done.DiffCut = change.Of, change.Commit, in.Target, len(change.Files), change.Cut
	if err != nil {
		done.Problem = err.Error()
		return done
	}
	if len(change.Files) == 0 {
		return done // nothing differs, so no model is asked
	}
	r.Publish(event.Notice{Text: fmt.Sprintf("reviewing %s, files that differ: %d", done.What(), len(change.Files)), Code: event.ReviewStarted})
	if change.Cut {
		r.Publish(event.Warning{Text: event.DiffWasCut, Code: "review"})
	}
	if err := r.ask(ctx, change, by, &done); err != nil {
		done.Problem = err.Error()
	}
	for i, f := range done.Findings {
		f.Text, f.Fix = r.Redact.Text(f.Text), r.Redact.Text(f.Fix)
		done.Findings[i] = Place(ctx, in.Files, in.Dir, began, f)
	}
	return done
}

// ask lets a model review a change and puts the findings into done. It asks again for an answer that can't be parsed,
// within reviewTries.
func (r Reviewer) ask(ctx context.Context, change Change, by turn.Delegate, done *event.ReviewFinished) error {
	agent, err := definition(ctx)
	if err != nil {
		return err
	}
	dir := ""
	if r.OutDir != "" && change.Target == "" { // the reviewer runs where the change is
		dir = filepath.Join(r.OutDir, fmt.Sprintf("review-%d", time.Now().UnixNano()))
	}
	diff := r.Redact.Text(change.Diff)
	diff = inject.Defuse(diff, inject.Scan(diff))
	tries := 0
	var unread error
	got, err := by(ctx, turn.Errand{
		Agent: agent, Title: change.Of, Prompt: change.Prompt(diff, keepDiff(dir, diff)), Dir: dir,
		Again: func(answer string) string {
			tries++
			if done.Findings, unread = Parse(answer); unread != nil && tries < reviewTries {
				return Again(unread)
			}
			return ""
		},
	})
	done.Task, done.Usage, done.Cost = got.Task, got.Usage, got.Cost
	switch {
	case err != nil:
		return err
	case got.Problem != "":
		unread = errors.New("the reviewer " + got.Problem)
	}
	if unread != nil {
		done.Answer = texts.ClipBytes(r.Redact.Text(got.Answer), maxReviewAnswer)
	}
	return unread
}

// keepDiff writes a diff to a file for the reviewer and returns the file, or "" on failure.
func keepDiff(dir, diff string) string {
	file := filepath.Join(dir, "review.diff")
	if dir == "" || os.MkdirAll(dir, 0o700) != nil || os.WriteFile(file, []byte(diff), 0o600) != nil {
		return ""
	}
	return file
}

// definition returns the built-in reviewer. Agents of the same name from a project or the user don't replace it, and
// its mode is plan mode or stricter.
func definition(ctx context.Context) (subagent.Definition, error) {
	found, err := extensions.Read(ctx, extensions.Agent, extensions.Source{
		Origin: extensions.BuiltIn, Files: extensions.BuiltInSource().Files, Roots: map[extensions.Kind][]string{extensions.Agent: {"buddy:/reviewer.md"}},
	})
	if err != nil {
		return subagent.Definition{}, err
	}
	all, _ := subagent.All(found.Items)
	if len(all) != 1 {
		return subagent.Definition{}, errors.New("the definition of the reviewer can't be read")
	}
	all[0].Mode = action.Stricter(all[0].Mode, action.ModePlan)
	return all[0], nil
}
