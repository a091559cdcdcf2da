package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"

	"buddy/agent/action"
	"buddy/agent/policy/shell"
)

// Limits on determining what git commands would lose.
const (
	lossTime    = time.Second // for all queries of one approval
	lossActs    = 3           // examined commands
	lossTargets = 5           // targets
	lossNames   = 5           // names per line
	lossName    = 80          // bytes of a name
)

// acts returns what the commands of a program do to history and to uncommitted work, worst first.
func acts(report shell.Report) []*shell.GitAct {
	var bad, other []*shell.GitAct
	for _, c := range report.Commands {
		switch {
		case c.Git == nil:
		case c.Git.Kind == shell.GitLoses || c.Git.Kind == shell.GitReplaces:
			bad = append(bad, c.Git)
		default:
			other = append(other, c.Git)
		}
	}
	return append(bad, other...)
}

// losses returns the work that an action's git commands would lose, one effect per command and target. report is used
// only for an action with one target. losses queries git for at most a second in total; if a query fails, the effect
// says that the loss is unknown.
func (p Policy) losses(a action.Action, report shell.Report) []action.Effect {
	ctx, cancel := context.WithTimeout(context.Background(), lossTime)
	defer cancel()
	if len(a.Targets) == 0 {
		return p.on(a).lossesOf(ctx, report)
	}
	var all []action.Effect
	for i, at := range a.Targets {
		one := a.On(at)
		on := p.on(one)
		found := on.lossesOf(ctx, on.Analyse(one.Command, one.Cwd))
		if len(found) > 0 && i >= lossTargets {
			return append(all, action.Effect{Subject: fmt.Sprintf("and on %d more targets", len(a.Targets)-i)})
		}
		for _, e := range found {
			e.Subject = "on " + visible(one.Target) + ": " + e.Subject
			all = append(all, e)
		}
	}
	return all
}

// lossesOf returns the work that would be lost by the commands of one program.
func (p Policy) lossesOf(ctx context.Context, report shell.Report) []action.Effect {
	var all []action.Effect
	more := 0
	for _, act := range acts(report) {
		switch {
		case act.Kind != shell.GitLoses && act.Kind != shell.GitReplaces:
		case len(all) == lossActs:
			more++
		default:
			all = append(all, p.loss(ctx, act))
		}
	}
	if more > 0 {
		all = append(all, action.Effect{Subject: fmt.Sprintf("%d more commands that discard or delete something were not examined", more)})
	}
	return all
}

func (p Policy) loss(ctx context.Context, act *shell.GitAct) action.Effect {
	e := action.Effect{Subject: visible(act.Name)}
	switch {
	case act.Kind == shell.GitReplaces:
		e.Verb, e.Object = "replaces or deletes", visible("commits "+published(act))
		return e
	case act.Loss == shell.LosesBranch:
		e.Verb, e.Object = "deletes", "commits that are only on it"
		if names := list(act.Paths); names != "" && !act.Unsure {
			e.Object = "commits that are only on " + names
		}
		return e
	}
	found, err := p.lost(ctx, act)
	what := lossWords[act.Loss]
	switch {
	case err != nil:
		e.Verb, e.Object = act.Does, fmt.Sprintf("(could not determine what would be lost: %v)", err)
	case len(found) == 0:
		e.Verb, e.Object = "finds", what.none
	default:
		e.Verb, e.Count, e.Unit, e.Names = what.verb, len(found), what.unit, someNames(found)
	}
	return e
}

// lossWords holds the words for each kind of loss.
var lossWords = map[shell.GitLoss]struct{ verb, unit, none string }{
	shell.LosesChanges: {"discards your changes in", "file", "no changes to discard"}, shell.LosesPaths: {"discards your changes in", "file", "no changes to discard"},
	shell.LosesUntracked: {"deletes", "untracked file", "no untracked files to delete"}, shell.LosesIgnored: {"deletes", "untracked or ignored file", "no untracked or ignored files to delete"},
	shell.LosesOnlyIgnored: {"deletes", "ignored file", "no ignored files to delete"}, shell.LosesStash: {"deletes", "stash", "no stash to delete"},
	shell.LosesWorktree: {"deletes a worktree with changes in", "file", "no changes in the worktree to delete"},
}

// published returns the branches and tags from which a push would remove commits, as a phrase: "of origin/main".
func published(act *shell.GitAct) string {
	if act.Unsure || len(act.Paths) < 2 {
		return "of the other repository"
	}
	var refs []string
	for _, ref := range act.Paths[1:] {
		_, to, ok := strings.Cut(strings.TrimPrefix(ref, "+"), ":")
		if !ok {
			to = strings.TrimPrefix(ref, "+")
		}
		refs = append(refs, act.Paths[0]+"/"+to)
	}
	return "of " + list(refs)
}

