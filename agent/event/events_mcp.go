package event

// MCPServer reports the state of an MCP server.
type MCPServer struct {
	Server string `json:"server"`
	State  string `json:"state"` // starting, ready, waiting (for a restart), failed, off
	Error  string `json:"error,omitempty"`
	Tools  int    `json:"tools,omitempty"`
	// Prompts are the server's prompts as commands.
	Prompts []CustomCommand `json:"prompts,omitempty"`
}

// MCPReady marks that every MCP server of the session is ready or has failed.
type MCPReady struct {
	Servers []string     `json:"servers"` // the ready ones
	Failed  []MCPFailure `json:"failed,omitempty"`
}

// MCPFailure holds the reason why an MCP server can't be used.
type MCPFailure struct {
	Server string `json:"server"`
	Error  string `json:"error"`
}

// MCPCallStarted marks that a request was sent to an MCP server.
type MCPCallStarted struct {
	Server string `json:"server"`
	Tool   string `json:"tool"` // the server's name for it
	CallID string `json:"call_id"`
}

// MCPCallFinished marks the end of a request to an MCP server.
type MCPCallFinished struct {
	Server  string `json:"server"`
	Tool    string `json:"tool"`
	CallID  string `json:"call_id"`
	IsError bool   `json:"is_error"`
}
