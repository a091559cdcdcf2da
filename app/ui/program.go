package ui

import (
	"fmt"
	"slices"
	"strings"

	"buddy/agent/event"
	"buddy/sessions"
)

// showTarget looks in the background, because a target that is away takes its time. With
// the name of one it makes that the current.
func showTarget(u *UI, args string) error {
	names := u.deps.Catalog.Targets
	switch {
	case args != "" && !slices.Contains(names, args):
		return fmt.Errorf("unknown target %q (have: %s)", args, strings.Join(names, ", "))
	case args != "":
		u.deps.Send(event.SwitchTarget{Name: args})
		return nil
	}
	u.deps.Background(func() func() {
		text := u.deps.Catalog.Target()
		return func() { u.deps.Catalog.Notice(text) }
	})
	return nil
}

// doctorHere reports on the screen.
func doctorHere(u *UI, _ string) error {
	look, profile := u.deps.Catalog.Doctor, u.state.Info.Event.Profile
	u.hint("", "looking …")
	u.deps.Background(func() func() {
		text := look(profile)
		return func() {
			u.hint("", "")
			u.deps.Catalog.Notice(strings.TrimRight(text, "\n"))
		}
	})
	return nil
}

// trustHere trusts the folder with its settings as they were when the session began, and
// begins the session anew with them.
func trustHere(u *UI, _ string) error {
	if t := u.state.Running(); t != nil {
		return fmt.Errorf("task #%d runs; cancel it first (/kill)", t.ID)
	}
	text, err := u.deps.Catalog.Trust()
	if err != nil {
		return err
	}
	if text != "" {
		u.deps.Catalog.Notice(text)
		return nil
	}
	return u.change(u.deps.Catalog.Current())
}

// exportFormats are how people name formats.
var exportFormats = map[string]sessions.ExportFormat{
	"md": sessions.Markdown, "markdown": sessions.Markdown, "html": sessions.HTML, "json": sessions.JSON,
}

// exportSession writes this session into a file.
func exportSession(u *UI, args string) error {
	as, file := sessions.Markdown, args
	first, rest, _ := strings.Cut(args, " ")
	if f, ok := exportFormats[strings.ToLower(first)]; ok {
		as, file = f, strings.TrimSpace(rest)
	} else if i := strings.LastIndexByte(args, '.'); i >= 0 {
		if f := sessions.ExportFormat(args[i+1:]); slices.Contains(sessions.ExportFormats, f) {
			as = f
		}
	} else if args != "" {
		return fmt.Errorf("%q is not known (have: md, html, json, or a file such as session.md)", first)
	}
	id := u.deps.Catalog.Current()
	u.deps.Background(func() func() {
		path, err := u.deps.Catalog.Export(id, as, file)
		return func() {
			if err != nil {
				u.hint("", "/export: "+err.Error())
				return
			}
			u.deps.Catalog.Notice("written: " + path + " (keys and what looks like one are taken out; read it before you share it)")
		}
	})
	return nil
}
