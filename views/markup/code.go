package markup

import (
	"bytes"

	"buddy/themes"
)

// piece is a part of a line of code with its style. The text is foreign still.
type piece struct {
	text  []byte
	style Style
}

// highlightLine gives one line of code in a language its styles. Languages that are
// told apart by more than one line need a second pass over the whole block.
func highlightLine(lang string, line []byte) []piece {
	if lang == "diff" || lang == "patch" {
		return []piece{{line, Style{Role: diffRole(line)}}}
	}
	return []piece{{line, Style{Role: themes.Code}}}
}

// diffRole returns the role of one line of a unified diff.
func diffRole(line []byte) themes.Role {
	switch {
	case bytes.HasPrefix(line, []byte("@@")):
		return themes.DiffHunk
	case bytes.HasPrefix(line, []byte("+++")), bytes.HasPrefix(line, []byte("---")), bytes.HasPrefix(line, []byte("diff ")):
		return themes.Muted
	case bytes.HasPrefix(line, []byte("+")):
		return themes.DiffAdd
	case bytes.HasPrefix(line, []byte("-")):
		return themes.DiffDelete
	}
	return themes.Code
}
