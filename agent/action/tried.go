package action

// Try reports whether the user can try a command before approving it: run it in a sandbox that collects its file
// changes in a private folder, and then decide whether to apply them to the workspace.
type Try struct {
	Offered bool   `json:"offered,omitempty"`
	Why     string `json:"why,omitempty"` // a clause that says why it is not offered; "" if the question does not arise
}

// Tried describes the result of trying a command, for the user who decides whether to apply its changes.
type Tried struct {
	Running   bool        `json:"running,omitempty"` // it has not ended yet, and only LimitMS is set
	LimitMS   int64       `json:"limit_ms,omitempty"`
	Code      int         `json:"code"` // exit code
	TookMS    int64       `json:"took_ms"`
	Files     []TriedFile `json:"files,omitempty"` // the changes, in the order of their paths
	More      int         `json:"more,omitempty"`  // changes that Files leaves out
	Count     int         `json:"count,omitempty"` // changed files, not folders
	Added     int         `json:"added,omitempty"` // lines
	Deleted   int         `json:"deleted,omitempty"`
	Output    string      `json:"output,omitempty"`    // the end of what it printed
	Names     []string    `json:"names,omitempty"`     // hosts that the sandbox refused
	Doubts    []string    `json:"doubts,omitempty"`    // clauses that say why a real run may do something else
	Stopped   string      `json:"stopped,omitempty"`   // the limit that ended it, as a clause
	Conflicts []string    `json:"conflicts,omitempty"` // paths that others have changed since the command started
}

// TriedFile describes one changed file: a line that says what changed, and a diff unless the file is binary or may hold
// secrets.
type TriedFile struct {
	Path    string `json:"path"`
	Preview string `json:"preview"`
}

// Keepable reports whether the changes can be kept.
func (t *Tried) Keepable() bool {
	return t != nil && !t.Running && t.Stopped == "" && len(t.Conflicts) == 0
}
