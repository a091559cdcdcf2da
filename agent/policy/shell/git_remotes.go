package shell

import (
	"slices"
	"strings"

	"buddy/texts"
)

// gitRemotes lists the subcommands whose first operand is another repository. For git remote, any operand may be one.
const gitRemotes = "push fetch pull clone ls-remote archive send-pack remote"

// gitRemoteFlags lists flags whose value is another repository: git push --repo, git archive --remote.
var gitRemoteFlags = []string{"--repo", "--remote"}

// abbreviates reports whether git may read a long flag as an abbreviation of one of flags.
func abbreviates(flag string, flags []string) bool {
	return len(flag) > 2 && slices.ContainsFunc(flags, func(f string) bool { return strings.HasPrefix(f, flag) })
}

// runs returns why the call's words may make it run programs, or "". One reason is a repository on this machine, which
// runs its own hooks and the programs named in its settings. rows are the rows of the call's subcommand.
func (g *gitCall) runs(rows []gitRow) string {
	for _, r := range rows {
		if r.kind == GitRuns && g.fits(r) {
			return r.does
		}
	}
	name := rows[0].name
	if !slices.Contains(strings.Fields(gitRemotes), name) {
		return ""
	}
	first := 1
	switch {
	case name == "remote", slices.ContainsFunc(g.flags, func(f string) bool { return f == "-m" || abbreviates(f, []string{"--multiple"}) }):
		first = len(g.operands)
	case g.shifted:
		first = 2
	}
	for i, w := range slices.Concat(g.remotes, g.operands) {
		if w.localRepository(i < len(g.remotes)+first) {
			return "works with a repository on this machine, whose hooks and settings may run programs: " + texts.ClipBytes(w.src, 60)
		}
	}
	return ""
}

// localRepository reports whether a word may name another repository on this machine: by a path, a file URL or a
// program that connects to it. If surely is false, the word may also be a branch; it then counts only if it starts as
// no branch name can.
func (w arg) localRepository(surely bool) bool {
	return slices.ContainsFunc(w.vals, func(v val) bool {
		head, _, slash := strings.Cut(v.text, "/")
		scheme, _, _ := strings.Cut(v.text, ":")
		switch {
		case v.text == "" || v.text == ".":
			return false
		case strings.IndexByte("/.~", v.text[0]) >= 0, strings.EqualFold(scheme, "file"), strings.Contains(v.text, "::"):
			return true
		}
		return surely && (v.kind == pattern || slash && !strings.Contains(head, ":"))
	})
}

// mayBegin reports whether one of a git word's possible values may start with char. A word that starts with ~ always
// counts, because the shell may replace the ~.
func (w arg) mayBegin(char string) bool {
	return slices.ContainsFunc(w.vals, func(v val) bool {
		switch {
		case v.text == "":
			return v.kind != literal
		case v.kind != literal && strings.IndexByte("*?[", v.text[0]) >= 0:
			return true
		}
		return v.text[0] == '~' || strings.HasPrefix(unescape(v.text), char)
	})
}

// movesBranch reports whether a word may be a refspec that writes to a branch or tag: its right side is not below
// refs/remotes/, the branches of other repositories.
func (w arg) movesBranch() bool {
	return slices.ContainsFunc(w.vals, func(v val) bool {
		_, to, ok := strings.Cut(v.text, ":")
		if v.kind == literal && (!ok || to == "") {
			return false
		}
		return !strings.HasPrefix(to, "refs/remotes/")
	})
}
