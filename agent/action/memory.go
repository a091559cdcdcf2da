package action

import (
	"strings"

	"buddy/texts"
)

// Memory holds the memory entries about an Action, and where and how the reason of a denial can be stored as a new
// entry.
type Memory struct {
	Said   []string `json:"said,omitempty"`   // the person's entries for all projects, each with its id
	Noted  []string `json:"noted,omitempty"`  // entries in the project's files, possibly written by others, each with its place and id
	Scopes []string `json:"scopes,omitempty"` // where the reason of a denial can be stored; none if it can't
	Begins string   `json:"begins,omitempty"` // start of the stored reason: "Not `npm install`: "
	Only   string   `json:"only,omitempty"`   // the only target that the entry applies to, "" for all
}

// MaxTaught limits a memory entry made from a denial, in characters.
const MaxTaught = 200

// Taught returns the memory entry to store when the user denies an action with a reason, or "" if there is no reason.
// begins is the Begins field of [Memory].
func Taught(begins, reason string) string {
	if reason = strings.TrimRight(strings.TrimSpace(texts.OneLine(reason)), ".!"); reason == "" {
		return ""
	}
	return texts.Clip(begins+reason, MaxTaught-1) + "."
}

var scopes = map[string]string{
	"folder": "in this folder", "person": "in all your projects", "team": "for the team, in .buddy/memory.md",
}

// ScopeText describes where the entries of a scope are stored.
func ScopeText(scope string) string {
	if text := scopes[scope]; text != "" {
		return text
	}
	return "in the scope " + scope
}
