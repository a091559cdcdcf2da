package shell

import (
	"cmp"
	"slices"
	"strings"

	"buddy/texts"
)

// gitGlobals allows -c with settings that only affect presentation.
func gitGlobals(a *analyser, c *call) string {
	for _, w := range c.values("-C") {
		dir, ok := w.lit()
		if why := a.folders.reads(w); why != "" || !ok {
			return cmp.Or(why, "git -C with a folder that is computed")
		}
		a.folders.enter(dir)
	}
	for _, w := range c.values("-c") {
		s, ok := w.lit()
		name, value, _ := strings.Cut(s, "=")
		name = strings.ToLower(name)
		look := slices.Contains([]string{"color.ui", "core.quotepath", "color.diff", "color.status", "log.showsignature", "advice.detachedhead", "diff.renames", "diff.noprefix"}, name)
		pager := name == "core.pager" && (value == "cat" || value == "")
		look = look && plain(value, "") && (name != "log.showsignature" || value == "false")
		if !ok || !look && !pager {
			return "git -c " + texts.ClipBytes(s, 60) + " may run a program"
		}
	}
	return ""
}

// gitFormat refuses placeholders that run gpg, and searches for secrets.
func gitFormat(_ *analyser, c *call) string {
	for _, w := range c.values("-S", "-G", "--grep") {
		if s, ok := w.lit(); !ok || texts.HasAny(s, hunts...) {
			return c.spec.name + " that searches for secrets"
		}
	}
	for _, w := range c.values("--format", "--pretty", "--sort") {
		if s, ok := w.lit(); !ok || strings.Contains(s, "%G") || texts.HasAny(s, "signature", "%(describe") {
			return c.spec.name + " with a format that may run a program"
		}
	}
	return ""
}

func gitReflog(a *analyser, c *call) string {
	if len(c.rest) > 0 {
		if s, ok := c.rest[0].lit(); !ok || slices.Contains([]string{"expire", "delete", "exists", "drop", "write"}, s) {
			return "git reflog " + texts.ClipBytes(s, 40) + " may change the repository"
		}
	}
	return gitFormat(a, c)
}

func gitCatFile(_ *analyser, c *call) string {
	if s, ok := literals(c.rest); ok && (len(s) == 1 || len(s) == 2 && slices.Contains([]string{"blob", "tree", "commit", "tag"}, s[0])) {
		return ""
	}
	if len(c.rest) == 0 && c.has("--batch-check") {
		return ""
	}
	return "git cat-file with other words"
}

// gitBranch allows listing: with --list, or without a name.
func gitBranch(a *analyser, c *call) string {
	lists := c.has("--list", "-l", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at")
	if len(c.rest) > 0 && !lists {
		return "git branch with a name makes a branch"
	}
	if len(c.rest) > 0 && !c.has("--list", "-l") {
		if s, ok := literals(c.rest); !ok || len(s) > 1 {
			return "git branch with a name may make a branch"
		}
	}
	return gitFormat(a, c)
}

func gitTag(a *analyser, c *call) string {
	if len(c.rest) > 0 && !c.has("--list", "-l", "-n", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at") {
		return "git tag with a name makes a tag"
	}
	return gitFormat(a, c)
}

// gitConfig allows reading one setting that is not a secret.
func gitConfig(_ *analyser, c *call) string {
	if c.has("-l", "--list") {
		return "git config --list prints all settings, which may hold secrets"
	}
	names, ok := literals(c.rest)
	if !ok || len(names) != 1 || c.has("--get-regexp") {
		return "git config with these words may change a setting"
	}
	if texts.HasAny(names[0], "token", "header", "password", "credential", "secret", "key", "proxy", "sendemail") || strings.HasPrefix(names[0], "set") {
		return "git config " + texts.ClipBytes(names[0], 40) + " may be a secret"
	}
	if !strings.Contains(names[0], ".") {
		return "git config " + texts.ClipBytes(names[0], 40) + " may change a setting"
	}
	return ""
}

func gitGrep(a *analyser, c *call) string {
	if c.has("--no-index", "-f") {
		return "git grep with more than the files of the repository"
	}
	return grepCheck(a, c)
}
