package shell

import (
	"path"
	"slices"
	"strings"

	"buddy/texts"
)

// GitKind classifies the effect of a git command on history or uncommitted work.
type GitKind string

// The kinds, from the least to the most harmful.
const (
	GitRecords   GitKind = "records"   // adds to the history, or checks out: commit, merge
	GitPublishes GitKind = "publishes" // sends commits to another repository
	GitRewrites  GitKind = "rewrites"  // changes commits or the targets of branches
	GitRuns      GitKind = "runs"      // an alias or another program with unknown effects
	GitLoses     GitKind = "loses"     // overwrites or deletes work that may have no other copy
	GitReplaces  GitKind = "replaces"  // overwrites or deletes published commits
)

// GitLoss names the kind of work that a git command loses.
type GitLoss string

// The losses.
const (
	LosesChanges     GitLoss = "changes"          // of all tracked files
	LosesPaths       GitLoss = "changes of paths" // of the named files
	LosesUntracked   GitLoss = "untracked files"
	LosesIgnored     GitLoss = "untracked and ignored files"
	LosesOnlyIgnored GitLoss = "ignored files"
	LosesStash       GitLoss = "stashes"
	LosesBranch      GitLoss = "branches"
	LosesWorktree    GitLoss = "worktree"
	LosesUnknown     GitLoss = "unknown" // can't be determined
)

// GitAct describes the effect of a git command on history or uncommitted work.
type GitAct struct {
	Kind GitKind `json:"kind"`
	Name string  `json:"name"` // the deciding words, for display: git reset --hard
	Does string  `json:"does"` // continues a sentence that starts with Name
	Loss GitLoss `json:"loss,omitempty"`
	// Dir is the absolute folder in which git works; "" is unknown.
	Dir string `json:"dir,omitempty"`
	// Paths are the operands: files as git patterns, branches, or a remote and refs.
	Paths []string `json:"paths,omitempty"`
	// Whole means that more than usual is lost: for LosesPaths staged changes too, for untracked files whole folders,
	// for LosesStash all stashes.
	Whole bool `json:"whole,omitempty"`
	// Unsure means that the loss is unknown, because words that decide about it are computed.
	Unsure bool `json:"unsure,omitempty"`
	// Words is the number of words of the command up to the end of the subcommand.
	Words int `json:"-"`
}

// gitCall is a git command with its words sorted into flags and operands.
type gitCall struct {
	dir      string   // in which git works; "" is unknown
	flags    []string // -x and --long, without values
	operands []arg
	remotes  []arg // other repositories named by flags
	dash     int   // number of operands before --, or -1
	unsure   bool  // a word may turn out to be any flag
	shifted  bool  // the first operand may be the value of an abbreviated flag
}

// gitAct returns the effect of a git command on history or uncommitted work, nil if it has none. runs is the reason why
// the command may run programs of the workspace, or "". words include git itself.
func (d *folders) gitAct(words []arg, via []string) (act *GitAct, runs string) {
	g := &gitCall{dash: -1, dir: d.certain(via)}
	at, odd, ok := g.globals(words)
	if !ok {
		return &GitAct{Kind: GitRuns, Name: "git", Does: "has an unknown effect: buddy can't read its first words", Words: len(words), Unsure: true}, ""
	}
	if at == len(words) {
		return nil, ""
	}
	rows, name, n := gitRows(words[at:])
	if rows == nil {
		return gitUnlisted(words, at, odd), ""
	}
	g.sort(words[at+n:], gitValues[strings.Fields(name)[0]])
	if n == 1 && strings.Contains(name, " ") { // the second word is computed
		g.unsure = true
	}
	i := slices.IndexFunc(rows, g.fits)
	if i < 0 || rows[i].kind == "" {
		return gitOdd(name, at+n, odd), g.runs(rows)
	}
	r := rows[i]
	act = &GitAct{Kind: r.kind, Name: "git " + name, Does: r.does, Loss: r.loss, Dir: g.dir, Words: at + n, Unsure: g.unsure}
	if f := g.decides(r); f != "" {
		act.Name += " " + f
	}
	g.lost(act)
	if runs = g.runs(rows); runs != "" && runs != act.Does {
		act.Does += ", and " + runs
	}
	return act, runs
}

// certain returns the folder in which a command starts, or "" if that is uncertain, for example because a wrapper in
// via may change it.
func (d *folders) certain(via []string) string {
	here := d.started
	if len(here) == 0 || !path.IsAbs(here[0]) || d.adrift || slices.ContainsFunc(via, moves) {
		return ""
	}
	dir := path.Clean(here[0])
	if slices.ContainsFunc(here, func(other string) bool { return path.Clean(other) != dir }) {
		return ""
	}
	return dir
}

