package live

import (
	"encoding/json"
	"fmt"
	"reflect"

	"buddy/agent/model"
	"buddy/agent/undo"
	"buddy/app/show"
	"buddy/app/slash"
)

// ChangedSince asks how many files have changed since prompts.
type ChangedSince struct{ asks[ChangedSinceReply] }

// ChangedSinceReply lists them, the oldest prompt first.
type ChangedSinceReply struct {
	Changes []undo.Change `json:"changes"`
}

// Run runs a command of the table: its name, then its arguments. The reply is what the command answers.
type Run struct {
	asks[show.Answer]
	Words []string   `json:"words"`
	Now   *slash.Now `json:"now,omitempty"` // what the screen knows; commands that need it refuse without
}

// Describe asks what the session is about and what it does, for a list.
type Describe struct{ asks[Description] }

// Description is a line of a list of sessions that run.
type Description struct {
	ID      string      `json:"id"`
	State   State       `json:"state"`
	Title   string      `json:"title"` // "" before its first prompt
	Folder  string      `json:"folder"`
	Target  string      `json:"target"`
	Began   int64       `json:"began_unix_ms"` // 0 before its first prompt
	Cost    model.Money `json:"cost"`
	Screens int         `json:"screens"` // that are attached

	// Here is the folder on this machine where it was begun, and Options are those of its host
	// (compose.Options): a screen that attaches takes both over.
	Here    string          `json:"here"`
	Options json.RawMessage `json:"options"`
}

// State tells what a session does.
type State string

// The states of a session that runs.
const (
	Working          State = "working"
	Background       State = "background" // nothing works but commands in the background, such as a server
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

// FilesReply are their paths, the best first.
type FilesReply struct {
	Paths []string `json:"paths"`
}

// Named asks what a prompt can name after an @ besides files, for completion: subagents, as agent-TYPE,
// and the resources of MCP servers.
type Named struct {
	asks[FilesReply]
	Query string `json:"query"`
}

// Arguments asks what the last word of a command's line may become, for completion.
type Arguments struct {
	asks[ArgumentsReply]
	Line string `json:"line"`
}

// ArgumentsReply are the words, in their order.
type ArgumentsReply struct {
	Words []Argument `json:"words"`
}

// Argument is a word of a command's line, and what it means. Both may come from a file.
type Argument struct {
	Word string `json:"word"`
	Help string `json:"help,omitempty"`
}

// Close ends the session. Kill ends also what runs in panes of its own. Abandon leaves it as a
// crash would: commands go on, nothing counts as cancelled, and resuming goes on with it.
type Close struct {
	asks[CloseReply]
	Kill    bool   `json:"kill,omitempty"`
	Abandon bool   `json:"abandon,omitempty"`
	Reason  string `json:"reason,omitempty"` // that hooks are told; "" is any other
}

// CloseReply has the lines to print when the screen is gone.
type CloseReply struct {
	Lines  []string `json:"lines,omitempty"`
	Stored bool     `json:"stored"` // all of the session is in its file
}

// asks makes a request of what embeds it, whose reply is of type R.
type asks[R any] struct{}

// Reply returns a pointer to an empty reply, to be filled from the wire.
func (asks[R]) Reply() any { return new(R) }

// requests are all that there are, by their names on the wire.
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
	return fmt.Sprintf("%T", q) // which no host knows
}

// DecodeRequest returns the request of a name with the arguments that it has on the wire.
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
