package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"buddy/app/show"
	"buddy/app/slash"
	"buddy/features/feature"
	"buddy/texts"
)

var mergeCommand = feature.Command{
	Command: slash.Command{
		Name: "merge", Means: []string{"rebase", "bring back"}, Brief: "bring a worktree's commits to the main checkout",
		Help: "in a session with --worktree: show the commits and files, predict conflicts, and ask whether to merge them into the branch of the main checkout",
	},
	Run: mergeRun,
}

// The answers to the question of /merge.
const (
	byMerge  = "now"
	byRebase = "rebase"
)

func mergeRun(ctx context.Context, a feature.Asked, args []string) (show.Answer, error) {
	p, ok := a.Part.(*Part)
	if !ok {
		return show.Answer{}, errors.New("/merge works in a session with --worktree; this session is not in a worktree that buddy made")
	}
	if len(args) > 1 || len(args) == 1 && args[0] != byMerge && args[0] != byRebase {
		return show.Answer{}, fmt.Errorf("unknown arguments %q (have: none, %s, %s)", strings.Join(args, " "), byMerge, byRebase)
	}
	if a.Now.Busy != "" {
		return show.Answer{}, errors.New("the agent is working; wait until it is done, or stop it, then use /merge")
	}
	p.tree.git = newGit(ctx, p.tree.Dir(), p.trusted)
	m := merging{Tree: p.tree, main: p.tree.git.in(p.tree.Main)}
	if err := m.look(ctx); err != nil {
		return show.Answer{}, err
	}
	if len(args) == 0 {
		return m.question(ctx), nil
	}
	said, err := m.act(ctx, args[0])
	return show.Say(said), err
}

// merging is an attempt to bring the commits of a worktree to the main checkout.
type merging struct {
	*Tree
	main      *git
	old, tip  string   // commits of the main checkout's branch and of the worktree
	commits   []string // lines, the newest first
	files     []string // that the merge changes in the main checkout
	changed   []string // uncommitted files in the worktree
	conflicts []string
	predicted bool // conflicts is known
	above     bool // the main checkout's branch is an ancestor of the worktree's, so it only has to move
}

const (
	mergeShown    = 20   // commits in the question
	mergeMost     = 1000 // commits that are read
	mergePredicts = "2.38"
)

// look determines what can be merged. The error explains why nothing can be merged.
func (m *merging) look(ctx context.Context) (err error) {
	if !exists(m.Dir()) {
		return fmt.Errorf("the folder of the worktree %s is gone; nothing can be merged from it", m.Name)
	}
	if err := m.mainReady(ctx); err != nil {
		return err
	}
	if on, _ := m.git.line(ctx, "symbolic-ref", "--short", "-q", "HEAD"); on != m.Branch {
		return fmt.Errorf("the worktree is not on its branch %s; run in it: git switch %s", m.Branch, m.Branch)
	}
	if doing := inProgress(ctx, m.git); doing != "" {
		return fmt.Errorf("%s is in progress in the worktree; finish it first", doing)
	}
	if m.old, err = m.main.line(ctx, "rev-parse", "--verify", "HEAD^{commit}"); err != nil {
		return err
	}
	if m.tip, err = m.git.line(ctx, "rev-parse", "--verify", "HEAD^{commit}"); err != nil {
		return err
	}
	if m.changed, _, err = m.status(ctx); err != nil {
		return err
	}
	log, err := m.git.line(ctx, "rev-list", "--max-count="+strconv.Itoa(mergeMost), "--no-commit-header", "--format=%h %s", m.old+".."+m.tip)
	if err != nil {
		return err
	}
	if log == "" {
		text := fmt.Sprintf("the branch %s has no commit that %s lacks", m.Branch, m.Into)
		if n := len(m.changed); n > 0 {
			text += fmt.Sprintf("; %s not committed: commit first", isOrAre(n, "changed file"))
		}
		return errors.New(text)
	}
	m.commits = strings.Split(log, "\n")
	if err := m.predict(ctx); err != nil {
		return err
	}
	return m.touches(ctx)
}

func isOrAre(n int, one string) string {
	if n == 1 {
		return "1 " + one + " is"
	}
	return texts.Plural(n, one) + " are"
}

// mainReady returns why nothing can be merged into the main checkout now.
func (m *merging) mainReady(ctx context.Context) error {
	if !exists(m.Main) {
		return fmt.Errorf("the main checkout %s is gone; if it was moved, run there: buddy --worktree %s", m.Main, m.Name)
	}
	if m.Into == "" {
		return fmt.Errorf("the main checkout was on no branch when the worktree was made, so there is none to merge into; run in %s: git switch BRANCH, then git merge %s", m.Main, m.Branch)
	}
	on, _ := m.main.line(ctx, "symbolic-ref", "--short", "-q", "HEAD")
	if on != m.Into {
		now := "no branch"
		if on != "" {
			now = "the branch " + on
		}
		return fmt.Errorf("nothing was merged: the main checkout %s is on %s, and the worktree started from %s; run there: git switch %s", m.Main, now, m.Into, m.Into)
	}
	if doing := inProgress(ctx, m.main); doing != "" {
		return fmt.Errorf("nothing was merged: %s is in progress in the main checkout %s; finish it first", doing, m.Main)
	}
	return nil
}

