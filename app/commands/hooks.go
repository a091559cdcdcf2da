package commands

import (
	"context"
	"fmt"
	"path"
	"strings"
	"time"

	"buddy/agent/hooks"
	"buddy/app/show"
	"buddy/app/slash"
	"buddy/features/feature"
	"buddy/texts"
)

func init() {
	add(slash.Command{
		Name: "hooks", Args: "[NAME|open NAME]", Brief: "list this folder's hooks", Help: "list the hooks that run in this folder, each hook's last run, and hooks that were skipped",
	}, overFiles(listHooks))
}

func listHooks(_ context.Context, s *Session) (*feature.FileList, error) {
	all, left := s.Program.Options.Programs.List()
	list := s.files("hooks", show.List{
		Title: "Hooks", Columns: []string{"hook", "runs at", "from", "last run"},
		Empty: "No hooks found. docs/extensions.md explains how to write one.", Usage: "/hooks NAME shows a hook's details.",
	})
	for _, h := range all {
		list.Add(hookRow(h), h.Origin.File)
	}
	for _, p := range left {
		list.AddLeftOut(p.File, "", "skipped", p.String())
	}
	return list, nil
}

func hookRow(h hooks.Listed) show.Row {
	at := string(h.Event)
	if h.Matcher != "" {
		at += " " + h.Matcher
	}
	if h.If != "" {
		at += " if " + h.If
	}
	where := fmt.Sprintf("%s:%d", h.Origin.File, h.Line)
	r := show.Row{
		ID:    show.IDOf(at, h.What(), where, h.Origin.Part),
		Cells: []string{texts.OneLine(h.What()), at, fmt.Sprintf("%s, %s", h.Origin.Source, path.Base(where)), lastRun(h.Ran)},
		More:  []string{h.What(), "Runs at " + at + ".", lastRun(h.Ran), where},
	}
	if h.Origin.Part != "" {
		r.Cells[2], r.More[3] = fmt.Sprintf("%s, trusted as %s", h.Origin.Source, h.Origin.Part), h.Origin.File+", trusted as "+h.Origin.Part
	}
	if h.Outside {
		r.More = append(r.More, "Runs outside the sandbox, even in auto mode (\"outside\": true).")
	}
	if h.Passes {
		r.More = append(r.More, "Failures of this hook are ignored in this session.")
	}
	return r
}

func lastRun(r hooks.Run) string {
	switch {
	case r.Times == 0:
		return "not run yet"
	case r.Outcome == "":
		return "running"
	}
	text := fmt.Sprintf("%s in %s (%s)", r.Outcome, r.Took.Round(time.Millisecond), texts.Plural(r.Times, "run"))
	if r.Failure != "" && !strings.Contains(r.Outcome, r.Failure) {
		text += "; last failure: " + r.Failure
	}
	return text
}
