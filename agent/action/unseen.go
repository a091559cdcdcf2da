package action

import (
	"fmt"
	"strings"
)

// Unseen lists files that were changed without approval since the user last approved a command outside the sandbox.
type Unseen struct {
	Paths []string `json:"paths,omitempty"` // some of them
	More  bool     `json:"more,omitempty"`  // there may be more
}

// maxListed limits the file names in one text.
const maxListed = 12

// Text returns the list in one sentence; "" for nil.
func (u *Unseen) Text() string {
	const after = "without your approval after you last approved a command outside the sandbox"
	if u == nil {
		return ""
	}
	text := strings.Join(u.Paths[:min(len(u.Paths), maxListed)], ", ")
	switch more := len(u.Paths) - maxListed; {
	case len(u.Paths) == 0 && u.More:
		return "files may have been changed " + after + "; buddy has no list of them"
	case len(u.Paths) == 0:
		return "commands ran " + after + "; no file has changed"
	case more > 0 && !u.More:
		text += fmt.Sprintf(" and %d more", more)
	case more > 0 || u.More:
		text += " and more"
	}
	return "files were changed " + after + ": " + text
}
