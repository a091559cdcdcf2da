package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"buddy/agent/event"
	"buddy/app/compose"
	"buddy/app/exit"
	"buddy/app/fuzzy"
	"buddy/sessions"
)

// sessionsCLI holds what the commands of `buddy sessions` share.
type sessionsCLI struct {
	*cli
	all   bool
	limit int
}

func (c *cli) sessionsCommand() *cobra.Command {
	s, search := &sessionsCLI{cli: c}, &sessionsCLI{cli: c} // with different limits
	return group(&cobra.Command{
		Use:   "sessions",
		Short: "list, search, export and delete sessions",
		Long: "sessions works on this project's saved sessions in ~/.local/state/buddy/projects.\n" +
			"You can shorten an ID to its first characters, as long as they are unique; last is the session used last.",
		Example: "  buddy sessions list --all\n  buddy sessions search \"connection refused\"\n  buddy sessions export last --format html --output session.html",
	}, s.listCommand(), s.showCommand(), search.searchCommand(), s.exportCommand(), s.importCommand(),
		s.repairCommand(), s.renameCommand(), s.removeCommand(), s.pathCommand(), s.trustCommand(), s.adoptCommand())
}

// stores returns the stores of this project's sessions, or with --all the stores of every project.
func (s *sessionsCLI) stores() ([]sessions.Store, error) {
	if s.all {
		return sessions.Folders()
	}
	store, err := compose.Sessions()
	return append([]sessions.Store{store}, store.Others()...), err
}

// meant returns the session of this folder that an argument names.
func meant(arg string) (sessions.Store, string, error) {
	store, err := compose.Sessions()
	if err != nil {
		return store, "", err
	}
	return compose.FindSession(store, arg)
}

// ofSession makes a command take the name of a session as its first argument, and call do with that session.
func ofSession(c *cobra.Command, do func(store sessions.Store, id string, args []string) error) *cobra.Command {
	if c.Args == nil {
		c.Args = cobra.ExactArgs(1)
	}
	c.ValidArgsFunction = completeSessions
	c.RunE = func(_ *cobra.Command, args []string) error {
		store, id, err := meant(args[0])
		if err == nil {
			err = do(store, id, args)
		}
		return exit.Failure(err)
	}
	return c
}

// row is a session as `list --json` prints it.
type row struct {
	ID         string `json:"id"`
	Title      string `json:"title"`
	Used       int64  `json:"used_unix_ms"`
	Created    int64  `json:"created_unix_ms"`
	Bytes      int64  `json:"bytes"`
	Cwd        string `json:"cwd"`
	Project    string `json:"project,omitempty"` // the folder whose sessions are listed together
	Model      string `json:"model"`
	ForkedFrom string `json:"forked_from,omitempty"`
	By         string `json:"by,omitempty"` // exec for a session without a user
	Path       string `json:"path"`
	Problem    string `json:"problem,omitempty"` // why it can't be opened
}

func rowOf(store sessions.Store, e sessions.Entry) row {
	return row{
		ID: e.ID, Title: e.Title, Used: e.Used.UnixMilli(), Created: e.Header.Created, Bytes: e.Size,
		Cwd: e.Header.Cwd, Project: sessions.Project(store), Model: e.Header.Model, ForkedFrom: e.Header.ForkedFrom, By: e.Header.By, Path: store.File(e.ID), Problem: e.Problem,
	}
}

func (s *sessionsCLI) listCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "list [FILTER]",
		Short:   "list sessions, last used first",
		Long:    "list shows sessions, last used first; the sessions of buddy exec are at the end. --all groups them by\nproject. A FILTER keeps sessions whose titles contain its letters in order, best match first.\nSessions that can't be opened are listed with the reason.",
		Example: "  buddy sessions list\n  buddy sessions list nginx --all\n  buddy sessions list --json",
		Args:    cobra.MaximumNArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return s.list(strings.Join(args, "")) },
	}
	return s.listing(c, "list the sessions of all projects", 0, "list at most this `number`; 0 means all")
}

// listing adds the flags of a command that prints many lines.
func (s *sessionsCLI) listing(c *cobra.Command, all string, limit int, most string) *cobra.Command {
	s.jsonFlag(c, "print one JSON object per line")
	c.Flags().BoolVar(&s.all, "all", false, all)
	c.Flags().IntVarP(&s.limit, "limit", "n", limit, most)
	return c
}

// none returns the message for an empty list.
func (s *sessionsCLI) none(filter string) string {
	where, why := "this project", "is saved yet; your first prompt creates one"
	if s.all {
		where = "any project"
	}
	if filter != "" {
		why = fmt.Sprintf("has a title that matches %q", filter)
	}
	return fmt.Sprintf("no session of %s %s", where, why)
}

// listed is a session that matches a filter.
type listed struct {
	sessions.Entry
	store sessions.Store
	score int
}