// inProgress returns the operation that has not ended in a checkout, "" for none.
func inProgress(ctx context.Context, g *git) string {
	for _, one := range [][2]string{
		{"MERGE_HEAD", "a merge"},
		{"rebase-merge", "a rebase"},
		{"rebase-apply", "a rebase"},
		{"CHERRY_PICK_HEAD", "a cherry-pick"},
		{"REVERT_HEAD", "a revert"},
		{"BISECT_LOG", "a bisection"},
		{"index.lock", "a git command"},
	} {
		if exists(g.path(ctx, one[0])) {
			return one[1]
		}
	}
	return ""
}

var gitVersion = regexp.MustCompile(`(\d+)\.(\d+)`)

// canPredict reports whether git can merge without a checkout, which it can from version 2.38 on.
func canPredict(ctx context.Context, g *git) bool {
	said, _ := g.line(ctx, "version")
	v := gitVersion.FindStringSubmatch(said)
	if v == nil {
		return false
	}
	major, _ := strconv.Atoi(v[1])
	minor, _ := strconv.Atoi(v[2])
	return major > 2 || major == 2 && minor >= 38
}

// predict finds the files that change and the conflicts, without changing anything but git's store of objects.
func (m *merging) predict(ctx context.Context) (err error) {
	m.above = m.main.ok(ctx, "merge-base", "--is-ancestor", m.old, m.tip)
	result := m.tip
	switch {
	case m.above:
		m.predicted = true
	case canPredict(ctx, m.main):
		out, err := m.main.run(ctx, "merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", m.old, m.tip)
		tree, names, ok := strings.Cut(out, "\x00")
		if !ok { // with conflicts, git fails and prints a tree, too
			return fmt.Errorf("conflicts can't be predicted: %w", err)
		}
		if err != nil {
			m.conflicts = slices.DeleteFunc(strings.Split(names, "\x00"), func(name string) bool { return name == "" })
		}
		result, m.predicted = tree, true
	default:
		base, err := m.main.line(ctx, "merge-base", m.old, m.tip)
		if err != nil {
			return errors.New("the branches have no common commit")
		}
		m.files, err = m.main.list(ctx, "diff", "--name-only", "--no-renames", "--no-ext-diff", "--no-textconv", "-z", base, m.tip)
		return err
	}
	m.files, err = m.main.list(ctx, "diff", "--name-only", "--no-renames", "--no-ext-diff", "--no-textconv", "-z", m.old, result)
	return err
}

// touches returns an error if the main checkout has changes that the merge would touch.
func (m *merging) touches(ctx context.Context) error {
	here := &Tree{Name: m.Name, note: m.note, folder: m.folder, git: m.main}
	changed, _, err := here.status(ctx)
	if err != nil {
		return err
	}
	var both []string
	for _, name := range changed {
		inside := func(file string) bool {
			return file == name || strings.HasSuffix(name, "/") && strings.HasPrefix(file, name) || strings.HasPrefix(name, file+"/")
		}
		if slices.ContainsFunc(m.files, inside) {
			both = append(both, name)
		}
	}
	if len(both) > 0 {
		return fmt.Errorf("nothing was merged: the main checkout %s has uncommitted changes in files that the merge would change: %s; commit or stash them there first", m.Main, texts.Some(both))
	}
	return nil
}

// question shows what would be merged, and asks.
func (m *merging) question(context.Context) show.Answer {
	q := show.Question{Title: fmt.Sprintf("Merge %s into %s?", texts.Plural(len(m.commits), "commit"), m.Into)}
	q.Lines = append(q.Lines, m.commits[:min(len(m.commits), mergeShown)]...)
	if more := len(m.commits) - mergeShown; more > 0 {
		q.Lines = append(q.Lines, fmt.Sprintf("and %d more", more))
	}
	changed := "No file is changed."
	if n := len(m.files); n > 0 {
		changed = fmt.Sprintf("%s in %s: %s", texts.Plural(n, "changed file"), m.Main, texts.Some(m.files))
	}
	q.Lines = append(q.Lines, "", changed)
	if n := len(m.changed); n > 0 {
		q.Lines = append(q.Lines, fmt.Sprintf("Not included: %s not committed in the worktree (%s). Commit them first, or leave them.", isOrAre(n, "changed file"), texts.Some(m.changed)))
	}
	nothing := show.Deed{Label: "Do nothing"}
	switch {
	case len(m.conflicts) > 0:
		q.Title = fmt.Sprintf("%s conflicts with %s", m.Branch, m.Into)
		q.Lines = append(q.Lines, fmt.Sprintf("Conflicts in: %s. Nothing was changed. The agent can solve them in the worktree: ask it to rebase onto %s, then use /merge again.", texts.Some(m.conflicts), m.Into))
		q.Choices = []show.Deed{nothing}
		return show.Answer{Question: &q}
	case !m.predicted:
		q.Lines = append(q.Lines, "This git is older than "+mergePredicts+" and can't predict conflicts. After a conflict, buddy takes the merge back.")
	default:
		q.Lines = append(q.Lines, "No conflicts.")
	}
	q.Choices = []show.Deed{{Label: "Yes, merge into " + m.Into, Run: []string{"merge", byMerge}}}
	if !m.above && len(m.changed) == 0 {
		q.Choices = append(q.Choices, show.Deed{Label: "Rebase onto " + m.Into + ", then fast-forward", Run: []string{"merge", byRebase}})
	}
	q.Choices = append(q.Choices, nothing)
	return show.Answer{Question: &q}
}

