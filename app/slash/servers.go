package slash

// Server is an MCP server as a list shows it. Its texts are untrusted.
type Server struct {
	Name     string
	State    string
	Kind     string // how it is talked to
	Tools    int
	Error    string   // the last one, "" while it is ready
	Lines    []string // all that is known of it, with the end of its log
	On       bool     // it runs, or is to run
	Fixed    bool     // it can't be started here; Error says why
	Withheld bool     // some of its texts do not reach the model before the person has read them
}

// ServerList is the MCP servers of a session. Its functions may take long.
type ServerList struct {
	List func() ([]Server, error)
	Do   func(args string) (string, error) // obeys what follows /mcp, and returns what there is to say
}

// OnMCP lists the MCP servers, tells all about one, or starts or ends one.
func (c Catalog) OnMCP(s Frontend, args string) error {
	Inform(s, "/mcp", func() (string, error) { return c.MCP.Do(args) }, s.Say)
	return nil
}
