package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"buddy/app/show"
	"buddy/app/slash"
	"buddy/config"
	"buddy/features/feature"
	"buddy/sessions"
	"buddy/texts"
)

var listCommand = feature.Command{
	Command: slash.Command{
		Name: "worktrees", Means: []string{"git", "branches", "parallel"}, Args: "[remove NAME]", Brief: "list the git worktrees of sessions",
		Help:  "list the git worktrees that buddy made for this repository; remove NAME asks, then removes one. Its commits stay on its branch, and its changed files become a git stash",
		Early: true,
	},
	Run: feature.Verbs("/worktrees",
		feature.Verb[feature.Asked]{Name: "list", Run: list},
		feature.Verb[feature.Asked]{Name: "remove", Args: "NAME", Run: remove},
	),
}

// listTime limits the time for all worktrees of a list.
const listTime = 20 * time.Second

// listed is a worktree in the list.
type listed struct {
	tree    *Tree
	state   State
	err     error
	session sessions.Entry // the last session in the worktree
}

// all returns the worktrees of the repository around the working directory or, outside of a repository, all worktrees.
func all(ctx context.Context, c *config.Config) (found []listed, err error) {
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	cwd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	folders := []string{}
	if r, err := find(ctx, cwd, nil); err == nil {
		if r.known() {
			folders = append(folders, r.folder)
		}
	} else {
		entries, _ := os.ReadDir(Root())
		for _, e := range entries {
			folders = append(folders, filepath.Join(Root(), e.Name()))
		}
	}
	for _, folder := range folders {
		store, _, err := sessions.Dir(ownerOf(folder), sessions.Location(c.Sessions.Location))
		var entries []sessions.Entry
		if err == nil {
			entries, _ = store.List() // worktrees are listed without them
		}
		files, _ := filepath.Glob(filepath.Join(escapeGlob(folder), records, "*.json"))
		for _, file := range files {
			t := open(folder, strings.TrimSuffix(filepath.Base(file), ".json"))
			if t == nil {
				continue
			}
			one := listed{tree: t}
			for _, e := range entries {
				if texts.Below(e.Header.Cwd, t.Dir()) && e.Used.After(one.session.Used) {
					one.session = e
				}
			}
			one.look(ctx)
			found = append(found, one)
		}
	}
	slices.SortFunc(found, func(a, b listed) int { return b.tree.Made.Compare(a.tree.Made) })
	return found, nil
}

// look reads the state of a worktree.
func (l *listed) look(ctx context.Context) {
	t := l.tree
	switch {
	case !exists(t.Dir()) && !t.Ready:
		l.err = errors.New("it was not made completely")
	case !exists(t.Dir()):
		l.err = errors.New("its folder is gone")
	default:
		t.git = newGit(ctx, t.Dir(), false)
		l.state, l.err = t.state(ctx)
		if l.err == nil && !t.Ready {
			l.err = errors.New("it was not made completely")
		}
	}
}

// used reports whether a session runs in the worktree.
func (t *Tree) used() bool {
	other := &Tree{Name: t.Name, folder: t.folder}
	defer other.Release()
	return exists(t.file(".lock")) && errors.Is(other.hold(syscall.LOCK_EX|syscall.LOCK_NB), errBusy)
}

func list(ctx context.Context, a feature.Asked, _ []string) (show.Answer, error) {
	found, err := all(ctx, a.Config)
	if err != nil {
		return show.Answer{}, err
	}
	l := &show.List{
		Title: "Worktrees", Columns: []string{"name", "branch", "commits", "changed", "session", "age"}, Empty: "buddy has made no worktree here: buddy --worktree NAME makes one.",
	}
	if len(found) > 0 {
		l.Usage = "The columns: name, branch, commits, changed files, session, age. buddy --worktree NAME opens one; /worktrees remove NAME asks, then removes it."
	}
	for _, one := range found {
		t := one.tree
		commits, changed := fmt.Sprint(one.state.Commits), fmt.Sprint(len(one.state.Changed))
		more := []string{"folder: " + t.Dir(), "main checkout: " + t.Main, "started from: " + short(t.Base) + " " + t.Into}
		if one.err != nil {
			commits, changed = "?", "?"
			more = append(more, "problem: "+one.err.Error())
		} else if text := one.state.String(); text != "" {
			more = append(more, "it has: "+text)
		}
		session := "–"
		if one.session.ID != "" {
			session, _, _ = strings.Cut(one.session.ID, "-")
			more = append(more, "session: "+one.session.ID+" "+one.session.Title)
		}
		if t.used() {
			session += " (running)"
		}
		l.Rows = append(l.Rows, show.Row{
			ID: t.Name, Cells: []string{t.Name, t.Branch, commits, changed, session, texts.Age(time.Since(t.Made))}, More: more,
			Deeds: []show.Deed{{Label: "remove it", Run: []string{"worktrees", "remove", t.Name}}},
		})
	}
	return show.Answer{List: l}, nil
}

func short(commit string) string { return commit[:min(len(commit), 7)] }

// yes is the argument with which the person has answered the question.
const yes = "--yes"

// onlyClean is the argument with which a script removes only clean worktrees.
const onlyClean = "--clean"

