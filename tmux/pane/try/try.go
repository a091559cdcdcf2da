// Package try runs a command in a sandbox that collects its file changes in a private folder, the layer. The changes
// can then be listed, and applied to the workspace without running the command again.
//
//	result, err := try.Run(ctx, config, try.Command{Shell: "/bin/bash", Line: "sed -i s/a/b/ *.txt", Dir: dir})
//	for _, c := range result.Changes { … }
//	err = result.Keep() // the workspace is unchanged if this is a *ConflictError
//	err = result.Discard()
//
// On Linux, the sandbox is that of package fence with an overlay over the workspace; the layer is on the same file
// system. The command has no network, but the host names that it looks up are recorded. Keep exchanges the changed
// files between the layer and the workspace.
package try

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"buddy/texts"
	"buddy/tmux/pane/fence"
)

// ErrImpossible means that a command can't be tried here. Nothing ran. The text tells the user why.
var ErrImpossible = errors.New("commands can't be tried here")

// Config describes the sandbox in which commands are tried.
type Config struct {
	// Fence is the sandbox. Its first workspace folder is the one whose changes can be kept. Changes of its caches and
	// of its temporary folder are discarded; everything else is read-only. Network and Hosts have no effect.
	Fence fence.Config
	// Layers is an existing private folder for layers, on the file system and the mount of the workspace, but not in
	// it.
	Layers string
	Limits Limits
}

// Limits bound a command. Zero values mean those of [DefaultLimits].
type Limits struct {
	Time   time.Duration
	Bytes  int64 // of one file, and of all changes
	Paths  int   // changed paths
	Tasks  int   // processes and threads; has no effect for root
	Output int   // bytes of the output's end
	// More is called whenever the command has run for Time, and returns whether it may run for another Time. A nil More
	// means no. More must return when ctx ends, which is at the command's end.
	More func(ctx context.Context) bool
}

// DefaultLimits are the limits of a command.
var DefaultLimits = Limits{Time: time.Minute, Bytes: 1 << 30, Paths: 50_000, Tasks: 4096, Output: 64 << 10}

// Command is a command line for a shell.
type Command struct {
	Shell string // the path of the shell
	Line  string
	Dir   string // in the workspace
	// Now holds the variables as earlier commands left them, nil for those of the first command; Withheld lists the
	// variables to hide. See [fence.Fence.Environ].
	Now, Withheld []string
}

// Kind is the kind of a change.
type Kind string

// The kinds of changes.
const (
	Created     Kind = "created"
	Changed     Kind = "changed" // another content, perhaps other permissions
	Deleted     Kind = "deleted"
	TypeChanged Kind = "type changed" // such as a file that is now a link or a folder
	ModeChanged Kind = "mode changed" // other permissions only
	Touched     Kind = "touched"      // only written again: the same content and permissions
)

// Change describes one changed path. A folder's change does not include its contents, which have changes of their own.
type Change struct {
	Path             string // below the workspace, in any bytes; "." for the workspace itself
	Kind             Kind
	Old, New         string // paths of both contents until they are kept or discarded; "" if there is none
	OldMode, NewMode fs.FileMode
	OldSize, NewSize int64 // bytes
}

// Loss is a path that keeping treats differently from a real run.
type Loss struct {
	Path, Why string
}

// Result is the outcome of a command. Every Result must be discarded in the end, even after Keep. Only one goroutine
// may use it.
type Result struct {
	Code        int           // the exit code as in shells: 128 and the number of a signal
	Took        time.Duration // from the start to the end of the command
	Output      []byte        // the end of both streams together
	OutputTotal int64         // bytes of the whole output
	Names       []string      // of hosts that it looked up, at most 100, in the order of the first look-ups
	Changes     []Change      // sorted by path
	Losses      []Loss        // sorted by path
	Stopped     string        // the limit that ended the command: changes can't be kept then; "" if it ended by itself
	Layer       string        // the folder of the layer, for [Resume] and [Discard]

	work  string // the workspace
	moves []move
	mark  int64
}

// refusals matches messages about operations that are refused only because the command is tried or sandboxed.
var refusals = texts.Regexp(`(?i)cross-device link|read-only file system|permission denied|operation not permitted|network is unreachable|value too large for defined data type`)

// doubtsMax limits the lines of output that Doubts quotes.
const doubtsMax = 3

// Doubts returns reasons why a run without this sandbox might have other effects, as phrases such as "it ended with
// exit code 1". It returns nil if there is no known reason.
func (r *Result) Doubts() (why []string) {
	if r.Stopped != "" {
		why = append(why, r.Stopped)
	}
	if r.Code != 0 {
		why = append(why, fmt.Sprintf("it ended with exit code %d", r.Code))
	}
	if len(r.Names) > 0 {
		why = append(why, "it asked for "+strings.Join(r.Names, ", ")+", which it could not reach")
	}
	lines := 0
	for l := range strings.Lines(string(r.Output)) {
		if l = strings.TrimSpace(l); lines < doubtsMax && refusals().MatchString(l) {
			why = append(why, fmt.Sprintf("it said %q", l))
			lines++
		}
	}
	return why
}

// ConflictError means that others changed the workspace since the command started. Nothing was kept.
type ConflictError struct {
	Paths []string // below the workspace
}

// conflictsNamed limits the paths in the text of a ConflictError.
const conflictsNamed = 5

func (e *ConflictError) Error() string {
	named, more := e.Paths, ""
	if len(named) > conflictsNamed {
		more = fmt.Sprintf(" and %d more", len(named)-conflictsNamed)
		named = named[:conflictsNamed]
	}
	return fmt.Sprintf("nothing was kept: %q%s changed since the command was tried; try it again", strings.Join(named, ", "), more)
}

// or returns the limits with defaults instead of zero values.
func (l Limits) or(d Limits) Limits {
	return Limits{cmp.Or(l.Time, d.Time), cmp.Or(l.Bytes, d.Bytes), cmp.Or(l.Paths, d.Paths), cmp.Or(l.Tasks, d.Tasks), cmp.Or(l.Output, d.Output), l.More}
}
