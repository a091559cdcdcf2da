// Package hooks runs hooks: programs that the user or a project has configured to run at certain events of a session,
// such as before a tool call.
//
// A hook may deny a tool call, require approval for it, or change it, in which case the policy judges the changed call.
// Only a hook of the user, and not of a project, may approve a call, and only if the user could approve it with a
// single key press. A hook that can deny calls is a guard: if it fails, nothing runs without the user's approval. Hook
// files use the format of other agents; see docs/extensions.md.
//
//	set := hooks.Parse(text, hooks.Origin{Source: hooks.Person, File: "hooks.json"})
//	r := hooks.New(hooks.Options{Handlers: set.Handlers, Project: dir})
//	defer r.Close()
//	answers := r.BeforeTools(ctx, hooks.Where{}, call)
package hooks

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"buddy/agent/action"
	"buddy/texts"
)

// Event is a moment at which hooks run, named as in hook files.
type Event string

// The events.
const (
	SessionStart       Event = "SessionStart"
	SessionEnd         Event = "SessionEnd"
	UserPromptSubmit   Event = "UserPromptSubmit"
	PreToolUse         Event = "PreToolUse"
	PermissionRequest  Event = "PermissionRequest"
	PostToolUse        Event = "PostToolUse"
	PostToolUseFailure Event = "PostToolUseFailure"
	SubagentStart      Event = "SubagentStart"
	SubagentStop       Event = "SubagentStop"
	Stop               Event = "Stop"
	StopFailure        Event = "StopFailure"
	PreCompact         Event = "PreCompact"
	PostCompact        Event = "PostCompact"
	Notification       Event = "Notification"
)

// Events lists all events in the order of a session.
var Events = []Event{
	SessionStart, UserPromptSubmit, PreToolUse, PermissionRequest, PostToolUse, PostToolUseFailure,
	SubagentStart, SubagentStop, Stop, StopFailure, PreCompact, PostCompact, Notification, SessionEnd,
}

func (e Event) ofTool() bool {
	return e == PreToolUse || e == PermissionRequest || e == PostToolUse || e == PostToolUseFailure
}

// guards reports whether hooks of the event are guards. If a guard fails, the user is asked about the call.
func (e Event) guards() bool { return e == PreToolUse || e == PermissionRequest }

// limit returns the default time limit of the hooks of the event.
func (e Event) limit() time.Duration {
	switch e {
	case SessionStart, UserPromptSubmit, PreToolUse, PermissionRequest, PreCompact:
		return 30 * time.Second // the person is waiting
	case SessionEnd:
		return 1500 * time.Millisecond
	}
	return 10 * time.Minute
}

// Source names the owner of a hook.
type Source string

// The sources. A project's hooks can make decisions stricter, but never allow a call, and the model gets their output
// marked as data.
const (
	Person  Source = "person"
	Project Source = "project"
	Plugin  Source = "plugin"
)

// Origin identifies the source of a hook file.
type Origin struct {
	Source Source
	File   string
	Root   string // folder of the plugin or of the project's file; "" for hooks of the person
	Data   string // folder for a plugin's data; "" for other sources
	Part   string // name under which a person trusts it; "" needs no trust
}

// Handler is one hook.
type Handler struct {
	Event   Event
	Matcher string // selects tools, or kinds of the event; "" selects all
	Command string // for sh -c; if Direct is set, the program
	Args    []string
	Direct  bool          // Command is executed with Args, without a shell
	Timeout time.Duration // 0: the default of the event
	If      string        // a rule such as Bash(git push *): the hook runs only for calls that it matches
	Status  string        // shown while the hook runs
	Async   bool          // buddy does not wait for it
	Once    bool          // runs once per session
	Ignore  bool          // a failing guard lets the call pass
	Outside bool          // runs outside the sandbox in auto mode, too; only for hooks of the person
	Origin  Origin
	Line    int    // in Origin.File
	Lost    string // why it can't be run: it may be a guard, so each call that it selects needs approval
	Copies  string // folder with copies of the files that it runs, removed afterwards; "" if none

	match matcher
	rules []action.Rule // parsed If
}

// maxName limits the name of a hook, in characters.
const maxName = 40

// interpreters lists programs that run the script in their first argument.
var interpreters = []string{"sh", "bash", "zsh", "dash", "python", "python3", "node", "ruby", "perl"}

// Name returns what messages call the hook: the script or program that its command starts.
func (h Handler) Name() string {
	if h.Lost != "" {
		return texts.Clip(strings.TrimSuffix(fmt.Sprintf("%s:%d", path.Base(h.Origin.File), h.Line), ":0"), maxName)
	}
	words := strings.Fields(strings.NewReplacer(`"`, "", "'", "").Replace(h.Command))
	if h.Direct {
		words = append([]string{h.Command}, h.Args...)
	}
	name := ""
	for _, w := range words {
		if strings.Contains(w, "=") && name == "" {
			continue // a variable assignment
		}
		if name == "" {
			name = path.Base(w)
		}
		if slices.Contains(interpreters, name) {
			if w != words[0] && !strings.HasPrefix(w, "-") {
				return texts.Clip(path.Base(w), maxName)
			}
			continue
		}
		break
	}
	if name == "" {
		name = "without a name"
	}
	return texts.Clip(name, maxName)
}

// Missing returns the script or program that the command starts if its path does not exist. It returns "" if the
// path exists or can't be determined.
func (h Handler) Missing(cwd, project string) string {
	words := strings.Fields(strings.NewReplacer(`"`, "", "'", "").Replace(h.Command))
	if h.Direct {
		words = append([]string{h.Command}, h.Args...)
	}
	if len(words) > 1 && slices.Contains(interpreters, path.Base(words[0])) {
		words = words[1:]
	}
	for _, w := range words[:min(1, len(words))] {
		w = expand(w, cmp.Or(h.projectDir(), project), h.Origin)
		if !strings.Contains(w, "/") || strings.ContainsAny(w, "$~*?`(){};|&<>") || strings.HasPrefix(w, "-") {
			continue
		}
		if !filepath.IsAbs(w) {
			w = filepath.Join(cmp.Or(h.projectDir(), cwd), w)
		}
		if _, err := os.Stat(w); errors.Is(err, fs.ErrNotExist) {
			return w
		}
	}
	return ""
}

// projectDir returns the project folder of a project's hook; "" for others.
func (h Handler) projectDir() string {
	if h.Origin.Source == Project {
		return h.Origin.Root
	}
	return ""
}

// What returns the hook's whole command line.
func (h Handler) What() string {
	if h.Direct {
		return action.Quote(append([]string{h.Command}, h.Args...))
	}
	return h.Command
}

func (h Handler) limit() time.Duration {
	if h.Timeout > 0 {
		return h.Timeout
	}
	return h.Event.limit()
}

// same reports whether two hooks of one event run the same command, so that one run is enough.
func (h Handler) same(other Handler) bool {
	return h.Lost == other.Lost && h.Command == other.Command && h.Direct == other.Direct && slices.Equal(h.Args, other.Args) && h.Async == other.Async && h.Origin.Root == other.Origin.Root
}
