package file

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"buddy/agent/action"
	"buddy/texts"
	"buddy/tools"
	"buddy/tools/fs"
)

// pattern matches names of files. Its leading folders without special characters are the base, where the search starts.
// A folder named there is searched even if it is ignored or a link.
type pattern struct {
	base string // the leading folders, "" for none
	rest string // matches paths below it
	deep bool   // rest has no slash and matches names at any depth
}

// maxBraces limits the braces in a pattern, because every combination of their alternatives is tried.
const maxBraces = 4

// parsePattern parses the pattern text of an argument.
func parsePattern(arg, text string) (*pattern, error) {
	text = strings.TrimPrefix(text, "./")
	switch {
	case len(text) > 1000:
		return nil, tools.Invalid("%s: longer than 1000 bytes", arg)
	case strings.Count(text, "{") > maxBraces:
		return nil, tools.Invalid("%s: more than %d groups of alternatives", arg, maxBraces)
	case !doublestar.ValidatePattern(text):
		return nil, tools.Invalid("%s: %q is not a valid glob pattern", arg, texts.ClipBytes(text, 200))
	case !strings.Contains(text, "/"):
		return &pattern{rest: text, deep: true}, nil
	}
	p := &pattern{}
	p.base, p.rest = doublestar.SplitPattern(text)
	if !filepath.IsLocal(p.base) {
		return nil, tools.Invalid("%s: %q must be relative; give the folder as path", arg, texts.ClipBytes(text, 200))
	}
	if p.base == "." {
		p.base = ""
	}
	return p, nil
}

// match reports whether rel, a path below the base, matches.
func (p *pattern) match(rel string) bool {
	if p.deep {
		rel = rel[strings.LastIndexByte(rel, '/')+1:]
	}
	return doublestar.MatchUnvalidated(p.rest, rel)
}

// literal reports whether the pattern is the path of one file.
func (p *pattern) literal() bool { return !p.deep && p.names(p.rest) }

// names reports whether the pattern below the base is the path rel, without special characters.
func (p *pattern) names(rel string) bool { return p.rest == rel && !strings.ContainsAny(rel, `*?[{\`) }

// mayHold reports whether the folder rel may contain matching files.
func (p *pattern) mayHold(rel string) bool {
	if p.deep || strings.Contains(p.rest, "{") {
		return true
	}
	parts, folders := strings.Split(p.rest, "/"), strings.Split(rel, "/")
	for i, folder := range folders {
		switch {
		case i < len(parts) && parts[i] == "**":
			return true
		case i >= len(parts)-1 || !doublestar.MatchUnvalidated(parts[i], folder):
			return false
		}
	}
	return true
}

// planSearch returns the plan of a tool that searches path for files that match p; a nil p matches all files. The
// policy judges path with the base of p appended or, with exact, with all of a literal pattern appended. If path is a
// file, p is ignored.
func planSearch(w *Workspace, tool, path string, p *pattern, exact bool, why string) (action.Action, error) {
	act, err := w.planRead(tool, path, why)
	if err != nil || p == nil {
		return act, err
	}
	below := p.base
	if exact && p.literal() {
		below = fs.Join(p.base, p.rest)
	}
	if below == "" {
		return act, nil
	}
	ctx, done := tools.PlanContext()
	defer done()
	if info, err := w.files.Lstat(ctx, act.Path); err == nil && !info.Mode.IsDir() {
		return act, nil
	}
	return w.planRead(tool, fs.Join(path, below), why)
}

// noFolder returns the end of a note about a search in a folder that does not exist.
func noFolder(ctx context.Context, w *Workspace, path string) string {
	return tools.JoinNotes("there is no "+quoteName(w.show(path)), didYouMean(w, alikes(ctx, w, path, path)))
}
