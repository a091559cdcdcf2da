package client

import (
	"encoding/json"
	"fmt"
	"reflect"

	"buddy/agent/model"
	"buddy/agent/undo"
	"buddy/app/show"
	"buddy/app/slash"
)

// ChangedSince asks how many files have changed since each prompt.
type ChangedSince struct{ asks[ChangedSinceReply] }

// ChangedSinceReply lists the changes, the oldest prompt first.
type ChangedSinceReply struct {
	Changes []undo.Change `json:"changes"`
}

// Run runs a slash command: Words holds the command's name, then its arguments. The reply is the command's answer.
type Run struct {
	asks[show.Answer]
	Words []string   `json:"words"`
	Now   *slash.Now `json:"now,omitempty"` // the screen's facts; commands that need them fail without them
}

// Describe asks for a description of the session, for a list.
type Describe struct{ asks[Description] }

// Description is a line of a list of running sessions.
type Description struct {
	ID      string      `json:"id"`
	State   State       `json:"state"`
	Title   string      `json:"title"` // "" before its first prompt
	Folder  string      `json:"folder"`
	Target  string      `json:"target"`
	Began   int64       `json:"began_unix_ms"` // 0 before its first prompt
	Cost    model.Money `json:"cost"`
	Screens int         `json:"screens"` // attached screens
	Latest

	// Here is the folder on this machine where the session was started, and Options are its host's options
	// (compose.Options). A screen that attaches uses both.
	Here    string          `json:"here"`
	Options json.RawMessage `json:"options"`
}

// State is the activity of a session.
type State string

// The states of a running session.
const (
	Working          State = "working"
	Background       State = "background" // only commands in the background run, such as a server
	WaitsForApproval State = "waits for approval"
	WaitsForAnswer   State = "waits for answer"
	Idle             State = "idle"
	Failed           State = "failed" // idle, and its last task failed
)

// Files asks for names of files on the current target, for completion.
type Files struct {
	asks[FilesReply]
	Query string `json:"query"`
}

// FilesReply holds paths or names, the best match first.
type FilesReply struct {
	Paths []string `json:"paths"`
}

// Named asks for the names besides files that a prompt can use after an @, for completion: subagents, as agent-TYPE,
// and the resources of MCP servers.
type Named struct {
	asks[FilesReply]
	Query string `json:"query"`
}

// Arguments asks for the possible completions of the last word of a command line.
type Arguments struct {
	asks[ArgumentsReply]
	Line string `json:"line"`
}

// ArgumentsReply holds the completions in the order to show them.
type ArgumentsReply struct {
	Words []Argument `json:"words"`
}

// Argument is a word of a command line and its explanation. Both may come from an untrusted file.
type Argument struct {
	Word string `json:"word"`
	Help string `json:"help,omitempty"`
}

// Close ends the session. Kill also ends everything in managed panes. Abandon leaves the session as a crash would:
// commands keep running, nothing counts as cancelled, and a resumed session continues its work. WhenIdle ends the session
// once nothing runs in it or needs the user's answer.
type Close struct {
	asks[CloseReply]
	Kill     bool   `json:"kill,omitempty"`
	Abandon  bool   `json:"abandon,omitempty"`
	WhenIdle bool   `json:"when_idle,omitempty"`
	Reason   string `json:"reason,omitempty"` // as hooks get it; "" means any other reason
}

// CloseReply holds the lines to print after the screen closes.
type CloseReply struct {
	Lines  []string `json:"lines,omitempty"`
	Stored bool     `json:"stored"`          // the whole session is in its file
	Later  bool     `json:"later,omitempty"` // the session still works, and ends by itself
}

// asks makes the embedding type a request whose reply is of type R.
type asks[R any] struct{}

// Reply returns a pointer to an empty reply, to be filled from the wire.
func (asks[R]) Reply() any { return new(R) }

// requests lists all requests by their names on the wire.
var requests = map[string]Request{
	"changed_since": ChangedSince{},
	"describe":      Describe{},
	"files":         Files{},
	"named":         Named{},
	"arguments":     Arguments{},
	"run":           Run{},
	"close":         Close{},
}

// Name returns the name of a request on the wire.
func Name(q Request) string {
	for name, other := range requests {
		if reflect.TypeOf(other) == reflect.TypeOf(q) {
			return name
		}
	}
	return fmt.Sprintf("%T", q) // no host knows it
}

// DecodeRequest decodes the request with the given name from its arguments on the wire.
func DecodeRequest(name string, args json.RawMessage) (Request, error) {
	known, ok := requests[name]
	if !ok {
		return nil, fmt.Errorf("unknown request %q", name)
	}
	q := reflect.New(reflect.TypeOf(known))
	if err := json.Unmarshal(args, q.Interface()); err != nil {
		return nil, fmt.Errorf("request %s: %w", name, err)
	}
	return q.Elem().Interface().(Request), nil
}
