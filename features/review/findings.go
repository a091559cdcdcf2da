package review

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"buddy/agent/event"
	"buddy/app/show"
	"buddy/features/feature"
	"buddy/tools/fs"
	"buddy/views/markup"
)

// onFindings lists the findings of the last review, or opens a finding's file at its line. "of N" selects the review of
// task N. If the line is not known any more, "anyway" opens the file at its start.
func onFindings(ctx context.Context, s feature.Asked, args []string) (show.Answer, error) {
	task := -1
	if len(args) > 1 && args[0] == "of" {
		n, err := strconv.Atoi(args[1])
		if err != nil {
			return show.Answer{}, fmt.Errorf("%q is not the number of a task", args[1])
		}
		task, args = n, args[2:]
	}
	r, err := lastReview(s, task)
	if err != nil {
		return show.Answer{}, err
	}
	line := strings.TrimSpace(strings.Join(args, " "))
	if line == "" {
		return show.Answer{List: findingList(r)}, nil
	}
	n, err := strconv.Atoi(args[0])
	verb := strings.TrimSpace(strings.Join(args[1:], " "))
	switch {
	case err != nil || n < 1 || n > len(r.Findings) || verb != "" && verb != anywayVerb && verb != fixVerb:
		return show.Answer{}, fmt.Errorf("%q is not the number of a finding (have: 1 to %d)", line, len(r.Findings))
	case verb == fixVerb:
		return show.Answer{Text: &show.Text{Title: r.Findings[n-1].Place(), Body: r.Findings[n-1].Fix, Form: show.Diff}}, nil
	}
	return openFinding(ctx, s, r, n, verb == anywayVerb)
}

// openFinding opens the file of a finding; anyway opens it even if its line is unknown.
func openFinding(ctx context.Context, s feature.Asked, r *event.ReviewFinished, n int, anyway bool) (show.Answer, error) {
	f := r.Findings[n-1]
	if r.Target != "" {
		return show.Answer{}, fmt.Errorf("%s is on %s, where your editor is not: open it there", f.Place(), r.Target)
	}
	at := Locate(ctx, fs.Local, s.Now.Info.Cwd, f)
	switch {
	case at.Path == "":
		return show.Answer{}, errors.New(at.Why)
	case at.Line == 0 && at.Why != "" && !anyway:
		return show.Answer{Question: &show.Question{
			Title: "Open " + f.File + " at its beginning?", Lines: []string{at.Why},
			Choices: []show.Deed{{Label: "open it at its beginning", Run: append(findingsOf(r), strconv.Itoa(n), anywayVerb)}},
		}}, nil
	case at.Line == 0:
		at.Why = ""
	}
	return show.Answer{Open: at.Path, Line: at.Line, Text: &show.Text{Body: at.Why}}, nil
}

// Actions on a finding.
const (
	fixVerb    = "fix"    // shows its fix, which is a diff
	anywayVerb = "anyway" // opens its file although the line is unknown
)

// findingsOf returns the command that lists the findings of a review.
func findingsOf(r *event.ReviewFinished) []string {
	return []string{"findings", "of", strconv.Itoa(r.Task)}
}

// lastReview returns the review of a task, or for -1 the last one with findings. It searches the session's file if the
// screen does not know the review.
func lastReview(s feature.Asked, task int) (*event.ReviewFinished, error) {
	r := s.Now.Review
	if r != nil && (task < 0 || r.Task == task) {
		return r, nil
	}
	r = nil
	err := s.Events(func(env event.Envelope) bool {
		if p, ok := env.Payload.(event.ReviewFinished); ok && len(p.Findings) > 0 && (task < 0 || p.Task == task) {
			r = &p
		}
		return true
	})
	if err == nil && r == nil {
		err = errors.New("no review of this session has found anything; /review reviews uncommitted changes")
	}
	return r, err
}

func findingList(r *event.ReviewFinished) *show.List {
	list := show.List{
		Title: "Findings in " + cmp.Or(r.What(), "the review"), Columns: []string{"finding", "severity", "place"}, Unfold: true,
		Usage: "/findings N opens a finding's file in your editor",
	}
	for i, f := range r.Findings {
		n := strconv.Itoa(i + 1)
		row := show.Row{
			ID: n, Cells: []string{f.Text, string(f.Severity), endOf(f.Place())}, Line: f.Note, Title: f.Place() + " · " + f.Grade(),
			More:  []string{f.Text},
			Deeds: []show.Deed{{Label: "open it in your editor", Run: append(findingsOf(r), n)}},
		}
		switch {
		case markup.IsDiff(f.Fix):
			row.Deeds = append(row.Deeds, show.Deed{Label: "show the fix", Run: append(findingsOf(r), n, fixVerb)})
		case f.Fix != "":
			row.More = append(row.More, strings.Split("fix: "+strings.TrimSpace(f.Fix), "\n")...)
		}
		if f.Note != "" {
			row.More = append(row.More, f.Note)
		}
		list.Rows = append(list.Rows, row)
	}
	return &list
}

// maxPlace limits a place in the list, in characters. The end is kept, because it has the line.
const maxPlace = 28

func endOf(place string) string {
	if r := []rune(place); len(r) > maxPlace {
		return "…" + string(r[len(r)-maxPlace+1:])
	}
	return place
}