// Reasons for an unknown loss. Git's own output is not quoted, since a repository can control it.
var (
	errNoGit    = errors.New("git was not run")
	errNoBox    = errors.New("no read-only sandbox here to run git in")
	errComputed = errors.New("a part of the command is known only when it runs")
	errNoFolder = errors.New("the folder is unknown")
	errNoAnswer = errors.New("git gave no answer")
	errSlow     = errors.New("git took too long to answer")
	errNobody   = errors.New("not examined for this command")
)

// lost asks git which files or stashes the command described by act would lose.
func (p Policy) lost(ctx context.Context, act *shell.GitAct) ([]string, error) {
	dir := act.Dir
	if act.Loss == shell.LosesWorktree && len(act.Paths) == 1 {
		if dir = act.Paths[0]; !filepath.IsAbs(dir) && act.Dir != "" {
			dir = filepath.Join(act.Dir, dir)
		}
	}
	switch {
	case act.Loss == shell.LosesUnknown:
		return nil, errNobody
	case act.Unsure:
		return nil, errComputed
	case !filepath.IsAbs(dir):
		return nil, errNoFolder
	case !p.Confined:
		return nil, errNoBox
	case p.Git == nil:
		return nil, errNoGit
	}
	out, err := p.Git(ctx, dir, question(act)...)
	switch {
	case ctx.Err() != nil:
		return nil, errSlow
	case err != nil:
		return nil, errNoAnswer
	}
	var found []string
	for entry := range strings.SplitSeq(string(out), "\x00") {
		if name, ok := entryLost(act, entry); ok {
			found = append(found, name)
		}
	}
	return found, nil
}

// question returns the git arguments that list what an act could lose. They override settings of the repository that
// could shorten the list.
func question(act *shell.GitAct) []string {
	if act.Loss == shell.LosesStash {
		return []string{"stash", "list", "-z", "--format=%gd %gs"}
	}
	args := []string{"--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false", "-c", "status.relativePaths=false", "status", "--porcelain", "-z", "--no-renames"}
	switch act.Loss {
	case shell.LosesChanges:
		return append(args, "--untracked-files=no", "--ignore-submodules=dirty")
	case shell.LosesWorktree:
		return append(args, "--untracked-files=normal", "--ignore-submodules=none")
	case shell.LosesPaths:
		args = append(args, "--untracked-files=no", "--ignore-submodules=dirty", "--")
	case shell.LosesUntracked:
		args = append(args, "--untracked-files=normal", "--")
	default:
		args = append(args, "--untracked-files=normal", "--ignored=traditional", "--")
	}
	if len(act.Paths) == 0 {
		return append(args, ".")
	}
	return append(args, act.Paths...)
}

// entryLost returns the file or stash that an entry of git's output names, and whether the command loses it.
func entryLost(act *shell.GitAct, entry string) (string, bool) {
	if act.Loss == shell.LosesStash {
		return entry, entry != "" && (act.Whole || strings.HasPrefix(entry, dropped(act)+" "))
	}
	if len(entry) < 4 {
		return "", false
	}
	state, name := entry[:2], entry[3:]
	if states := unknownToGit[act.Loss]; states != "" { // without -d git clean keeps folders
		return name, strings.Contains(states, state) && (act.Whole || !strings.HasSuffix(name, "/"))
	}
	if act.Loss == shell.LosesPaths {
		return name, state[0] != '?' && state[0] != '!' && (act.Whole || state[1] != ' ')
	}
	return name, true
}

// unknownToGit maps kinds of loss that affect files which git does not track to the status codes of those files.
var unknownToGit = map[shell.GitLoss]string{shell.LosesUntracked: "??", shell.LosesIgnored: "?? !!", shell.LosesOnlyIgnored: "!!"}

// dropped returns the stash that a command drops, in git's notation.
func dropped(act *shell.GitAct) string {
	if len(act.Paths) == 0 {
		return "stash@{0}"
	}
	if _, err := strconv.Atoi(act.Paths[0]); err == nil {
		return "stash@{" + act.Paths[0] + "}"
	}
	return act.Paths[0]
}

// list joins the first few names and counts the rest. Ambiguous names are quoted.
func list(names []string) string {
	shown := someNames(names)
	if more := len(names) - len(shown); more > 0 {
		return strings.Join(shown, ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(shown, ", ")
}

// someNames returns the first few names, shortened. Ambiguous names are quoted.
func someNames(names []string) []string {
	var shown []string
	for _, name := range names[:min(len(names), lossNames)] {
		odd := func(r rune) bool {
			return !unicode.IsGraphic(r) || unicode.IsSpace(r) || strings.ContainsRune(`,;"`, r) || r == unicode.ReplacementChar
		}
		if len(name) > lossName {
			name = strings.ToValidUTF8(name[:lossName], "") + "…"
		}
		if strings.ContainsFunc(name, odd) && !strings.HasPrefix(name, "stash@{") {
			name = strconv.Quote(name)
		}
		shown = append(shown, visible(cmp.Or(name, `""`)))
	}
	return shown
}
