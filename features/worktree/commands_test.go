package worktree

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"buddy/app/show"
	"buddy/app/slash"
	"buddy/config"
	"buddy/features/feature"
)

// at runs a command in a folder.
func at(t *testing.T, dir string, part *Part, c feature.Command, args ...string) (show.Answer, error) {
	t.Helper()
	t.Chdir(dir)
	a := feature.Asked{Config: &config.Config{}, Now: slash.Now{}}
	if part != nil {
		a.Part = part
	}
	return c.Run(context.Background(), a, args)
}

// removed removes a worktree as a person who says yes.
func removed(t *testing.T, repo, name string) {
	t.Helper()
	a, err := at(t, repo, nil, listCommand, "remove", name)
	if err != nil || a.Question == nil {
		t.Fatalf("there is no question: %v %v", a, err)
	}
	if _, err := at(t, repo, nil, listCommand, a.Question.Choices[0].Run[1:]...); err != nil {
		t.Fatal(err)
	}
}

func TestTheListShowsWhatEachWorktreeHas(t *testing.T) {
	repo := world(t)
	one, two := enter(t, repo, "one"), enter(t, repo, "two")
	run(t, one.Dir(), "commit", "-q", "--allow-empty", "-m", "x")
	write(t, filepath.Join(one.Dir(), "new"), "")
	one.Release()
	a, err := at(t, filepath.Join(repo, "web"), nil, listCommand)
	if err != nil || len(a.List.Rows) != 2 {
		t.Fatalf("%v %v", a, err)
	}
	cells := map[string]string{}
	for _, r := range a.List.Rows {
		cells[r.ID] = strings.Join(r.Cells[:5], " ")
	}
	if cells["one"] != "one buddy/one 1 1 –" || cells["two"] != "two buddy/two 0 0 – (running)" {
		t.Errorf("%q", cells)
	}
	if _, err := at(t, repo, nil, listCommand, "remove", "two", onlyClean); err == nil || !strings.Contains(err.Error(), "a session runs in it") {
		t.Error(err)
	}
	two.Release()
	if _, err := at(t, repo, nil, listCommand, "remove", "one", onlyClean); err == nil || !strings.Contains(err.Error(), "it has 1 commit, 1 changed file") {
		t.Error(err)
	}
	if _, err := at(t, repo, nil, listCommand, "remove", "two", onlyClean); err != nil {
		t.Error(err)
	}
	if _, err := at(t, repo, nil, listCommand, "remove", "three"); err == nil {
		t.Error("an unknown name is no error")
	}
}

func TestARemovalAfterTheQuestionLosesNothing(t *testing.T) {
	repo := world(t)
	tree := enter(t, repo, "one")
	run(t, tree.Dir(), "commit", "-q", "--allow-empty", "-m", "work")
	write(t, filepath.Join(tree.Dir(), "tax.go"), "changed")
	write(t, filepath.Join(tree.Dir(), "new"), "new")
	tree.Release()
	removed(t, repo, "one")
	if exists(tree.Dir()) {
		t.Error("it is still there")
	}
	if got := run(t, repo, "log", "-1", "--format=%s", "buddy/one"); got != "work" {
		t.Errorf("its commit is %q", got)
	}
	if got := run(t, repo, "stash", "show", "--include-untracked", "--name-only", "stash@{0}"); !strings.Contains(got, "tax.go") || !strings.Contains(got, "new") {
		t.Errorf("the stash has %q", got)
	}
}

// part returns the part of a session in a worktree.
func part(tree *Tree) *Part { return &Part{tree: tree, within: tree.Dir()} }

func commit(t *testing.T, dir, file, text, subject string) {
	t.Helper()
	write(t, filepath.Join(dir, file), text)
	run(t, dir, "add", ".")
	run(t, dir, "commit", "-qm", subject)
}

