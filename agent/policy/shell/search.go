package shell

import (
	"strings"

	"buddy/texts"
)

// Search describes which files of a folder a recursive search reads.
type Search struct {
	Hidden  bool // those whose names begin with a dot, too
	Ignored bool // those that .gitignore excludes, too
	Links   bool // those that symbolic links lead to, too
	Commits bool // what is no file or folder names a commit, and so stands for the whole folder
}

// search returns what a recursive grep or one of its relatives reads. A pattern that could match a
// secret makes rg read such files even if they are hidden or ignored.
func (d *folders) search(c *call) Search {
	switch c.spec.name {
	case "git grep":
		return Search{Hidden: true, Commits: true}
	case "rg", "ag":
		for _, w := range c.values("-g", "--glob", "--iglob") {
			if s, ok := w.lit(); !ok || !strings.HasPrefix(s, "!") && d.env.Secret(s, true) != "" {
				return Search{Hidden: true, Ignored: true, Links: c.has("-L", "--follow")}
			}
		}
		unrestricted := 0
		for _, f := range c.flags {
			if f.name == "-u" || f.name == "--unrestricted" {
				unrestricted++
			}
		}
		return Search{
			Hidden:  unrestricted > 1 || c.has("--hidden", "-."),
			Ignored: unrestricted > 0 || c.has("--no-ignore", "--no-ignore-vcs", "--no-ignore-parent", "--no-ignore-dot", "--no-ignore-global", "--no-ignore-exclude", "--no-ignore-files"),
			Links:   c.has("-L", "--follow"),
		}
	}
	return Search{Hidden: true, Ignored: true, Links: c.has("-R", "--dereference-recursive")}
}

// searches returns why the folders that a recursive search reads need approval, because one
// holds a file with secrets, or "". No words are the current folder.
func (d *folders) searches(c *call, words []arg) string {
	if d.env.Holds == nil || d.env.Secret == nil {
		return ""
	}
	list := []val{{text: "."}}
	for i, w := range words {
		if i == 0 {
			list = nil
		}
		list = append(list, w.vals...)
	}
	for _, v := range list {
		text := v.text
		switch v.kind {
		case literal:
		case pattern:
			text = fixed(text)
		default:
			text = "." // what is computed lies below the folder, or another check asks
		}
		if text == "" {
			text = "."
		}
		for _, full := range d.fulls(text) {
			if d.env.Resolve != nil {
				full = d.env.Resolve(full)
			}
			name, ok := d.env.Holds(full, d.search(c))
			if !ok {
				return c.spec.name + " searches more files than can be checked for secrets; narrow it to a folder"
			}
			if name != "" {
				return c.spec.name + " would read " + texts.ClipBytes(name, 80) + ", which may hold secrets; narrow it to other folders or kinds of files"
			}
		}
	}
	return ""
}

// gitDiffCheck judges the folders that git diff --no-index compares file by file.
func gitDiffCheck(a *analyser, c *call) string {
	if !c.has("--no-index") || c.has(quietFlags...) {
		return ""
	}
	return a.folders.searches(c, c.rest)
}
