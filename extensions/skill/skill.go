// Package skill parses skills and custom commands. A skill is a file with instructions for the model. The user calls
// it by its name, or the model loads it when its description fits the task.
//
//	s := skill.New(item)
//	text := s.Expand("42", skill.Facts{Project: "/home/ann/shop"}, run)
//
// A custom command is the same in another folder, except that the model does not see custom commands without a
// description.
package skill

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/bmatcuk/doublestar/v4"

	"buddy/agent/inject"
	"buddy/extensions"
	"buddy/texts"
)

// Skill is a skill or a custom command.
type Skill struct {
	extensions.Item
	Description string   // on one line; "" if none
	When        string   // when to use it, on one line
	Hint        string   // arguments, for the person: "[ISSUE]"
	Args        []string // names of the arguments, in order
	Effects
	Agent  string   // the subagent that runs it instead of the caller; "" if none
	Paths  []string // patterns of files that it applies to; none means all
	Listed bool     // shown to the model
	Typed  bool     // a person may call it
	// Asleep means that the skill is not listed for the model yet, because no file that matches Paths was used.
	Asleep bool
	// Acts means that the tools in Allowed need no approval and the commands in the skill's text run, because the skill
	// is the user's own or the user trusts it.
	Acts bool
	// Withheld is the reason why the skill's description was removed, which is text like a prompt injection in it, or
	// "".
	Withheld string
	// Changed means that Acts is false because the skill has changed since the user trusted it.
	Changed bool
}

// Effects holds what a skill changes until the next prompt. The rules are written as in its file, perhaps with the tool
// names of other agents.
type Effects struct {
	Allowed []string // rules that need no approval, if the skill may act
	Denied  []string // rules that are denied
	Model   string   // the profile that answers, if the skill may act; "" for no change
}

// New returns the skill of an item. Acts is false for a skill from a project or a plugin, which the user must trust
// first.
func New(it extensions.Item) Skill {
	s := Skill{
		Item:        it,
		Description: oneLine(it.Text("description")),
		When:        oneLine(it.Text("when_to_use")),
		Hint:        oneLine(it.Text("argument-hint")),
		Args:        it.List("arguments"),
		Effects:     Effects{it.List("allowed-tools"), it.List("disallowed-tools"), oneLine(it.Text("model"))},
		Paths:       it.List("paths"),
		Listed:      !it.Bool("disable-model-invocation", false) && !it.Unlisted,
		Typed:       it.Bool("user-invocable", true),
		Agent:       forkedTo(it),
		Acts:        it.Origin == extensions.Person || it.Origin == extensions.BuiltIn,
	}
	if list := it.List("argument-hint"); s.Hint == "" && len(list) > 0 { // [issue] is a list in YAML
		s.Hint = oneLine("[" + strings.Join(list, ", ") + "]")
	}
	if s.Model == "inherit" {
		s.Model = ""
	}
	s.Asleep = len(s.Paths) > 0
	if s.Hint == "" && len(s.Args) > 0 {
		s.Hint = "[" + strings.Join(s.Args, "] [") + "]"
	}
	switch {
	case it.Kind == extensions.Command:
		s.Listed = s.Listed && s.Description != ""
	case it.Origin == extensions.BuiltIn:
		s.Listed = false // the tool lists built-in skills, which saves space in a session without extensions
	}
	if s.Description == "" {
		s.Description = oneLine(firstLine(it.Body))
	}
	if it.Origin == extensions.BuiltIn {
		return s
	}
	if found := inject.Scan(s.Description + "\n" + s.When); inject.Worst(found) >= inject.High {
		s.Withheld = fmt.Sprintf("its description %s: %q", found[0].Reason, found[0].Excerpt)
		s.Description, s.When = "", ""
	}
	return s
}

// forkedTo returns the type of the subagent that runs the skill, or "".
func forkedTo(it extensions.Item) string {
	if it.Text("context") != "fork" {
		return ""
	}
	if name := strings.ToLower(it.Text("agent")); name != "" {
		return name
	}
	return "general"
}

// Call returns the command that a person types.
func (s Skill) Call() string { return "/" + s.Name }

