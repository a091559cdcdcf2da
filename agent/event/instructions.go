package event

// InstructionsRead lists the instruction files sent to the model from here on: all of them at
// the beginning of a session and after a compaction, more when work begins in a folder that
// has its own. Injection describes a prompt injection in them, "" for none.
type InstructionsRead struct {
	Files     []InstructionFile `json:"files,omitempty"`
	Injection string            `json:"speaks,omitempty"`
}

// InstructionFile is one instruction file. Sent counts the bytes of it that the model gets;
// Why is the reason when that is not all.
type InstructionFile struct {
	Path  string `json:"path"`
	From  string `json:"from"` // person or project
	Bytes int    `json:"bytes"`
	Sent  int    `json:"sent"`
	Why   string `json:"why,omitempty"`
}
