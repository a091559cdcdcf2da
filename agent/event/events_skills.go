package event

// SkillLoaded marks that the text of a skill or a custom command was sent to the model.
type SkillLoaded struct {
	Name   string `json:"name"`
	Args   string `json:"args,omitempty"`
	Origin string `json:"origin"` // person, project, plugin or built-in
	File   string `json:"file"`
	Sum    string `json:"sum"`            // SHA-256 of the file
	By     Caller `json:"by"`             // who called it
	Line   string `json:"line,omitempty"` // by a person: the typed line
	Text   string `json:"text,omitempty"` // by a person: the text for the model; otherwise the result of the call has it
}

// Caller names the caller of a skill.
type Caller string

// The callers.
const (
	ByPerson Caller = "person"
	ByModel  Caller = "model"
)

// CommandsListed holds all skills and custom commands that a person may call now.
type CommandsListed struct {
	Commands []CustomCommand `json:"commands"`
}

// CustomCommand is a skill or a custom command that a person may call.
type CustomCommand struct {
	Name   string `json:"name"`           // without the slash
	Args   string `json:"args,omitempty"` // a hint about the arguments
	Help   string `json:"help,omitempty"`
	Origin string `json:"origin"` // person, project, plugin or built-in
}
