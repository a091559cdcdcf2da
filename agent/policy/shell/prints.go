package shell

import (
	"slices"
	"strings"
)

// What commands print, for those that take names from them.

func noNames(*analyser, *call) names { return names{noDash: true} }

// noSecretName is for commands that print a folder or the name of a commit.
func noSecretName(_ *analyser, c *call) names {
	folder := c.spec.name == "pwd" || c.has("--show-toplevel", "--show-prefix", "--show-cdup", "--git-dir", "--absolute-git-dir", "--git-common-dir", "--git-path", "--show-superproject-working-tree")
	return names{noDash: true, commit: c.spec.name != "pwd" && !folder, word: !folder}
}

// prints1 is for commands that print one number when they read their input.
func prints1(_ *analyser, c *call) names {
	switch c.spec.name {
	case "wc":
		return names{number: len(c.rest) == 0 && len(c.flags) == 1, noDash: true}
	case "stat":
		f := c.values("-c", "--format")
		if len(f) == 1 {
			s, _ := f[0].lit()
			return names{number: s == "%s" || s == "%Y", noDash: true}
		}
	case "git rev-list":
		return names{number: c.has("--count"), noDash: true, commit: true, word: true}
	case "nproc":
		return names{number: true, noDash: true}
	}
	return names{noDash: true}
}

func prints1Path(*analyser, *call) names { return names{noDash: true, word: true} }

func datePrints(_ *analyser, c *call) names {
	if s, ok := literals(c.rest); ok && len(s) == 1 && (s[0] == "+%s" || s[0] == "+%Y" || s[0] == "+%s%N") {
		return names{number: true, noDash: true}
	}
	return names{noDash: true}
}

// passes is for filters that print lines of their input.
func passes(_ *analyser, c *call) names {
	if len(c.rest) > 0 || c.has("-c", "--bytes", "--count", "-z", "--zero-terminated") {
		return names{}
	}
	return c.in.names
}

func lsPrints(_ *analyser, c *call) names {
	n := names{noDash: len(c.rest) > 0}
	for _, w := range c.rest {
		for _, v := range w.vals {
			n.noDash = n.noDash && v.text != "" && strings.IndexByte("*?[-", v.text[0]) < 0
		}
	}
	return n
}

// sources are endings of names of files that are read every day and hold no secrets.
var sources = []string{
	".go", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".py", ".pyi", ".rs", ".c", ".h", ".cc", ".cpp", ".hpp", ".java", ".kt", ".swift",
	".rb", ".php", ".cs", ".lua", ".zig", ".hs", ".ex", ".exs", ".erl", ".clj", ".scala", ".dart", ".vue", ".svelte", ".css", ".scss", ".less",
	".html", ".htm", ".md", ".rst", ".adoc", ".proto", ".graphql", ".sql", ".sh", ".bash", ".mod", ".sum", ".log", ".patch", ".diff", ".tf",
	".screen", ".golden", ".snap", ".svg", ".lock", ".mk", ".cmake", ".bzl", ".nix", ".tex", ".1", ".s", ".asm", ".po",
}

// safeSuffix reports whether every file that a pattern matches has the ending of a source.
func safeSuffix(pattern string) bool {
	return slices.ContainsFunc(sources, func(s string) bool {
		rest, ok := strings.CutSuffix(pattern, s)
		return ok && !strings.HasSuffix(rest, `\`)
	})
}