func TestMerge(t *testing.T) {
	for name, c := range map[string]struct {
		how    string
		before func(t *testing.T, repo, dir string)
		want   string // in the question or the error
		refuse bool
	}{
		"fast-forward":      {how: byMerge, before: func(*testing.T, string, string) {}, want: "No conflicts."},
		"merge":             {how: byMerge, before: func(t *testing.T, repo, _ string) { commit(t, repo, "other", "x", "other") }, want: "No conflicts."},
		"rebase":            {how: byRebase, before: func(t *testing.T, repo, _ string) { commit(t, repo, "other", "x", "other") }, want: "No conflicts."},
		"untouched changes": {how: byMerge, before: func(t *testing.T, repo, _ string) { write(t, filepath.Join(repo, "web", "page.html"), "mine") }, want: "No conflicts."},
		"uncommitted":       {how: byMerge, before: func(t *testing.T, _, dir string) { write(t, filepath.Join(dir, "later"), "x") }, want: "Not included: 1 changed file is not committed"},
		"conflict":          {before: func(t *testing.T, repo, _ string) { commit(t, repo, "tax.go", "package other\n", "other") }, want: "Conflicts in: tax.go. Nothing was changed."},
		"touched changes":   {before: func(t *testing.T, repo, _ string) { write(t, filepath.Join(repo, "tax.go"), "mine") }, want: "uncommitted changes in files that the merge would change: tax.go", refuse: true},
		"untracked in place": {before: func(t *testing.T, repo, dir string) {
			commit(t, dir, "n/new", "x", "new")
			write(t, filepath.Join(repo, "n", "new"), "mine")
		}, want: "would change: n/", refuse: true},
		"another branch": {before: func(t *testing.T, repo, _ string) { run(t, repo, "switch", "-qc", "side") }, want: "is on the branch side", refuse: true},
		"in progress":    {before: func(t *testing.T, repo, _ string) { write(t, filepath.Join(repo, ".git", "MERGE_HEAD"), "x") }, want: "a merge is in progress", refuse: true},
		"a bisection":    {before: func(t *testing.T, repo, _ string) { run(t, repo, "bisect", "start") }, want: "a bisection is in progress", refuse: true},
	} {
		t.Run(name, func(t *testing.T) {
			repo := world(t)
			tree := enter(t, repo, "one")
			commit(t, tree.Dir(), "tax.go", "package tax\n", "rename \x1b[31mit")
			c.before(t, repo, tree.Dir())
			old, status := run(t, repo, "rev-parse", "HEAD"), run(t, repo, "status", "--porcelain")
			a, err := at(t, tree.Dir(), part(tree), mergeCommand)
			if c.refuse {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v, want %q", err, c.want)
				}
			} else if err != nil || a.Question == nil || !strings.Contains(strings.Join(a.Question.Lines, "\n"), c.want) {
				t.Fatalf("%+v %v, want %q", a.Question, err, c.want)
			}
			if now := run(t, repo, "rev-parse", "HEAD"); now != old || run(t, repo, "status", "--porcelain") != status {
				t.Error("the question changed the main checkout")
			}
			if c.how == "" {
				for _, how := range []string{byMerge, byRebase} {
					if _, err := at(t, tree.Dir(), part(tree), mergeCommand, how); err == nil {
						t.Errorf("%s merged", how)
					}
				}
				if now := run(t, repo, "rev-parse", "HEAD"); now != old || run(t, repo, "status", "--porcelain") != status {
					t.Error("a refused merge changed the main checkout")
				}
				return
			}
			a, err = at(t, tree.Dir(), part(tree), mergeCommand, c.how)
			if err != nil || !strings.Contains(a.Text.Body, "it was at "+old[:7]) {
				t.Fatalf("%v %v", a, err)
			}
			if text, _ := os.ReadFile(filepath.Join(repo, "tax.go")); string(text) != "package tax\n" {
				t.Errorf("the main checkout has %q", text)
			}
			if now := run(t, repo, "status", "--porcelain"); now != status {
				t.Errorf("the main checkout has changes: %s", now)
			}
			run(t, repo, "reset", "--keep", old)
			if now := run(t, repo, "status", "--porcelain"); now != status {
				t.Errorf("after the reset it has: %s", now)
			}
		})
	}
}

func TestAMergedWorktreeIsRemovedAtTheEnd(t *testing.T) {
	repo := world(t)
	tree := enter(t, repo, "one")
	commit(t, tree.Dir(), "tax.go", "package tax\n", "rename")
	if _, err := at(t, tree.Dir(), part(tree), mergeCommand, byMerge); err != nil {
		t.Fatal(err)
	}
	t.Chdir(repo)
	if line := leave(t, tree); !strings.Contains(line, "was removed") {
		t.Error(line)
	}
	clean(t, repo)
	if _, err := at(t, repo, nil, mergeCommand); err == nil {
		t.Error("/merge works without a worktree")
	}
}

func TestAHostileRepositoryRunsNothingDuringAMerge(t *testing.T) {
	for _, trusted := range []bool{false, true} {
		repo := world(t)
		tree := enter(t, repo, "one")
		commit(t, tree.Dir(), "web/page.html", "<b>\n", "page")
		commit(t, repo, "other", "x", "other")
		mark := programs(t, repo)
		p := part(tree)
		p.trusted = trusted
		_, err := at(t, tree.Dir(), p, mergeCommand, byMerge)
		ran, _ := os.ReadFile(mark)
		if !trusted && (err != nil || len(ran) > 0) {
			t.Errorf("%v, and the repository ran: %s", err, ran)
		}
		if trusted && len(ran) == 0 {
			t.Error("the control ran nothing")
		}
	}
}

func TestADriverOfAHostileRepositoryIsAConflict(t *testing.T) {
	repo := world(t)
	write(t, filepath.Join(repo, "tax.go"), "a\nb\nc\nd\ne\nf\n")
	run(t, repo, "commit", "-qam", "lines")
	tree := enter(t, repo, "one")
	commit(t, tree.Dir(), "tax.go", "A\nb\nc\nd\ne\nf\n", "first")
	commit(t, repo, "tax.go", "a\nb\nc\nd\ne\nF\n", "last")
	write(t, filepath.Join(repo, ".git", "info", "attributes"), "*.go merge=evil\n")
	mark := filepath.Join(filepath.Dir(repo), "ran")
	run(t, repo, "config", "merge.evil.driver", "touch '"+mark+"'; cp %B %A")
	a, err := at(t, tree.Dir(), part(tree), mergeCommand)
	if err != nil || !strings.Contains(a.Question.Title, "conflicts with main") {
		t.Errorf("%v %v", a.Question, err)
	}
	if exists(mark) {
		t.Error("the driver ran")
	}
}

func TestDiffToBaseHasCommitsChangesAndNewFiles(t *testing.T) {
	repo := world(t)
	tree := enter(t, repo, "one")
	commit(t, tree.Dir(), "tax.go", "package tax\n", "rename")
	write(t, filepath.Join(tree.Dir(), "web", "page.html"), "<b>\n")
	write(t, filepath.Join(tree.Dir(), "new"), "new\n")
	diff, files, err := part(tree).DiffToBase(context.Background())
	if err != nil || files != 3 {
		t.Errorf("%d files, %v", files, err)
	}
	for _, want := range []string{"+package tax", "+<b>", "+new"} {
		if !strings.Contains(diff, want) {
			t.Errorf("%q is missing in\n%s", want, diff)
		}
	}
}