// named returns the worktree with a name.
func named(ctx context.Context, c *config.Config, name string) (one listed, err error) {
	found, err := all(ctx, c)
	if err != nil {
		return one, err
	}
	found = slices.DeleteFunc(found, func(l listed) bool { return l.tree.Name != name })
	switch len(found) {
	case 0:
		return one, fmt.Errorf("there is no worktree %q here (buddy worktrees lists them)", name)
	case 1:
		return found[0], nil
	}
	return one, fmt.Errorf("%d repositories have a worktree %q; run this in the repository", len(found), name)
}

func remove(ctx context.Context, a feature.Asked, args []string) (show.Answer, error) {
	how := ""
	if last := args[len(args)-1]; len(args) > 1 && (last == yes || last == onlyClean) {
		how, args = last, args[:len(args)-1]
	}
	name := strings.Join(args, " ")
	one, err := named(ctx, a.Config, name)
	if err != nil {
		return show.Answer{}, err
	}
	if err := one.tree.hold(syscall.LOCK_EX | syscall.LOCK_NB); err != nil {
		return show.Answer{}, fmt.Errorf("the worktree %s is not removed: a session runs in it (buddy ls shows it)", name)
	}
	defer one.tree.Release()
	if one.err == nil {
		one.look(ctx) // under the lock
	}
	switch {
	case len(one.state.Running) > 0:
		return show.Answer{}, fmt.Errorf("the worktree %s is not removed: processes work in it: %s", name, strings.Trim(fmt.Sprint(one.state.Running), "[]"))
	case one.state.Filled:
		return show.Answer{}, fmt.Errorf("the worktree %s is not removed: git can't remove one with a filled submodule; empty it first: git -C %s submodule deinit --all, then delete %s", name, one.tree.Dir(), one.tree.git.path(ctx, "modules"))
	case how == onlyClean && (one.err != nil || !one.state.clean()):
		return show.Answer{}, fmt.Errorf("the worktree %s is not removed: it has %s; without --yes, buddy asks", name, one.what())
	case how == "":
		return one.question(), nil
	}
	said, err := one.tree.drop(ctx, one.state)
	if err != nil {
		return show.Answer{}, fmt.Errorf("the worktree %s is not removed: %w", name, err)
	}
	return show.Say(said), nil
}

func (l listed) what() string {
	if l.err != nil {
		return "a problem: " + l.err.Error()
	}
	return l.state.String()
}

// question asks whether to remove a worktree, and describes what happens to its content.
func (l listed) question() show.Answer {
	t, s := l.tree, l.state
	q := show.Question{Title: "Remove the worktree " + t.Name + "?", Choices: []show.Deed{
		{Label: "Yes, remove it", Run: []string{"worktrees", "remove", t.Name, yes}}, {Label: "No, keep it"},
	}}
	if l.err != nil {
		q.Lines = append(q.Lines, "Its state is not known: "+l.err.Error()+".")
	}
	if s.Commits > 0 || s.Branch != "" {
		q.Lines = append(q.Lines, fmt.Sprintf("Its commits stay on the branch %s (%d that the main checkout lacks).", t.Branch, s.Commits))
	}
	if n := len(s.Changed); n > 0 {
		q.Lines = append(q.Lines, fmt.Sprintf("buddy puts %s into a git stash: %s.", texts.Plural(n, "changed file"), texts.Some(s.Changed)))
	}
	if n := len(s.Ignored); n > 0 {
		q.Lines = append(q.Lines, fmt.Sprintf("buddy deletes %s: %s.", texts.Plural(n, "ignored file"), texts.Some(s.Ignored)))
	}
	if len(q.Lines) == 0 {
		q.Lines = []string{"It has no changes."}
	}
	return show.Answer{Question: &q}
}

// drop removes a worktree after the person has agreed: changed files become a stash, and commits stay on their branch.
// The caller holds the exclusive lock.
func (t *Tree) drop(ctx context.Context, s State) (said string, err error) {
	said = fmt.Sprintf("Removed the worktree %s.", t.Name)
	if !exists(t.Dir()) {
		main := newGit(ctx, t.Main, false)
		_, _ = main.run(ctx, "worktree", "prune")
		return said, errors.Join(t.dropBranch(ctx, main), t.forget())
	}
	if !t.Ready {
		main := newGit(ctx, t.Main, false)
		_, _ = main.run(ctx, "worktree", "unlock", t.Dir()) // git locks a worktree while it makes it
		_, _ = t.git.run(ctx, "reset", "--quiet")           // completes the index
		_, _ = t.git.run(ctx, "checkout-index", "--all", "--quiet", "-u")
		s.Changed, _, err = t.status(ctx)
	}
	if err == nil && len(s.Changed) > 0 {
		if _, err = t.git.run(ctx, "stash", "push", "--include-untracked", "--quiet", "-m", "buddy worktree "+t.Name); err == nil {
			said += " Its changed files are in git stash list."
		}
	}
	if err == nil {
		err = t.remove(ctx)
	}
	if err == nil && newGit(ctx, t.Main, false).ok(ctx, "show-ref", "--verify", "--quiet", "refs/heads/"+t.Branch) {
		said += fmt.Sprintf(" Its commits are on the branch %s.", t.Branch)
	}
	return said, err
}
