// Package slash parses slash commands, such as /kill, for the full screen and plain mode, and completes them.
//
//	name, args, ok := slash.Split("/kill #2") // "kill", "#2", true
//	c, err := slash.Kill(args)                // event.Cancel{Task: 2}
package slash

import (
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/app/state"
	"buddy/texts"
	"buddy/tools"
)

// Aliases maps other names of commands to their names. A second word is put in front of the arguments.
var Aliases = map[string]string{
	"exit": "quit", "q": "quit", "": "help", "mode": "approve", "rules": "permissions",
	"new": "clear", "cost": "context", "resume": "session resume",
}

// AliasNames lists the names in Aliases in order, except the empty one.
func AliasNames() []string {
	names := slices.Sorted(maps.Keys(Aliases))
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

// Split returns the name and arguments of the slash command in a line. ok is false if the line is not a command, such
// as "/etc/hosts is what?" or "/* a comment", because its first word has other characters than letters, digits, dashes
// and colons. Punctuation at the end of the word does not matter for that.
func Split(line string) (name, args string, ok bool) {
	rest, ok := strings.CutPrefix(line, "/")
	if !ok {
		return "", "", false
	}
	if i := strings.IndexFunc(rest, unicode.IsSpace); i >= 0 {
		rest, args = rest[:i], rest[i:]
	}
	word := strings.TrimRight(rest, "?!,;:")
	if strings.ContainsFunc(word, notInName) {
		return "", "", false
	}
	name, args = strings.ToLower(rest), strings.TrimSpace(args)
	if other, ok := Aliases[name]; ok {
		verb := ""
		name, verb, _ = strings.Cut(other, " ")
		if args != "" && verb != "" {
			args = verb + " " + args
		}
	}
	return name, args, true
}

// Words splits arguments at spaces. Joined by spaces, the words are the typed text again.
func Words(args string) []string {
	if args == "" {
		return nil
	}
	return strings.Split(args, " ")
}

func notInName(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_:", r)
}

// ShellLine reports whether a line is a shell command of the user: "!" followed by text.
func ShellLine(line string) bool {
	return strings.HasPrefix(line, "!") && strings.TrimSpace(line) != "!"
}

// Private reports whether a line may hold a key. Such a line must not be stored in the input history or as a draft.
func Private(line string) bool {
	words := strings.Fields(line)
	return len(words) > 2 && strings.EqualFold(words[0], "/login")
}

// Kill reads the number of a task; "" means the only task.
func Kill(args string) (event.Command, error) {
	if args == "" {
		return event.Cancel{Only: true}, nil
	}
	id, err := taskNumber(args)
	return event.Cancel{Task: id}, err
}

// SetTimeout reads a time limit and the number of a task. The number may be missing if only one task runs.
func SetTimeout(args string) (event.Command, error) {
	length, task, _ := strings.Cut(args, " ")
	set, err := Timeout(0, length)
	if err != nil {
		return nil, err
	}
	if task = strings.TrimSpace(task); task != "" {
		set.Task, err = taskNumber(task)
	}
	return set, err
}

// Timeout returns the command that limits the remaining time of a task. 0 means the only running task.
func Timeout(task int, length string) (event.SetTimeout, error) {
	d, err := tools.ParseDuration(length)
	return event.SetTimeout{Task: task, Duration: d}, err
}

func taskNumber(s string) (int, error) {
	id, err := strconv.Atoi(strings.TrimPrefix(s, "#"))
	if err != nil || id <= 0 {
		return 0, fmt.Errorf("%q is not a task's number (/ps lists tasks)", s)
	}
	return id, nil
}

// Approve reads a mode and its duration, or only a duration for approving everything.
func Approve(args string) (event.Command, error) {
	mode, rest, _ := strings.Cut(args, " ")
	set := event.SetMode{Mode: action.Mode(mode)}
	if !slices.Contains(action.Modes, set.Mode) {
		set.Mode, rest = action.ModeAll, args
	}
	if rest != "" {
		d, err := tools.ParseDuration(rest)
		if err != nil {
			return nil, fmt.Errorf("unknown mode %q (have: %s, or a duration such as 10m)", args, texts.Names(action.Modes))
		}
		set.Duration = d
	}
	if args == "" {
		return nil, fmt.Errorf("/approve needs a mode: %s, or a duration such as 10m", texts.Names(action.Modes))
	}
	return set, nil
}

// background moves the running command to the background, or works on a prompt there.
func background(prompt string) (event.Command, error) {
	if prompt == "" {
		return event.Background{}, nil
	}
	return event.Submit{Text: prompt, Background: true}, nil
}

// Pin returns a reader of an exchange's number, which counts back from the last exchange (1). The command pins the
// exchange or, with off, unpins it.
func Pin(off bool) func(string) (event.Command, error) {
	return func(args string) (event.Command, error) {
		back := 1
		if args != "" {
			var err error
			if back, err = strconv.Atoi(args); err != nil || back < 1 {
				return nil, fmt.Errorf("%q is not an exchange's number (1 is the last)", args)
			}
		}
		return event.Pin{Back: back, Off: off}, nil
	}
}

// redo restores the newest undo or rewind.
func redo(args string) (event.Command, error) {
	if args != "" && args != "--force" {
		return nil, fmt.Errorf("unknown argument %q (have: --force)", args)
	}
	return event.Redo{Force: args != ""}, nil
}

// effort reads the reasoning effort; the model decides which values it accepts.
func effort(args string) (event.Command, error) {
	if args == "" || strings.ContainsAny(args, " \t") {
		return nil, errors.New("/effort needs a level: none, minimal, low, medium, high, xhigh or max")
	}
	return event.SwitchModel{Effort: strings.ToLower(args)}, nil
}

// maxWanted limits the instructions for a summary, in bytes.
const maxWanted = 4000

// Compact reads the instructions for the summary, which may be empty.
func Compact(args string) (event.Command, error) {
	if len(args) > maxWanted {
		return nil, fmt.Errorf("the text after /compact has %d bytes (at most %d)", len(args), maxWanted)
	}
	return event.Compact{Instructions: args}, nil
}

// Reply returns the answer to a question. If text is the number of a choice, the answer is that choice.
func Reply(q event.QuestionAsked, text string) event.Answer {
	if n, err := strconv.Atoi(strings.TrimSpace(text)); err == nil && n >= 1 && n <= len(q.Choices) {
		text = q.Choices[n-1]
	}
	return event.Answer{ID: q.ID, Text: text}
}

//go:embed init.md
var initPrompt string

// initProject asks the model to write the project's instruction file; args adds to the request.
func initProject(args string) (event.Command, error) {
	text := strings.TrimSpace(initPrompt)
	if args != "" {
		text += "\n\nAlso: " + args
	}
	return event.Submit{Text: text}, nil
}

// Busy explains why leaving the session now would lose a running task, or returns "" if the session can be left.
func Busy(s *state.State) string {
	if t := s.Running(); t != nil {
		return fmt.Sprintf("task #%d is still running; cancel it first (/kill)", t.ID)
	}
	return ""
}