func (s *sessionsCLI) list(filter string) error {
	stores, err := s.stores()
	if err != nil {
		return exit.Failure(err)
	}
	var all []listed
	for _, store := range stores {
		entries, err := store.List()
		if err != nil {
			return exit.Failure(err)
		}
		all = slices.Grow(all, len(entries))
		for _, e := range entries {
			score, ok := fuzzy.Words(e.Title, filter)
			if ok || strings.HasPrefix(e.ID, filter) {
				all = append(all, listed{e, store, score})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b listed) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.Header.By, b.Header.By), b.Used.Compare(a.Used))
	})
	if s.limit > 0 {
		all = all[:min(len(all), s.limit)]
	}
	if len(all) == 0 && !s.json {
		s.hint("%s", s.none(filter))
		if from := sessions.MovedFrom(stores[0]); !s.all && from != "" {
			s.hint("%s", compose.MovedHint(from))
		}
	}
	return exit.Failure(buffered(s.cli, func() error { return s.printRows(all) }))
}

// printRows prints the listed sessions, with --all by project.
func (s *sessionsCLI) printRows(all []listed) error {
	if s.all {
		byProject(all)
	}
	project := ""
	for _, l := range all {
		if p := l.project(); s.all && !s.json && p != project {
			project = p
			if err := s.print("%s", project); err != nil {
				return err
			}
		}
		if err := s.printRow(l, project); err != nil {
			return err
		}
	}
	return nil
}

// project returns the folder that a session is listed under.
func (l listed) project() string { return cmp.Or(sessions.Project(l.store), l.Header.Cwd) }

// byProject groups sessions by project, in the order of their first sessions.
func byProject(all []listed) {
	first := map[string]int{}
	for i, l := range all {
		if _, ok := first[l.project()]; !ok {
			first[l.project()] = i
		}
	}
	slices.SortStableFunc(all, func(a, b listed) int { return cmp.Compare(first[a.project()], first[b.project()]) })
}

// printRow prints a listed session, with --all below its project.
func (s *sessionsCLI) printRow(l listed, project string) error {
	if s.json {
		return s.encode(rowOf(l.store, l.Entry))
	}
	if by := l.Header.By; by != "" {
		l.Title = by + " · " + l.Title
	}
	if l.Problem != "" {
		l.Title = strings.TrimSuffix("can't be opened: "+l.Problem+" · "+l.Title, " · ")
	}
	line := fmt.Sprintf("%s  %s  %s", l.ID, l.Used.Format("2006-01-02 15:04"), l.Title)
	if s.all {
		line = "  " + line
		if l.Header.Cwd != project && l.Problem == "" {
			line += "  " + l.Header.Cwd
		}
	}
	return s.print("%s", line)
}

func (s *sessionsCLI) showCommand() *cobra.Command {
	c := ofSession(&cobra.Command{
		Use:     "show ID",
		Short:   "show a session's details and its exchanges",
		Long:    "show prints a session's details and its exchanges, with the numbers for resume --fork --at.",
		Example: "  buddy sessions show last\n  buddy sessions show 7f3a --json",
	}, s.show)
	s.jsonFlag(c, "print one JSON object")
	return c
}

func (s *sessionsCLI) show(store sessions.Store, id string, _ []string) error {
	entries, err := store.List()
	if err != nil {
		return err
	}
	r := row{ID: id, Path: store.File(id)}
	if i := slices.IndexFunc(entries, func(e sessions.Entry) bool { return e.ID == id }); i >= 0 {
		r = rowOf(store, entries[i])
	}
	j, err := store.View(id)
	if err != nil {
		return err
	}
	defer func() { _ = j.Close() }()
	exchanges, err := j.Exchanges()
	if err != nil {
		return err
	}
	if s.json {
		return s.encode(struct {
			row
			Exchanges []sessions.Exchange `json:"exchanges"`
		}{r, exchanges})
	}
	lines := []string{
		"title    " + r.Title, "id       " + r.ID, "created  " + time.UnixMilli(r.Created).Format("2006-01-02 15:04"),
		"used     " + time.UnixMilli(r.Used).Format("2006-01-02 15:04"), "folder   " + r.Cwd, "model    " + r.Model,
		"size     " + strconv.FormatInt((r.Bytes+1023)/1024, 10) + " KB", "file     " + r.Path,
	}
	if r.ForkedFrom != "" {
		lines = append(lines, "fork of  "+r.ForkedFrom)
	}
	if !j.Info().Trusted {
		lines = append(lines, "note     "+compose.TrustFirst(id, sessions.ErrUntrusted).Error())
	}
	lines = append(lines, "")
	for _, x := range exchanges {
		lines = append(lines, fmt.Sprintf("%4d  %s  %s  %s", x.Number, time.UnixMilli(x.Time).Format("2006-01-02 15:04"), x.Prompt, cmp.Or(string(x.Outcome), "not finished")))
	}
	return s.print("%s", strings.Join(lines, "\n"))
}

