package acp

import "encoding/json"

// The types below are those parts of the protocol's schema (version 1) that buddy uses.

type initializeParams struct {
	ProtocolVersion    int                `json:"protocolVersion"`
	ClientCapabilities clientCapabilities `json:"clientCapabilities"`
}

type clientCapabilities struct {
	Auth struct {
		Terminal bool `json:"terminal"`
	} `json:"auth"`
	Elicitation *struct {
		Form *struct{} `json:"form"`
	} `json:"elicitation"`
}

// forms reports whether the editor can show forms.
func (c clientCapabilities) forms() bool { return c.Elicitation != nil && c.Elicitation.Form != nil }

// sessionParams are the parameters of all requests about a session.
type sessionParams struct {
	SessionID             string         `json:"sessionId"`
	Cwd                   string         `json:"cwd"`
	AdditionalDirectories []string       `json:"additionalDirectories"`
	MCPServers            []mcpServer    `json:"mcpServers"`
	ModeID                string         `json:"modeId"`
	ConfigID              string         `json:"configId"`
	Value                 any            `json:"value"`
	Prompt                []contentBlock `json:"prompt"`
	Cursor                string         `json:"cursor"`
}

type mcpServer struct {
	Type    string      `json:"type"` // "" for stdio
	Name    string      `json:"name"`
	Command string      `json:"command"`
	Args    []string    `json:"args"`
	Env     []nameValue `json:"env"`
	URL     string      `json:"url"`
	Headers []nameValue `json:"headers"`
}

type nameValue struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type contentBlock struct {
	Type     string    `json:"type"`
	Text     string    `json:"text,omitempty"`
	Data     string    `json:"data,omitempty"`
	MimeType string    `json:"mimeType,omitempty"`
	Name     string    `json:"name,omitempty"`
	URI      string    `json:"uri,omitempty"`
	Resource *resource `json:"resource,omitempty"`
}

// MarshalJSON includes an empty text, because the protocol requires the field.
func (b contentBlock) MarshalJSON() ([]byte, error) {
	type plain contentBlock
	if b.Type != "text" {
		return json.Marshal(plain(b))
	}
	return json.Marshal(struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}{b.Type, b.Text})
}

func textBlock(text string) *contentBlock { return &contentBlock{Type: "text", Text: clean(text)} }

type resource struct {
	URI      string  `json:"uri"`
	MimeType string  `json:"mimeType,omitempty"`
	Text     *string `json:"text,omitempty"`
	Blob     string  `json:"blob,omitempty"`
}

// update is the payload of session/update. Update names its kind.
type update struct {
	Update    string        `json:"sessionUpdate"`
	Content   *contentBlock `json:"content,omitempty"`
	MessageID string        `json:"messageId,omitempty"`
	Entries   *[]planEntry  `json:"entries,omitempty"`
	Used      *int          `json:"used,omitempty"`
	Size      *int          `json:"size,omitempty"`
	Cost      *cost         `json:"cost,omitempty"`
	Commands  *[]command    `json:"availableCommands,omitempty"`
	Mode      string        `json:"currentModeId,omitempty"`
	Options   []option      `json:"configOptions,omitempty"`
	Title     string        `json:"title,omitempty"`
}

// toolCall is a tool_call, a tool_call_update, or the call in a permission request. A field that an update omits keeps
// its value. Content replaces all earlier content.
type toolCall struct {
	Update    string          `json:"sessionUpdate,omitempty"`
	ID        string          `json:"toolCallId"`
	Title     string          `json:"title,omitempty"`
	Kind      string          `json:"kind,omitempty"`
	Status    string          `json:"status,omitempty"`
	Content   []callContent   `json:"content,omitempty"`
	Locations []location      `json:"locations,omitempty"`
	RawInput  json.RawMessage `json:"rawInput,omitempty"`
}

type callContent struct {
	Type    string        `json:"type"` // content or diff
	Content *contentBlock `json:"content,omitempty"`
	Path    string        `json:"path,omitempty"`
	OldText *string       `json:"oldText,omitempty"`
	NewText *string       `json:"newText,omitempty"`
}

type location struct {
	Path string `json:"path"`
}

type planEntry struct {
	Content  string `json:"content"`
	Priority string `json:"priority"`
	Status   string `json:"status"`
}

type cost struct {
	Amount   float64 `json:"amount"`
	Currency string  `json:"currency"`
}

type command struct {
	Name        string        `json:"name"`
	Description string        `json:"description"`
	Input       *commandInput `json:"input,omitempty"`
}

type commandInput struct {
	Hint string `json:"hint"`
}

type modes struct {
	Current   string `json:"currentModeId"`
	Available []mode `json:"availableModes"`
}

type mode struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

type option struct {
	ID       string         `json:"id"`
	Name     string         `json:"name"`
	Category string         `json:"category"`
	Type     string         `json:"type"`
	Current  string         `json:"currentValue"`
	Options  []optionChoice `json:"options"`
}

type optionChoice struct {
	Value       string `json:"value"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// opened answers session/new, session/load and session/resume.
type opened struct {
	SessionID string   `json:"sessionId,omitempty"`
	Modes     *modes   `json:"modes,omitempty"`
	Options   []option `json:"configOptions,omitempty"`
}

type permission struct {
	ID   string `json:"optionId"`
	Name string `json:"name"`
	Kind string `json:"kind"`
}

type permissionOutcome struct {
	Outcome struct {
		Outcome string `json:"outcome"`
		Option  string `json:"optionId"`
	} `json:"outcome"`
}

type formAnswer struct {
	Action  string         `json:"action"`
	Content map[string]any `json:"content"`
}

type sessionInfo struct {
	SessionID string `json:"sessionId"`
	Cwd       string `json:"cwd"`
	Title     string `json:"title,omitempty"`
	UpdatedAt string `json:"updatedAt,omitempty"`
}
