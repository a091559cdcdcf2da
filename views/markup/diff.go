package markup

import (
	"strings"

	"buddy/themes"
)

// isDiff tells whether a language is that of unified diffs, whose lines need no lexer.
func isDiff(lang string) bool {
	return strings.EqualFold(lang, "diff") || strings.EqualFold(lang, "patch")
}

// DiffRole returns the role of one line of a unified diff, and whether the line after
// it is within a hunk if the line itself is: there no line names a file.
func DiffRole(line string, hunk bool) (role themes.Role, within bool) {
	switch {
	case strings.HasPrefix(line, "@@"):
		return themes.DiffHunk, true
	case !hunk && (strings.HasPrefix(line, "+++") || strings.HasPrefix(line, "---") || strings.HasPrefix(line, "diff ")):
		return themes.Muted, false
	case strings.HasPrefix(line, "+"):
		return themes.DiffAdd, hunk
	case strings.HasPrefix(line, "-"):
		return themes.DiffDelete, hunk
	}
	return themes.Text, hunk
}
