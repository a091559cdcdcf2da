package action

import (
	"fmt"
	"slices"
	"strings"
)

// Executed is a file that another program executes or takes commands from, and that was changed.
type Executed struct {
	Path string `json:"path"` // relative to the workspace if it is in it, else absolute
	By   string `json:"by"`   // who executes it: git, make, the editor
	What string `json:"what"` // what it is for them: hook, build rules
	How  Change `json:"how"`
}

// Change says what happened to a file.
type Change string

// The changes.
const (
	Created Change = "new"
	Changed Change = "changed"
	Removed Change = "gone"
	Unknown Change = "not known" // Path is a folder in which not everything could be compared
)

// String returns the change on one line: .git/hooks/pre-commit is new (git runs it: hook).
func (e Executed) String() string {
	if e.How == Unknown {
		return "not known what changed in " + e.Path + ", " + e.What
	}
	verb := map[Change]string{Created: "is new", Changed: "was changed", Removed: "is gone"}[e.How]
	return fmt.Sprintf("%s %s (%s runs it: %s)", e.Path, verb, e.By, e.What)
}

// ByCommands reports whether a command may lead to the file being executed: one that nobody but editors, CI,
// agents and the system looks at is not.
func (e Executed) ByCommands() bool {
	return !slices.Contains([]string{"CI", "the editor", "an agent", "buddy", "the desktop or system"}, e.By)
}

// maxListed limits how many changed files one text names.
const maxListed = 6

// ListExecuted names changed files in one text, at most six of them, and counts the others.
func ListExecuted(all []Executed) string {
	var texts []string
	for _, e := range all[:min(len(all), maxListed)] {
		texts = append(texts, e.String())
	}
	if more := len(all) - maxListed; more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, "; ")
}
