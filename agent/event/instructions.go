package event

// InstructionsRead lists instruction files sent to the model: all at the start of a session and after a compaction,
// more when work starts in a folder with its own files. Injection describes a prompt injection in them, "" if none.
type InstructionsRead struct {
	Files     []InstructionFile `json:"files,omitempty"`
	Injection string            `json:"speaks,omitempty"`
}

// InstructionFile is one instruction file. The model gets Sent of its Bytes; if not all, Why gives the reason.
type InstructionFile struct {
	Path  string `json:"path"`
	From  string `json:"from"` // person or project
	Bytes int    `json:"bytes"`
	Sent  int    `json:"sent"`
	Why   string `json:"why,omitempty"`
}
