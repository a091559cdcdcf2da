package markup

import (
	"strings"

	"buddy/themes"
)

// piece is a part of a line of code with its style. The text is foreign still.
type piece struct {
	text  []byte
	style Style
}

// highlightLine gives one line of code in a language its styles. Languages that are
// told apart by more than one line need a second pass over the whole block.
func highlightLine(lang string, line []byte, hunk bool) (pieces []piece, within bool) {
	if lang == "diff" || lang == "patch" {
		role, within := DiffRole(string(line), hunk)
		if role == themes.Text {
			role = themes.Code
		}
		return []piece{{line, Style{Role: role}}}, within
	}
	return []piece{{line, Style{Role: themes.Code}}}, false
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
