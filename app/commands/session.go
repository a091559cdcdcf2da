package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"buddy/agent/event"
	"buddy/app/compose"
	"buddy/app/show"
	"buddy/app/slash"
	"buddy/features/feature"
	"buddy/sessions"
	"buddy/views/markup"
)

func init() {
	add(slash.Command{
		Name: "session", Args: "[list|new|resume ID|rename TITLE|search TEXT|fork [N]]", Brief: "resume, fork, rename or search sessions", Early: true, Use: 2,
		Means: []string{"fork", "branch", "history", "continue", "sessions"},
		Help:  "resume, fork, rename, delete, export or search this folder's sessions; without a verb, choose from a list",
	}, feature.Verbs(
		"session",
		verb{Name: "list", Run: listSessions},
		verb{Name: "new", Run: newSession},
		verb{Name: "resume", Args: "ID", Run: resumeSession},
		verb{Name: "rename", Args: "[TITLE]", Run: renameSession},
		verb{Name: "search", Args: "TEXT", Run: searchSessions},
		verb{Name: "fork", Args: "[N]", Run: forkSession},
		verb{Name: "export", Args: "ID", Run: exportSession},
	))
	add(slash.Command{
		Name: "clear", Brief: "start a new conversation", Early: true, Use: 3, Means: []string{"reset"},
		Help: "start a new conversation; this one stays saved",
	}, newSession)
	add(slash.Command{
		Name: "export", Args: "[md|html|json] [FILE] [--force]", Brief: "export this session to a file", Early: true, Means: []string{"share", "save"},
		Help: "export this session to a file that you can share; --force replaces an existing file",
	}, exportThis)
}

const (
	maxListed  = 20               // sessions that a list shows
	maxHits    = 20               // shown by a search
	searchTime = 20 * time.Second // limit of a search
)

// listSessions lists the sessions of this folder, the latest first.
func listSessions(_ context.Context, s *Session, _ []string) (show.Answer, error) {
	entries, err := s.Setup.Store.List()
	list := show.List{
		Title: fmt.Sprintf("Sessions of this folder (%d)", len(entries)), Columns: []string{"title", "used"},
		Empty: "No saved sessions in this folder yet. Your first prompt creates one.", Usage: "/session resume N opens a session.",
	}
	for _, e := range entries[:min(len(entries), maxListed)] {
		list.Rows = append(list.Rows, show.Row{
			ID: e.ID, Cells: []string{cmp.Or(e.Problem, e.Title), e.Used.Format("2006-01-02 15:04")}, Mark: e.ID == s.Setup.ID,
			Deeds: []show.Deed{{Label: "resume it", Run: []string{"session", "resume", e.ID}, Closes: true}},
		})
	}
	return show.Answer{List: &list}, err
}

func newSession(context.Context, *Session, []string) (show.Answer, error) {
	return show.Answer{Leave: &show.Leave{}}, nil
}

// resumeSession switches to another session.
func resumeSession(_ context.Context, s *Session, args []string) (show.Answer, error) {
	found, err := s.Setup.FindHere(textOf(args))
	if err == nil && found == s.Setup.ID {
		err = fmt.Errorf("%s is the current session", found)
	}
	return show.Answer{Leave: &show.Leave{Session: found}}, err
}

func renameSession(_ context.Context, s *Session, args []string) (show.Answer, error) {
	title := textOf(args)
	s.Send(event.Rename{Title: title})
	if title == "" {
		return show.Say("title removed: the first prompt is the title again"), nil
	}
	return show.Say("session renamed: " + title), nil
}

// forkSession continues in a copy of the session up to an exchange, by default the last one that ended.
func forkSession(_ context.Context, s *Session, args []string) (show.Answer, error) {
	n := 0
	if len(args) > 0 {
		var err error
		if n, err = strconv.Atoi(strings.TrimPrefix(textOf(args), "#")); err != nil || n < 1 {
			return show.Answer{}, fmt.Errorf("%q is not an exchange's number (the first is 1; for the numbers, run: buddy sessions show ID)", textOf(args))
		}
	}
	if s.Setup.Current() == "" {
		return show.Answer{}, errors.New("this session isn't saved yet: send a first prompt")
	}
	id, _, err := s.Setup.Store.Fork(s.Setup.ID, n)
	return show.Answer{Leave: &show.Leave{Session: id}}, compose.TrustFirst(s.Setup.ID, err)
}

// searchSessions finds text in the sessions of this folder.
func searchSessions(ctx context.Context, s *Session, args []string) (show.Answer, error) {
	text := textOf(args)
	ctx, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	var lines []string
	n, last := 0, ""
	err := s.Setup.Store.Search(ctx, text, func(h sessions.Hit) bool {
		if n++; n > maxHits {
			return false
		}
		if h.Entry.ID != last {
			mark := " "
			if last = h.Entry.ID; last == s.Setup.ID {
				mark = "*"
			}
			lines = append(lines, fmt.Sprintf("%s %s  %s", mark, last, markup.Shorten(h.Entry.Title, 50)))
		}
		lines = append(lines, fmt.Sprintf("    %s  %s", time.UnixMilli(h.Envelope.Time).Format("2006-01-02 15:04"), h.Text))
		return true
	})
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		lines = append(lines, fmt.Sprintf("search stopped after %s", searchTime))
	case err != nil:
		return show.Answer{}, err
	case n == 0:
		return show.Say(fmt.Sprintf("no session in this folder contains %q", text)), nil
	case n > maxHits:
		lines = append(lines, "more matches exist; buddy sessions search shows all")
	}
	return show.Say(strings.Join(lines, "\n")), nil
}

// exportFormats maps the names of formats to formats.
var exportFormats = map[string]sessions.ExportFormat{
	"md": sessions.Markdown, "markdown": sessions.Markdown, "html": sessions.HTML, "json": sessions.JSON,
}

// exportWish reads the arguments of an export: a format, a file, or both, and whether to replace an existing file.
func exportWish(words []string) (as sessions.ExportFormat, file string, force bool, err error) {
	as = sessions.Markdown
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { force = force || w == "--force"; return w == "--force" })
	if textOf(words) == "" {
		return as, "", force, nil
	}
	if f, ok := exportFormats[strings.ToLower(words[0])]; ok {
		return f, textOf(words[1:]), force, nil
	}
	file = textOf(words)
	i := strings.LastIndexByte(file, '.')
	if i < 0 {
		return "", "", false, fmt.Errorf("unknown argument %q (use md, html, json, or a file name such as session.md)", words[0])
	}
	if f := sessions.ExportFormat(file[i+1:]); slices.Contains(sessions.ExportFormats, f) {
		as = f
	}
	return as, file, force, nil
}

// exportThis writes this session to a file.
func exportThis(_ context.Context, s *Session, args []string) (show.Answer, error) {
	as, file, force, err := exportWish(args)
	if err != nil {
		return show.Answer{}, err
	}
	return exported(s, s.Setup.ID, as, file, force)
}

// exportSession writes any session to a file named after the session.
func exportSession(_ context.Context, s *Session, args []string) (show.Answer, error) {
	return exported(s, textOf(args), sessions.Markdown, "", false)
}

func exported(s *Session, id string, as sessions.ExportFormat, file string, force bool) (show.Answer, error) {
	text, err := export(s.Setup, id, as, file, force)
	return show.Say(text), err
}
