package instructions

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"buddy/extensions/frontmatter"
)

// ruleDirs lists the folders with a project's rules, relative to each searched folder.
var ruleDirs = []string{".buddy/rules", ".claude/rules"}

// Limits of one Read.
const (
	maxRules     = 100 // files with rules
	maxRuleDepth = 3   // nested folders of them
	maxEntries   = 200 // per folder
)

// Rule is a file with instructions that apply only to the files that match its globs.
type Rule struct {
	File
	Globs []string // relative to Base; one without a slash matches a name in any folder
	Base  string   // the folder with the rules
}

// Matches reports whether the rule applies to a file, given by its absolute path.
func (r Rule) Matches(file string) bool {
	rel, ok := strings.CutPrefix(file, strings.TrimSuffix(r.Base, "/")+"/")
	return ok && slices.ContainsFunc(r.Globs, func(glob string) bool {
		if !strings.Contains(glob, "/") {
			glob = "**/" + glob
		}
		return doublestar.MatchUnvalidated(glob, rel)
	})
}

// rules reads the Markdown files in a folder of rules, in order of their names. Files without globs are ordinary
// instruction files. An error means that nothing can be read.
func (r *reader) rules(ctx context.Context, s Source, base, dir string, depth int) error {
	real, entries, err := s.Files.List(ctx, dir, maxEntries)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		r.skip(s, dir, err.Error())
		return nil
	case !inside(s.Inside, real):
		r.skip(s, dir, "the folder is outside "+s.Inside)
		return nil
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		switch {
		case e.IsDir() && depth < maxRuleDepth:
			err = r.rules(ctx, s, base, name, depth+1)
		case e.IsDir() || path.Ext(name) != ".md":
		default:
			err = r.rule(ctx, s, base, name)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // a dangling link
			return err
		}
	}
	return nil
}

// rule reads one file with rules.
func (r *reader) rule(ctx context.Context, s Source, base, name string) error {
	if r.ruled++; r.ruled > maxRules {
		if r.ruled == maxRules+1 {
			r.skip(s, name, fmt.Sprintf("there are more than %d files with rules", maxRules))
		}
		return nil
	}
	f, ok, err := r.load(ctx, s, name, 0)
	if !ok || err != nil {
		return err
	}
	block, err := frontmatter.Parse([]byte(f.Text))
	if err != nil {
		r.skip(s, name, err.Error())
		return nil
	}
	f.Text = strings.TrimSpace(block.Body)
	f.Found = nil
	f.scan()
	rule := Rule{File: f, Base: base}
	for _, glob := range block.List("paths") {
		if glob = strings.TrimPrefix(glob, "./"); !doublestar.ValidatePattern(glob) {
			r.skip(s, name, fmt.Sprintf("%q in paths is not a glob pattern", glob))
			return nil
		}
		rule.Globs = append(rule.Globs, glob)
	}
	if len(rule.Globs) > 0 {
		r.set.Rules = append(r.set.Rules, rule)
		return nil
	}
	r.set.Files = append(r.set.Files, f)
	return r.follow(ctx, s, f, 0)
}

// For returns the files of the rules that match at least one of these files, which are given by absolute paths.
func (s Set) For(files []string) []File {
	var all []File
	for _, rule := range s.Rules {
		if slices.ContainsFunc(files, rule.Matches) {
			all = append(all, rule.File)
		}
	}
	return all
}

// Fit cuts files so that all of them together keep the size limit of Read.
func (s Set) Fit() Set {
	r := reader{set: s}
	r.fit()
	return r.set
}
