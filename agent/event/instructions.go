package event

// InstructionsRead says which instruction files the model is told from here on: all at the
// beginning of a session and after a compaction, and more when it begins to work in a folder
// that has its own. Injection describes a prompt injection in them, "" for none.
type InstructionsRead struct {
	Files     []InstructionFile `json:"files,omitempty"`
	Injection string            `json:"speaks,omitempty"`
}

// InstructionFile is one of them. Sent is how many bytes of it the model is told; Why says
// why that is not all.
type InstructionFile struct {
	Path  string `json:"path"`
	From  string `json:"from"` // person or project
	Bytes int    `json:"bytes"`
	Sent  int    `json:"sent"`
	Why   string `json:"why,omitempty"`
}