var gitEffects = map[GitKind]Effect{
	GitRecords: Writes, GitPublishes: Network, GitRewrites: Writes, GitRuns: RunsCode, GitLoses: Deletes, GitReplaces: Remote,
}

func redirectsGit(name string) bool {
	_, harmless := harmlessEnv[name]
	return strings.HasPrefix(name, "GIT_") && !harmless
}

// moves reports whether a wrapper may run its command in another folder.
func moves(via string) bool {
	name, _, _ := strings.Cut(via, " ")
	return !slices.Contains(shells, name) && !slices.Contains([]string{"env", "command", "builtin", "time", "nice", "timeout", "nohup", "exec", "eval", "xargs"}, name)
}

// gitUnlisted returns the effect of a subcommand that is not in gitActs.
func gitUnlisted(words []arg, at int, odd bool) *GitAct {
	name, known := words[at].lit()
	switch {
	case !known:
		return &GitAct{Kind: GitRuns, Name: "git", Does: "has an effect that is known only when it runs", Words: len(words), Unsure: true}
	case slices.Contains(strings.Fields(gitPlain), name), slices.Contains(strings.Fields(subcommands["git"]), name), subcommands["git "+name] != "":
		return gitOdd(name, at+1, odd)
	}
	return &GitAct{Kind: GitRuns, Name: "git " + texts.ClipBytes(name, 40), Does: "is unknown to buddy: an alias or another program, which may do anything", Words: at + 1, Unsure: true}
}

// gitOdd returns the effect of a harmless subcommand: nil, unless flags before it contain settings that may run
// programs (odd).
func gitOdd(name string, n int, odd bool) *GitAct {
	if !odd {
		return nil
	}
	return &GitAct{Kind: GitRuns, Name: "git -c … " + name, Does: "gets settings that may run programs", Words: n, Unsure: true}
}

// Git's flags before the subcommand: gitLooks have no effect, gitLeads select another repository, and gitSets change
// settings, which may run programs. Flags of gitLeads and gitSets take a value, which may be the next word.
var (
	gitLooks = strings.Fields("-p -P --paginate --no-pager --no-replace-objects --no-optional-locks --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs --no-lazy-fetch --no-advice")
	gitLeads = strings.Fields("--git-dir --work-tree --namespace --super-prefix --attr-source")
	gitSets  = strings.Fields("-c --config-env")
)

// globals parses the flags before the subcommand and returns the subcommand's index. odd means that they contain
// settings, which may run programs; ok is false if a flag is unknown or computed.
func (g *gitCall) globals(words []arg) (at int, odd, ok bool) {
	for i := 1; i < len(words); i++ {
		w := words[i]
		text, known := w.lit()
		if !known && (w.dash() || w.split) {
			return 0, odd, false
		}
		if !known || !strings.HasPrefix(text, "-") {
			return i, odd, true
		}
		name, _, attached := strings.Cut(text, "=")
		switch {
		case text == "-C":
			i++
			g.enter(words[min(i, len(words)-1)])
			continue
		case slices.Contains(gitLeads, name):
			g.dir = ""
		case slices.Contains(gitSets, name):
			odd = true
		case name == "--exec-path":
			odd, attached = true, true
		case text == "--bare":
			g.dir, attached = "", true
		case slices.Contains(gitLooks, text):
			attached = true
		default:
			return 0, odd, false
		}
		if !attached {
			i++
		}
	}
	return len(words), odd, true
}

func (g *gitCall) enter(w arg) {
	switch dir, known := w.lit(); {
	case !known:
		g.dir = ""
	case path.IsAbs(dir):
		g.dir = dir
	case g.dir != "":
		g.dir = path.Join(g.dir, dir)
	}
}

// gitRows returns the rows for a subcommand, with its name and number of words. If the second word is computed, it
// returns the rows of the worst possible subcommand.
func gitRows(words []arg) (rows []gitRow, name string, n int) {
	first, known := words[0].lit()
	if !known {
		return nil, "", 0
	}
	name, n = first, 1
	if len(words) > 1 {
		second, known := words[1].lit()
		i := slices.IndexFunc(gitActs, func(r gitRow) bool {
			return !known && strings.HasPrefix(r.name, first+" ") || known && r.name == first+" "+second
		})
		switch {
		case i >= 0 && known:
			name, n = gitActs[i].name, 2
		case i >= 0:
			name = gitActs[i].name
		}
	}
	for _, r := range gitActs {
		if r.name == name {
			rows = append(rows, r)
		}
	}
	return rows, name, n
}

