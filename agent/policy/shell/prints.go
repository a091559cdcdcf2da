package shell

import (
	"slices"
	"strings"
)

// What commands print, for commands that take names from them.

// refNames describes commands that print names of branches and tags, which neither begin with
// a dash nor contain blanks, unless a format adds them.
func refNames(_ *analyser, c *call) names {
	formats := c.values("--format")
	for _, w := range formats {
		if s, _ := w.lit(); !slices.Contains([]string{"%(refname)", "%(refname:short)", "%(objectname)", "%(objectname:short)"}, s) {
			return names{}
		}
	}
	n := len(formats) > 0 && !c.has("--column", "-n")
	return names{noDash: n, word: n}
}

// commitName describes commands that print the name of a commit, and pwd and git rev-parse,
// which print a folder. Git may print words that it does not know unchanged.
func commitName(_ *analyser, c *call) names {
	if c.from >= 0 || len(c.values("--dirty", "--broken", "--default")) > 0 {
		return names{}
	}
	folder := c.spec.name == "pwd" || c.has("--show-toplevel", "--show-prefix", "--show-cdup", "--git-dir", "--absolute-git-dir", "--git-common-dir", "--git-path", "--show-superproject-working-tree")
	word := !folder && !slices.ContainsFunc(c.rest, func(w arg) bool {
		s, ok := w.lit()
		return !ok || strings.ContainsAny(s, " \t\n-") && strings.ContainsAny(s, " \t\n")
	})
	return names{noDash: true, commit: c.spec.name != "pwd" && !folder, word: word}
}

// prints1 describes commands that print one number when they read their input.
func prints1(_ *analyser, c *call) names {
	switch c.spec.name {
	case "wc":
		return names{number: len(c.rest) == 0 && len(c.flags) == 1, noDash: true}
	case "stat":
		f := c.values("-c", "--format")
		if len(f) != 1 || c.has("--printf") {
			return names{}
		}
		s, _ := f[0].lit()
		number := slices.Contains([]string{"%s", "%Y", "%a", "%h", "%i", "%u", "%g", "%X", "%Z"}, s)
		one := len(c.rest) == 1 && c.rest[0].oneWord()
		return names{number: number && one, noDash: number}
	case "git rev-list":
		n := c.has("--count") && !c.has("--left-right", "--cherry-mark")
		return names{number: n, noDash: n, word: n}
	case "nproc":
		return names{number: true, noDash: true}
	}
	return names{}
}

// prints1Path describes commands that print the path of a program.
func prints1Path(*analyser, *call) names { return names{noDash: true, word: true} }

func datePrints(_ *analyser, c *call) names {
	format, ok := literals(c.rest)
	if !ok || len(format) != 1 || c.has("-I", "-R", "--iso-8601", "--rfc-3339", "--rfc-2822", "--rfc-email") {
		return names{}
	}
	text := format[0]
	if text == "+%s" || text == "+%Y" || text == "+%s%N" {
		return names{number: true, noDash: true}
	}
	for _, directive := range []string{"%Y", "%m", "%d", "%H", "%M", "%S", "%F", "%T", "%s", "%y", "%j"} {
		text = strings.ReplaceAll(text, directive, "0")
	}
	n := len(text) > 1 && plain(text, "_.:T+-") && plain(text[1:2], "")
	return names{noDash: n, word: n}
}

// passes describes filters that print lines of their input.
func passes(_ *analyser, c *call) names {
	if len(c.rest) > 0 || c.has("-c", "--bytes", "--count", "-z", "--zero-terminated") {
		return names{}
	}
	return c.in.names
}

func lsPrints(_ *analyser, c *call) names {
	n := names{noDash: len(c.rest) > 0 && c.has("-d", "--directory")} // else also the content of folders
	for _, w := range c.rest {
		for _, v := range w.vals {
			n.noDash = n.noDash && v.text != "" && strings.IndexByte("*?[-", v.text[0]) < 0
		}
	}
	return n
}

// sources are endings of files that are often read and hold no secrets.
var sources = []string{
	".go", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".py", ".pyi", ".rs", ".c", ".h", ".cc", ".cpp", ".hpp", ".java", ".kt", ".swift",
	".rb", ".php", ".cs", ".lua", ".zig", ".hs", ".ex", ".exs", ".erl", ".clj", ".scala", ".dart", ".vue", ".svelte", ".css", ".scss", ".less",
	".html", ".htm", ".md", ".rst", ".adoc", ".proto", ".graphql", ".sql", ".sh", ".bash", ".mod", ".sum", ".log", ".patch", ".diff", ".tf",
	".screen", ".golden", ".snap", ".svg", ".lock", ".mk", ".cmake", ".bzl", ".nix", ".tex", ".1", ".s", ".asm", ".po",
}

// safeSuffix reports whether every file that a pattern matches has an ending of sources.
func safeSuffix(pattern string) bool {
	return slices.ContainsFunc(sources, func(s string) bool {
		rest, ok := strings.CutSuffix(pattern, s)
		return ok && !strings.HasSuffix(rest, `\`)
	})
}
