// Package hooks runs the programs that a person or a project wants to run at certain moments of a
// session: before and after a tool, at a prompt, at the end of an answer.
//
// Its files have the form that other agents use (see docs/extensions.md). A hook can make things
// stricter: deny a call, ask about it, change it, so that it is judged anew. Only a hook of the
// person can answer in the person's place, and only where the person could have done so with one
// key. A guard that fails is a question and never a pass.
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

// Event is a moment at which hooks run, by the name that their files have for it.
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

// ofTool reports whether the event is about a call of a tool.
func (e Event) ofTool() bool {
	return e == PreToolUse || e == PermissionRequest || e == PostToolUse || e == PostToolUseFailure
}

// guards reports whether a hook of the event that fails makes the call a question.
func (e Event) guards() bool { return e == PreToolUse || e == PermissionRequest }

// limit returns how long a hook of the event may run unless it says something else.
func (e Event) limit() time.Duration {
	switch e {
	case SessionStart, UserPromptSubmit, PreToolUse, PermissionRequest, PreCompact:
		return 30 * time.Second // a person waits
	case SessionEnd:
		return 1500 * time.Millisecond
	}
	return 10 * time.Minute
}

// Source says whose a hook is.
type Source string

// The sources. A project's hooks may tighten, never allow; what they write is data.
const (
	Person  Source = "person"
	Project Source = "project"
	Plugin  Source = "plugin"
)

// Origin says where a file of hooks comes from.
type Origin struct {
	Source Source
	File   string
	Root   string // folder of the plugin, or of the project's file; "" for the person's
	Data   string // folder in which a plugin may keep something; "" for the others
	Part   string // under which a person trusts it; "" needs no trust
}

// Handler is one hook.
type Handler struct {
	Event   Event
	Matcher string // which tools, or which kinds of the event; "" = all
	Command string // for sh -c; with Args the program itself
	Args    []string
	Direct  bool          // Command is executed with Args, without a shell
	Timeout time.Duration // 0: that of the event
	If      string        // a rule as Bash(git push *): only for calls that it matches
	Status  string        // what the screen says while it runs
	Async   bool          // nothing waits for it
	Once    bool          // in a session
	Ignore  bool          // a failure of a guard passes
	Outside bool          // it runs outside of the fence in mode auto, too; of the person's hooks only
	Origin  Origin
	Line    int    // in the file of Origin
	Lost    string // why it can't be run: it is a guard, and each call that it is for is a question
	Copies  string // folder with the copies of files that it runs, removed after it; "" is none

	match matcher
	rules []action.Rule // of If
}

// maxName limits the name of a hook, in characters.
const maxName = 40

// interpreters run the script that their first argument names.
var interpreters = []string{"sh", "bash", "zsh", "dash", "python", "python3", "node", "ruby", "perl"}

// Name returns what messages call the hook: the script or program that its command begins with.
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
			continue // a variable in front
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

// Missing returns the script or program that the command begins with, if it is a path that does not
// exist; "" else, and where that is not known.
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

// projectDir returns the folder that a project's hook belongs to, in which the person trusts it;
// "" for others.
func (h Handler) projectDir() string {
	if h.Origin.Source == Project {
		return h.Origin.Root
	}
	return ""
}

// What returns the whole command on one line, for people.
func (h Handler) What() string {
	if h.Direct {
		return action.Quote(append([]string{h.Command}, h.Args...))
	}
	return h.Command
}

// limit returns how long the hook may run.
func (h Handler) limit() time.Duration {
	if h.Timeout > 0 {
		return h.Timeout
	}
	return h.Event.limit()
}

// same reports whether two hooks of an event do the same, so that one is enough.
func (h Handler) same(other Handler) bool {
	return h.Lost == other.Lost && h.Command == other.Command && h.Direct == other.Direct && slices.Equal(h.Args, other.Args) && h.Async == other.Async && h.Origin.Root == other.Origin.Root
}