// act merges or rebases. After a failure both checkouts are unchanged.
func (m *merging) act(ctx context.Context, how string) (string, error) {
	if len(m.conflicts) > 0 {
		return "", fmt.Errorf("nothing was merged: conflicts in %s; ask the agent to rebase onto %s in the worktree", texts.Some(m.conflicts), m.Into)
	}
	before := ""
	if how == byRebase {
		if len(m.changed) > 0 {
			return "", fmt.Errorf("nothing was rebased: %s not committed in the worktree", isOrAre(len(m.changed), "changed file"))
		}
		if _, err := m.git.run(ctx, "-c", "rebase.autoStash=false", "-c", "rebase.updateRefs=false", "rebase", "--quiet", m.old); err != nil {
			_, _ = m.git.run(ctx, "rebase", "--abort") // fails if the rebase did not begin
			return "", fmt.Errorf("nothing was merged: the rebase failed and was taken back: %w; ask the agent to rebase onto %s in the worktree", err, m.Into)
		}
		before = fmt.Sprintf(" The worktree's branch was at %s.", short(m.tip))
	}
	args := []string{"merge", "--quiet", "--no-edit", "--no-autostash"}
	if how == byRebase {
		args = append(args, "--ff-only")
	} else {
		args = append(args, "--ff", "-m", fmt.Sprintf("Merge branch '%s'", m.Branch))
	}
	if now, _ := m.main.line(ctx, "rev-parse", "HEAD"); now != m.old {
		return "", errors.New("nothing was merged: the main checkout has changed meanwhile; use /merge again")
	}
	if _, err := m.main.run(ctx, append(args, "refs/heads/"+m.Branch)...); err != nil {
		if exists(m.main.path(ctx, "MERGE_HEAD")) {
			_, _ = m.main.run(ctx, "merge", "--abort")
		}
		if now, _ := m.main.line(ctx, "rev-parse", "HEAD"); now == m.old {
			return "", fmt.Errorf("nothing was merged: %w", err)
		}
		return "", fmt.Errorf("the merge into %s failed: %w; its commit before was %s", m.Main, err, m.old)
	}
	now, _ := m.main.line(ctx, "rev-parse", "HEAD")
	return fmt.Sprintf("Merged %s of %s into %s: it was at %s and is at %s.%s To undo this: git -C %s reset --keep %s. It stops if that would lose uncommitted changes; reset --hard would discard them.",
		texts.Plural(len(m.commits), "commit"), m.Branch, m.Into, short(m.old), short(now), before, quoted(m.Main), short(m.old)), nil
}

// quoted returns a path as a word of a shell command.
func quoted(path string) string {
	if strings.ContainsFunc(path, func(c rune) bool {
		return !strings.ContainsRune("/._-+", c) && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z')
	}) {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}

// DiffToBase returns the difference between the session's worktree and the commit that the worktree started from.
func (p *Part) DiffToBase(ctx context.Context) (diff string, files int, err error) {
	g := newGit(ctx, p.tree.Dir(), p.trusted)
	if diff, err = g.run(ctx, "diff", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=all", p.tree.Base); err != nil {
		return "", 0, err
	}
	names, err := g.list(ctx, "diff", "--name-only", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all", "-z", p.tree.Base)
	if err != nil {
		return "", 0, err
	}
	untracked, err := g.list(ctx, "ls-files", "--others", "--exclude-standard", "-z")
	for _, name := range untracked {
		diff += p.asNew(ctx, g, name)
	}
	return diff, len(names) + len(untracked), err
}

// asNew returns the diff of an untracked file.
func (p *Part) asNew(ctx context.Context, g *git, name string) string {
	info, err := os.Lstat(filepath.Join(p.tree.Dir(), name))
	if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 {
		return fmt.Sprintf("diff --git a/%s b/%s\nnew file (not shown)\n", name, name)
	}
	diff, _ := g.run(ctx, "diff", "--no-index", "--no-ext-diff", "--no-textconv", "--no-color", "--", os.DevNull, name) // exit code 1: they differ
	return diff
}