// WantsTrust reports whether the skill needs trust, because it runs commands, allows tools or changes the model.
func (s Skill) WantsTrust() bool {
	return len(s.Allowed) > 0 || s.Model != "" || len(commandsIn(s.Body)) > 0
}

// For reports whether the skill applies to a file with an absolute path. The patterns of a project's skill are
// relative to the folder that contains .buddy, .agents or .claude; other patterns are relative to workspace.
func (s Skill) For(workspace, file string) bool {
	base := workspace
	if s.Origin == extensions.Project {
		base = s.Base
	}
	rel, ok := strings.CutPrefix(file, strings.TrimSuffix(base, "/")+"/")
	return ok && slices.ContainsFunc(s.Paths, func(pattern string) bool {
		pattern = strings.TrimPrefix(pattern, "./")
		if strings.HasSuffix(pattern, "/") {
			pattern += "**"
		}
		fits, err := doublestar.Match(pattern, rel)
		return fits && err == nil
	})
}

// WrongPaths returns the invalid patterns in Paths.
func (s Skill) WrongPaths() []string {
	return slices.DeleteFunc(slices.Clone(s.Paths), doublestar.ValidatePattern)
}

// firstLine returns the first line of a text, without the marks of a heading.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimLeft(text, "# \t\n"), "\n")
	return line
}

// maxLine limits a setting on one line, in bytes.
const maxLine = 4 << 10

// oneLine returns a text as one line without invisible characters.
func oneLine(s string) string {
	if len(s) > maxLine {
		s = strings.ToValidUTF8(s[:maxLine], "")
	}
	return visible(texts.OneLine(s))
}

// visible makes invisible characters visible: a model would read them, but a person does not see them.
func visible(s string) string {
	hidden := func(r rune) bool {
		return unicode.Is(unicode.Cf, r) && r != '\u200d' && r != '\u200c' || unicode.IsControl(r) && r != '\n' && r != '\t'
	}
	if !strings.ContainsFunc(s, hidden) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if hidden(r) {
			fmt.Fprintf(&b, "‹U+%04X›", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// MaxBody limits the text of a skill for the model, in bytes: about 5,000 tokens.
const MaxBody = 20_000

// Wrap frames an expanded text for the model with its origin and its end. A longer text than MaxBody is cut with a
// note to read the file.
func (s Skill) Wrap(text string) string {
	text = Inert(text)
	if len(text) > MaxBody {
		text = texts.ClipBytes(text, MaxBody) + "\n[only the first " + fmt.Sprint(MaxBody) + " bytes; read_file has the rest: " + s.File + "]"
	}
	from := string(s.Origin)
	if s.Dir != "" && s.Origin != extensions.BuiltIn {
		from += `" folder="` + s.Dir
	}
	return fmt.Sprintf("<%s name=%q from=\"%s\">\n%s\n</%s>", s.Kind.One(), s.Name, from, strings.TrimSpace(text), s.Kind.One())
}

// Inert changes the tags in a text that could end its frame or pass for a message of the program.
func Inert(s string) string {
	return strings.NewReplacer("</skill", "< /skill", "</command", "< /command", "</file", "< /file", "<system-reminder", "‹system-reminder", "</system-reminder", "‹/system-reminder").Replace(s)
}

// Below reports whether a file is in the folder of the skill.
func (s Skill) Below(file string) bool {
	return s.Dir != "" && strings.HasPrefix(path.Clean(file), s.Dir+"/")
}

// Call splits a line that calls a skill into the name and the arguments. ok is false for any other line.
func Call(line string) (name, args string, ok bool) {
	rest, ok := strings.CutPrefix(line, "/")
	if !ok {
		return "", "", false
	}
	name, args = rest, ""
	if i := strings.IndexFunc(rest, unicode.IsSpace); i >= 0 {
		name, args = rest[:i], strings.TrimSpace(rest[i:])
	}
	name = strings.ToLower(name)
	for part := range strings.SplitSeq(name, ":") {
		if !extensions.ValidName(part) {
			return "", "", false
		}
	}
	return name, args, true
}
