// Package skill reads what a skill and a custom command say: how a person calls them, when a
// model should, and the text that either gets, with the arguments in their places.
//
//	s := skill.New(item)
//	text := s.Expand("42", skill.Facts{Project: "/home/ann/shop"}, run)
//
// A skill and a custom command differ only in where their files lie, and in that a model is not
// told of a command that does not describe itself.
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
	Description string   // on one line; "" is none
	When        string   // when to use it, on one line
	Hint        string   // the arguments, for the person: "[ISSUE]"
	Args        []string // names of the arguments, in their order
	Effects
	Agent  string   // the subagent that works with it instead of its caller; "" is none
	Paths  []string // patterns of the files that it is for; none: for all
	Listed bool     // the model is told of it
	Typed  bool     // a person may call it
	// Asleep means that the model is not told of it yet, because it has used none of the files in Paths.
	Asleep bool
	// Acts means that it may grant what it names in Allowed and run the commands in its text: it
	// is a person's own, or the person has trusted it.
	Acts bool
	// Withheld says why neither the model nor a person gets its description, "" for nothing.
	Withheld string
	// Changed means that it may not act because it is not what the person has trusted.
	Changed bool
}

// Effects holds what a skill changes until the next prompt, in names of the field.
type Effects struct {
	Allowed []string // what may run without a question, if the skill may act
	Denied  []string // what may not run
	Model   string   // the profile that answers, if the skill may act; "" changes nothing
}

// New reads a skill. It may not act if it is a project's or a plugin's.
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
		s.Listed = false // the tool names them, so that a session without extensions says no more
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

// forkedTo returns the type of the subagent that a skill is for, "" for none.
func forkedTo(it extensions.Item) string {
	if it.Text("context") != "fork" {
		return ""
	}
	if name := strings.ToLower(it.Text("agent")); name != "" {
		return name
	}
	return "general"
}

// Call returns what a person types to call it.
func (s Skill) Call() string { return "/" + s.Name }

// WantsTrust reports whether the skill runs commands, grants something or changes who answers, for
// which a person has to trust it.
func (s Skill) WantsTrust() bool {
	return len(s.Allowed) > 0 || s.Model != "" || len(commandsIn(s.Body)) > 0
}

// For reports whether the skill is for a file, whose path is absolute. The patterns of a project's
// skill begin in the folder that holds .buddy, .agents or .claude, those of others in workspace.
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

// WrongPaths returns the patterns of Paths that fit nothing because they are none.
func (s Skill) WrongPaths() []string {
	return slices.DeleteFunc(slices.Clone(s.Paths), doublestar.ValidatePattern)
}

// firstLine returns the first line of a text that has words, without the marks of a heading.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimLeft(text, "# \t\n"), "\n")
	return line
}

// maxLine limits what is read of a setting on one line, in bytes.
const maxLine = 4 << 10

// oneLine returns a text of a file as one line in which nothing is hidden.
func oneLine(s string) string {
	if len(s) > maxLine {
		s = strings.ToValidUTF8(s[:maxLine], "")
	}
	return visible(texts.OneLine(s))
}

// visible shows characters that are there and can't be seen: a person reads the file without
// them, and a model reads them.
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

// MaxBody limits what is told of the text of a skill, in bytes: about 5,000 tokens.
const MaxBody = 20_000

// Wrap returns an expanded text as a model gets it: it says whose it is, and ends where it ends.
// What is beyond MaxBody is left to be read from the file.
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

// Inert keeps a text from ending what stands around it.
func Inert(s string) string {
	return strings.NewReplacer("</skill", "< /skill", "</command", "< /command", "</file", "< /file", "<system-reminder", "‹system-reminder", "</system-reminder", "‹/system-reminder").Replace(s)
}

// Below reports whether a file is in the folder of the skill.
func (s Skill) Below(file string) bool {
	return s.Dir != "" && strings.HasPrefix(path.Clean(file), s.Dir+"/")
}

// Call is a line that calls a skill: its name and the arguments behind it. ok is false when the
// line can't be one.
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