func (s *sessionsCLI) searchCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "search TEXT",
		Short:   "search messages, commands and output for text",
		Long:    "search finds text in prompts, answers, commands and their output, including the parts\nof long outputs that the model did not get. Case matters only if TEXT has a capital.\nIt exits with 1 if it finds nothing.",
		Example: "  buddy sessions search \"connection refused\"\n  buddy sessions search TODO --all --json",
		Args:    cobra.ExactArgs(1),
		RunE:    func(c *cobra.Command, args []string) error { return s.search(c, args[0]) },
	}
	return s.listing(c, "search the sessions of all folders", 50, "show at most this `number` of matches; 0 means all")
}

// hitRow is a hit as `search --json` prints it.
type hitRow struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Seq   uint64 `json:"seq"`
	Time  int64  `json:"ts_unix_ms"`
	Type  string `json:"type"`
	Text  string `json:"text"`
	Path  string `json:"path"`
}

func (s *sessionsCLI) search(c *cobra.Command, text string) error {
	if strings.TrimSpace(text) == "" {
		return exit.Usage("the search text is empty")
	}
	stores, err := s.stores()
	if err != nil {
		return exit.Failure(err)
	}
	n, last := 0, ""
	for _, store := range stores {
		damaged, err := sessions.Damaged(store)
		if err != nil {
			return exit.Failure(err)
		}
		hintDamaged(s.cli, damaged)
		var broken error
		err = store.Search(c.Context(), text, func(h sessions.Hit) bool {
			n++
			if s.limit > 0 && n > s.limit {
				return false
			}
			broken = s.hit(store, h, &last)
			return broken == nil
		})
		if err = errors.Join(err, broken); err != nil {
			return exit.Failure(err)
		}
		if s.limit > 0 && n > s.limit {
			s.hint("more matches exist (--limit 0 shows all)")
			return nil
		}
	}
	if n == 0 {
		return exit.Error{Code: exit.Failed, Text: fmt.Sprintf("no session contains %q", text)}
	}
	return nil
}

// hit prints one hit, under the title of its session.
func (s *sessionsCLI) hit(store sessions.Store, h sessions.Hit, last *string) error {
	if s.json {
		return s.encode(hitRow{h.Entry.ID, h.Entry.Title, h.Envelope.Seq, h.Envelope.Time, event.Type(h.Envelope.Payload), h.Text, store.File(h.Entry.ID)})
	}
	if *last != h.Entry.ID {
		*last = h.Entry.ID
		where := ""
		if s.all {
			where = "  " + h.Entry.Header.Cwd
		}
		if err := s.print("%s  %s%s", h.Entry.ID, h.Entry.Title, where); err != nil {
			return err
		}
	}
	return s.print("  %s  %s", time.UnixMilli(h.Envelope.Time).Format("2006-01-02 15:04"), h.Text)
}

func (s *sessionsCLI) renameCommand() *cobra.Command {
	return ofSession(&cobra.Command{
		Use:     "rename ID TITLE",
		Short:   "rename a session",
		Long:    "rename gives a session a title of at most 60 characters. An empty title shows the first prompt again.",
		Example: "  buddy sessions rename last \"nginx fails after upgrade\"",
		Args:    cobra.ExactArgs(2),
	}, func(store sessions.Store, id string, args []string) error {
		return compose.TrustFirst(id, store.Rename(id, args[1]))
	})
}

func (s *sessionsCLI) removeCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "rm ID...",
		Short:   "move sessions to the trash",
		Long:    "rm moves sessions and all their files to a trash folder and prints its path. buddy deletes them\nafter 30 days; until then, you can move the files back.",
		Example: "  buddy sessions rm 7f3a",
		Args:    cobra.MinimumNArgs(1),

		ValidArgsFunction: func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return sessionNames(), inOrder
		},
		RunE: func(_ *cobra.Command, args []string) error {
			for _, arg := range args {
				store, id, err := meant(arg)
				if err != nil {
					return exit.Failure(err)
				}
				folder, err := store.Remove(id)
				if err == nil {
					err = s.print("%s", folder)
				}
				if err != nil {
					return exit.Failure(err)
				}
			}
			return nil
		},
	}
}

func (s *sessionsCLI) pathCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "path [ID]",
		Short:   "print the path of a session's file, or of the sessions folder",
		Example: "  buddy sessions path last\n  grep -c '\"type\":\"error\"' \"$(buddy sessions path last)\"",
		Args:    cobra.MaximumNArgs(1),

		ValidArgsFunction: completeSessions,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				store, err := compose.Sessions()
				if err != nil {
					return exit.Failure(err)
				}
				return s.print("%s", store.Path())
			}
			store, id, err := meant(args[0])
			if err != nil {
				return exit.Failure(err)
			}
			return s.print("%s", store.File(id))
		},
	}
}
