package action

import (
	"strings"

	"buddy/texts"
)

// Memory says what the memory holds about an Action, and what it may learn when the Action is denied.
type Memory struct {
	Said   []string `json:"said,omitempty"`   // what the person taught for all projects about such actions, each with its id
	Noted  []string `json:"noted,omitempty"`  // what files in the project say of them, which others may have written: each with where that is and its id
	Scopes []string `json:"scopes,omitempty"` // in which the reason of a denial can be remembered; none where it can't be
	Begins string   `json:"begins,omitempty"` // how a remembered reason begins: "Not `npm install`: "
	Only   string   `json:"only,omitempty"`   // the target to which what is remembered is limited, "" for none
}

// MaxTaught limits what is remembered of a denial, in characters.
const MaxTaught = 200

// Taught returns what is remembered of a denial for a reason, "" for nothing. begins is that of [Memory].
func Taught(begins, reason string) string {
	if reason = strings.TrimRight(strings.TrimSpace(texts.OneLine(reason)), ".!"); reason == "" {
		return ""
	}
	return texts.Clip(begins+reason, MaxTaught-1) + "."
}

var scopes = map[string]string{
	"folder": "in this folder", "person": "in all your projects", "team": "for the team, in .buddy/memory.md",
}

// ScopeText says where something is remembered that is kept in a scope, for people.
func ScopeText(scope string) string {
	if text := scopes[scope]; text != "" {
		return text
	}
	return "in the scope " + scope
}