// sort separates the flags and operands of a call. values lists the flags whose value is the next word.
func (g *gitCall) sort(words []arg, values string) {
	valued := strings.Fields(values)
	for i := 0; i < len(words); i++ {
		w := words[i]
		text, known := w.lit()
		switch {
		case !known:
			g.unsure = g.unsure || w.dash() || w.split
			g.operands = append(g.operands, w)
		case text == "--":
			g.dash = len(g.operands)
			g.operands = append(g.operands, words[i+1:]...)
			return
		case text == "-" || !strings.HasPrefix(text, "-"):
			g.operands = append(g.operands, w)
		case strings.HasPrefix(text, "--"):
			i += g.long(words[i:], valued)
		default:
			for j := 1; j < len(text); j++ {
				flag := "-" + text[j:j+1]
				g.flags = append(g.flags, flag)
				if slices.Contains(valued, flag) {
					if j+1 == len(text) {
						i++
					}
					break
				}
			}
		}
	}
}

// long records the long flag words[0], and returns how many of the following words are its value: 1 or 0.
func (g *gitCall) long(words []arg, valued []string) int {
	text, _ := words[0].lit()
	name, value, attached := strings.Cut(text, "=")
	g.flags = append(g.flags, name)
	leads := abbreviates(name, gitRemoteFlags)
	switch {
	case attached && leads:
		g.remotes = append(g.remotes, literalArg(value))
	case attached:
	case !slices.Contains(valued, name):
		g.shifted = g.shifted || abbreviates(name, valued)
	default:
		if leads && len(words) > 1 {
			g.remotes = append(g.remotes, words[1])
		}
		return 1
	}
	return 0
}

func (g *gitCall) fits(r gitRow) bool {
	switch {
	case r.less && (g.unsure || slices.ContainsFunc(g.flags, func(f string) bool { return strings.HasPrefix(f, "--no-") })):
		return false
	case r.with == "", g.unsure:
		return true
	}
	return g.decides(r) != "" || slices.Contains(strings.Fields(r.with), "*") && len(g.operands) > 0
}

// decides returns the listed word of a row that the call contains, or "". Git accepts abbreviated long flags.
func (g *gitCall) decides(r gitRow) string {
	for want := range strings.FieldsSeq(r.with) {
		for _, f := range g.flags {
			short := !r.less && len(f) > 2 && strings.HasPrefix(f, "--") && strings.HasPrefix(want, f)
			if f == want || short {
				return want
			}
		}
		switch want {
		case "+", ":":
			if slices.ContainsFunc(g.operands, func(w arg) bool { return w.mayBegin(want) }) {
				return want + "…"
			}
		case "x:y":
			if len(g.operands) > 1 && slices.ContainsFunc(g.operands[1:], arg.movesBranch) {
				return want
			}
		case "--":
			if g.dash >= 0 {
				return want
			}
		}
	}
	return ""
}

// lost fills in which files, stashes or branches act affects.
func (g *gitCall) lost(act *GitAct) {
	if act.Kind != GitReplaces && slices.Contains([]GitLoss{"", LosesChanges, LosesUnknown}, act.Loss) {
		return
	}
	act.Whole = g.whole(act)
	list := g.operands
	if act.Loss == LosesPaths {
		list = list[max(0, g.dash):]
	}
	act.Unsure = act.Unsure || slices.ContainsFunc(g.flags, func(f string) bool { return len(f) > 3 && strings.HasPrefix("--pathspec-from-file", f) })
	for _, w := range list {
		v := w.vals[0]
		switch {
		case len(w.vals) != 1 || w.odd || v.kind != literal && v.kind != pattern:
			act.Unsure = true
		case v.kind == pattern:
			act.Paths = append(act.Paths, ":(glob)"+v.text)
		default:
			act.Paths = append(act.Paths, v.text)
		}
	}
}

func (g *gitCall) whole(act *GitAct) bool {
	has := func(flags ...string) bool {
		return slices.ContainsFunc(g.flags, func(f string) bool { return slices.Contains(flags, f) })
	}
	switch act.Loss {
	case LosesPaths: // without a commit, checkout and restore copy files from the index
		index := strings.HasPrefix(act.Name, "git checkout") && (g.dash == 0 || g.dash < 0 && len(g.operands) < 2) ||
			strings.HasPrefix(act.Name, "git restore") && !has("-s", "--source", "-S", "--staged")
		return !index
	case LosesUntracked, LosesIgnored, LosesOnlyIgnored:
		return has("-d") || len(g.operands) > 0
	}
	return act.Name == "git stash clear"
}
