package live

import (
	"encoding/json"
	"fmt"
	"reflect"

	"buddy/agent/action"
	"buddy/agent/model"
	"buddy/agent/undo"
)

// Changes asks for the diff of what the agent changed in files.
type Changes struct{ asks[ChangesReply] }

// ChangesReply is the diff and how many files it is of.
type ChangesReply struct {
	Diff  string `json:"diff"`
	Files int    `json:"files"`
}

// ChangedSince asks how many files have changed since prompts.
type ChangedSince struct{ asks[ChangedSinceReply] }

// ChangedSinceReply lists them, the oldest prompt first.
type ChangedSinceReply struct {
	Changes []undo.Change `json:"changes"`
}

// DescribeTarget asks where commands run, for people.
type DescribeTarget struct{ asks[TextReply] }

// TextReply is a text for people.
type TextReply struct {
	Text string `json:"text"`
}

// Targets asks which targets may be switched to. It connects to none.
type Targets struct{ asks[TargetsReply] }

// TargetsReply lists them.
type TargetsReply struct {
	Targets []Target `json:"targets"`
}

// Target is a target of the session as it is known without asking it.
type Target struct {
	Name       string `json:"name"`
	Kind       string `json:"kind"`
	Address    string `json:"address,omitempty"`
	Folder     string `json:"folder,omitempty"`
	Attach     string `json:"attach,omitempty"` // the line that attaches to its panes
	Current    bool   `json:"current,omitempty"`
	Production bool   `json:"production,omitempty"`
	State      string `json:"state"`
	Why        string `json:"why,omitempty"`  // it can't be reached; "" if it can
	Asks       bool   `json:"asks,omitempty"` // it can be asked for a sign of life, with Alive
}

// Rules asks which rules apply now.
type Rules struct{ asks[RulesReply] }

// RulesReply are the rules, in their order.
type RulesReply struct {
	Rules []action.Rule `json:"rules"`
}

// MCP obeys what follows /mcp, and asks what there is to say.
type MCP struct {
	asks[TextReply]
	Args string `json:"args,omitempty"`
}

// Servers asks which MCP servers there are.
type Servers struct{ asks[ServersReply] }

// ServersReply lists them.
type ServersReply struct {
	Servers []Server `json:"servers"`
}

// Server is an MCP server of the session.
type Server struct {
	Name     string   `json:"name"`
	State    string   `json:"state"`
	Kind     string   `json:"kind"`
	Tools    int      `json:"tools,omitempty"`
	Error    string   `json:"error,omitempty"`
	Lines    []string `json:"lines"`
	On       bool     `json:"on,omitempty"`
	Fixed    bool     `json:"fixed,omitempty"` // it can't be started here
	Withheld bool     `json:"withheld,omitempty"`
}

// Memory obeys what follows /memory, and asks what there is to say.
type Memory struct {
	asks[TextReply]
	Args string `json:"args,omitempty"`
}

// Memories asks what memory has.
type Memories struct{ asks[MemoriesReply] }

// MemoriesReply lists it, and says in a line what was skipped.
type MemoriesReply struct {
	All     []Remembered `json:"all"`
	Skipped string       `json:"skipped,omitempty"`
}

// Remembered is a line of memory: an entry, or a proposal of one.
type Remembered struct {
	ID       string `json:"id"`
	Kind     string `json:"kind"`
	Scope    string `json:"scope"`
	Text     string `json:"text"`
	State    string `json:"state,omitempty"`
	Limits   string `json:"limits,omitempty"`
	Source   string `json:"source,omitempty"`
	File     string `json:"file,omitempty"`
	Note     string `json:"note,omitempty"`
	Proposed bool   `json:"proposed,omitempty"`
}

// Alive asks a target for a sign of life.
type Alive struct {
	asks[AliveReply]
	Target string `json:"name"`
}

// AliveReply says what became of it.
type AliveReply struct {
	State string `json:"state"`
	Why   string `json:"why,omitempty"`
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
	"changes":         Changes{},
	"changed_since":   ChangedSince{},
	"describe_target": DescribeTarget{},
	"describe":        Describe{},
	"targets":         Targets{},
	"alive":           Alive{},
	"files":           Files{},
	"named":           Named{},
	"arguments":       Arguments{},
	"rules":           Rules{},
	"mcp":             MCP{},
	"servers":         Servers{},
	"memory":          Memory{},
	"memories":        Memories{},
	"close":           Close{},
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
