package mcp

import (
	"cmp"
	"slices"
	"strings"

	"buddy/texts"
)

// State is the state of a server.
type State string

// The states of a server.
const (
	Starting State = "starting"
	Ready    State = "ready"
	Failed   State = "failed"  // it does not restart by itself
	Waiting  State = "waiting" // it ended or failed, and is restarted after a while
	Off      State = "off"
)

// Status describes a server for people. Its texts come from the server and are untrusted.
type Status struct {
	Name         string     `json:"name"`
	Transport    Transport  `json:"transport"`
	Where        string     `json:"where"` // its command line or URL
	Project      bool       `json:"project,omitempty"`
	Fence        string     `json:"fence,omitempty"`     // the sandbox of a project's server in auto mode
	Elsewhere    bool       `json:"elsewhere,omitempty"` // of a project on another machine, so it never runs
	State        State      `json:"state"`
	Barred       bool       `json:"barred,omitempty"` // it can't be started in this session; see Error
	Error        string     `json:"error,omitempty"`  // the last one
	Protocol     string     `json:"protocol,omitempty"`
	Title        string     `json:"title,omitempty"` // name and version in the server's words
	Tools        []ToolInfo `json:"tools,omitempty"`
	Prompts      []string   `json:"prompts,omitempty"` // their commands
	Resources    int        `json:"resources,omitempty"`
	Changed      int        `json:"changed,omitempty"` // resources with a subscription that have changed
	Notes        []string   `json:"notes,omitempty"`   // what was left out, and why
	Instructions string     `json:"instructions,omitempty"`
	Withheld     bool       `json:"withheld,omitempty"` // the instructions are hidden from the model until the person has read them
	Stderr       string     `json:"stderr,omitempty"`   // the end of its output
}

// Usable reports whether the server is ready, or off without an error.
func (s Status) Usable() bool { return s.State == Ready || s.State == Off && s.Error == "" }

// ToolInfo describes a tool for people.
type ToolInfo struct {
	Name        string `json:"name"` // the model's name for it
	Description string `json:"description,omitempty"`
	ReadOnly    bool   `json:"read_only,omitempty"`
	Destructive bool   `json:"destructive,omitempty"`
	Withheld    string `json:"withheld,omitempty"` // why the description is hidden from the model
}

// List describes all servers, sorted by name.
func (s *Servers) List() []Status {
	var all []Status
	for _, one := range s.every() {
		all = append(all, one.status())
	}
	slices.SortFunc(all, func(a, b Status) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// Where returns the command line or the URL of a server.
func (s Server) Where() string {
	if s.Transport == Stdio {
		return strings.Join(s.Process.Command, " ")
	}
	return s.Endpoint.URL
}

// status returns the status of the server.
func (s *server) status() Status {
	st := s.known()
	if st.Instructions != "" {
		st.Withheld = !instructionsAllowed(st.Instructions, s.readTexts())
	}
	return st
}

// known returns the status without the parts that depend on files.
func (s *server) known() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := Status{
		Name: s.def.Name, Transport: s.def.Transport, Where: s.def.Where(), Project: s.def.Project,
		State: s.state, Error: s.lastError, Barred: s.def.Problem != "", Notes: slices.Clone(s.notes), Resources: len(s.resources), Instructions: s.instructions,
	}
	switch {
	case s.def.Outside:
		st.Fence = "outside the sandbox in auto mode, too (outside = true)"
	case s.conn != nil && s.conn.held:
		st.Fence = "in the sandbox"
	}
	for _, t := range s.tools {
		st.Tools = append(st.Tools, t.info())
	}
	for _, one := range s.all.subs.of(s.def.Name) {
		if one.changes > 0 {
			st.Changed++
		}
	}
	st.Prompts = modelNames(s.def.Name, promptNames(s.prompts))
	if c := s.conn; c != nil {
		if c.process != nil {
			st.Stderr = c.process.Stderr()
		}
		if c.lines != nil {
			if n := c.lines.noise.Load(); n > 0 {
				st.Notes = append(st.Notes, texts.Plural(int(n), "line")+" of its output that are not messages were dropped")
			}
		}
		if res := c.session.InitializeResult(); res != nil {
			st.Protocol = res.ProtocolVersion
			if res.ServerInfo != nil {
				st.Title = strings.TrimSpace(cmp.Or(res.ServerInfo.Title, res.ServerInfo.Name) + " " + res.ServerInfo.Version)
			}
		}
	} else {
		st.Stderr = s.stderr
	}
	return st
}
