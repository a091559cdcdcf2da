package event

// MCPServer says what an MCP server does now.
type MCPServer struct {
	Server string `json:"server"`
	State  string `json:"state"` // starting, ready, waiting (to be started again), failed, off
	Error  string `json:"error,omitempty"`
	Tools  int    `json:"tools,omitempty"`
	// Prompts are those of the server, as commands to call.
	Prompts []CustomCommand `json:"prompts,omitempty"`
}

// MCPReady says that every MCP server of the session is ready or has failed.
type MCPReady struct {
	Servers []string     `json:"servers"` // those that are ready
	Failed  []MCPFailure `json:"failed,omitempty"`
}

// MCPFailure says why an MCP server can't be used.
type MCPFailure struct {
	Server string `json:"server"`
	Error  string `json:"error"`
}

// MCPCallStarted marks that a request was sent to an MCP server.
type MCPCallStarted struct {
	Server string `json:"server"`
	Tool   string `json:"tool"` // as the server names it
	CallID string `json:"call_id"`
}

// MCPCallFinished marks the end of that request.
type MCPCallFinished struct {
	Server  string `json:"server"`
	Tool    string `json:"tool"`
	CallID  string `json:"call_id"`
	IsError bool   `json:"is_error"`
}
