package action

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Source names who made a rule.
type Source string

// The sources. Rules of a project may only tighten: allow is refused.
const (
	FromUser    Source = "user"
	FromProject Source = "project"
	FromSession Source = "session"
)

// Shape says what may follow the prefix of a rule, and which hosts its host means.
type Shape string

// The shapes.
const (
	AnyWords Shape = ""       // anything
	Exactly  Shape = "exact"  // nothing: this command only, started in the rule's folder; or this host only
	Closed   Shape = "closed" // what runs no code, deletes nothing and stays in the workspace
)

// Rule decides about the actions that it matches: every field that is not empty must.
type Rule struct {
	Decision Decision `json:"decision" toml:"decision"`
	Tool     string   `json:"tool,omitempty" toml:"tool"`     // name of the tool; mcp__SERVER__* means all of a server
	Prefix   []string `json:"prefix,omitempty" toml:"prefix"` // first words of a command, as parsed: ["go", "test"]
	Path     string   `json:"path,omitempty" toml:"path"`     // glob with **; relative to the workspace, or ~/…
	Host     string   `json:"host,omitempty" toml:"host"`     // and its subdomains, but for Exactly
	Target   string   `json:"target,omitempty" toml:"target"` // glob over the name of the target
	Shape    Shape    `json:"shape,omitempty" toml:"-"`       // of rules that a session adds, and of [FieldRules]
	Folder   string   `json:"folder,omitempty" toml:"-"`      // Exactly: where the command starts, absolute; "" is anywhere
	Source   Source   `json:"source,omitempty" toml:"-"`
}

// OfTool reports whether the rule is for a tool, judging by its name alone.
func (r Rule) OfTool(name string) bool {
	if all, ok := strings.CutSuffix(r.Tool, "*"); ok && strings.HasPrefix(r.Tool, mcpPrefix) {
		return strings.HasPrefix(name, all)
	}
	return r.Tool == "" || r.Tool == name
}

// Check returns an error that names the wrong field and its value, or nil.
func (r Rule) Check() error {
	switch {
	case !slices.Contains([]Decision{Allow, Ask, Deny}, r.Decision):
		return fmt.Errorf("decision %q is unknown (have: %s, %s, %s)", r.Decision, Allow, Ask, Deny)
	case r.Tool == "" && len(r.Prefix) == 0 && r.Path == "" && r.Host == "" && r.Target == "":
		return errors.New("a rule needs a tool, prefix, path, host or target")
	case r.Decision == Allow && r.Source == FromProject:
		return errors.New("a project may not allow, only ask and deny")
	case slices.Contains(r.Prefix, ""):
		return errors.New("prefix has an empty word")
	case len(r.Prefix) == 1 && strings.ContainsAny(r.Prefix[0], " \t"):
		return fmt.Errorf("prefix %q is one word: write a list of words", r.Prefix[0])
	}
	return nil
}

// String says the rule in words, as the approval offers it: allow `go test …` on web-02 in this session.
func (r Rule) String() string {
	parts := []string{string(r.Decision)}
	command := len(r.Prefix) > 0
	switch {
	case !command:
	case r.Shape == Exactly:
		parts = append(parts, "`"+Quote(r.Prefix)+"`")
	case r.Shape == Closed:
		parts = append(parts, "`"+strings.Join(r.Prefix, " ")+" …` inside the folder")
	default:
		parts = append(parts, "`"+strings.Join(r.Prefix, " ")+" …`")
	}
	by, tool, at := "", r.Tool, "at"
	switch {
	case command && r.Source == FromSession: // what it allows is known by the command
		tool = ""
	case command:
		by = "by"
	}
	if r.Shape == Exactly {
		at = "at exactly"
	}
	for _, f := range []struct{ word, value string }{{by, tool}, {"in", r.Folder}, {"for", r.Path}, {at, r.Host}, {"on", r.Target}} {
		if f.value != "" {
			parts = append(parts, strings.TrimSpace(f.word+" "+f.value))
		}
	}
	switch {
	case r.Source == FromSession:
		parts = append(parts, "in this session")
	case r.Source != "":
		parts = append(parts, "("+string(r.Source)+")")
	}
	return strings.Join(parts, " ")
}

// Offer says what the rule means to a person who is asked whether to add it for a session, behind "Yes, and":
// don't ask again for `go test ./...` this session. cwd is the folder in which the command that is asked about
// starts, workspace that of the session.
func (r Rule) Offer(cwd, workspace string) string {
	text := "don't ask again for " + r.covers(workspace)
	if r.Shape == Exactly && r.Folder != "" && r.Folder != cwd {
		text += " in " + r.Folder
	}
	if r.Target != "" && r.Target != "local" {
		text += " on " + r.Target
	}
	return text + " this session"
}

// covers names what a rule is about.
func (r Rule) covers(workspace string) string {
	switch {
	case len(r.Prefix) > 0:
		return r.commands()
	case r.Path != "":
		what := "edits in "
		if r.Tool == "read_file" || r.Tool == "list_dir" || r.Tool == "glob" || r.Tool == "grep" {
			what = "reading files in "
		}
		return what + folderName(strings.TrimSuffix(r.Path, "**"), workspace)
	case r.Host != "" && r.Shape != Exactly:
		return "requests to " + r.Host + " and its subdomains"
	case r.Host != "":
		return "requests to " + r.Host
	}
	if server, tool, ok := strings.Cut(strings.TrimPrefix(r.Tool, mcpPrefix), "__"); ok && strings.HasPrefix(r.Tool, mcpPrefix) {
		return tool + " of " + server
	}
	return r.Tool
}

// commands names the commands that a rule is about.
func (r Rule) commands() string {
	switch r.Shape {
	case Exactly:
		return "`" + Quote(r.Prefix) + "`"
	case Closed:
		return "`" + strings.Join(r.Prefix, " ") + " …` in this folder"
	default:
		return "`" + strings.Join(r.Prefix, " ") + " …`"
	}
}

// folderName names a folder, relative to the workspace if it is in it.
func folderName(dir, workspace string) string {
	switch rel, ok := strings.CutPrefix(dir, strings.TrimSuffix(workspace, "/")+"/"); {
	case workspace == "" || !ok:
		return dir
	case rel == "":
		return "this folder"
	default:
		return rel
	}
}

// Quote joins words as a shell reads them.
func Quote(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		if out[i] = w; w == "" || strings.ContainsAny(w, " \t'\"\\$`;|&<>(){}*?[]#~!") {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}

// ApprovalContext holds what a person should know before deciding about an Action.
type ApprovalContext struct {
	Why          string   `json:"why"`                // why it needs approval
	Risk         Risk     `json:"risk"`               // the policy's estimate, or the model's if that is higher
	Mutation     bool     `json:"mutation,omitempty"` // it changes something
	Privesc      bool     `json:"privesc,omitempty"`  // it runs with more rights than the person's
	Reversible   bool     `json:"reversible"`         // it can be undone
	Undo         string   `json:"undo,omitempty"`     // how
	Failed       string   `json:"failed,omitempty"`   // what went wrong when the same tool ran last in this exchange
	Changed      string   `json:"changed,omitempty"`  // who changed the call before it was asked about, and the difference
	Memory       Memory   `json:"memory,omitzero"`    // what memory has about it, and what it may learn
	AskedBy      string   `json:"asked_by,omitempty"` // the hook that asks about it, whatever the mode; "" if none does
	Because      string   `json:"because,omitempty"`  // why it is asked about, where that is not what it does: a rule, a hook
	Effect       Effect   `json:"effect,omitzero"`    // the one thing that a person must know about it
	Production   bool     `json:"production,omitempty"`
	Loses        []string `json:"loses,omitempty"` // work not committed or published that would be lost, or that this is not known
	Consequences []string `json:"consequences,omitempty"`
	Alternatives []string `json:"alternatives,omitempty"`
	Kept         []string `json:"kept,omitempty"`    // what protects the target from harm by commands, free and approved ones
	Outside      bool     `json:"outside,omitempty"` // approved, it runs outside of the fence that mode auto keeps commands in
	// Unseen lists what was changed without asking, for a command that would run outside of the fence; nil: nothing was.
	Unseen  *Unseen  `json:"unseen,omitempty"`
	Rule    string   `json:"rule,omitempty"`    // the rule that decided
	Similar string   `json:"similar,omitempty"` // the rule that "allow similar" would add
	Passes  []string `json:"passes,omitempty"`  // two examples of what that rule would allow
	Stops   string   `json:"stops,omitempty"`   // one of what it would not
	Exact   bool     `json:"exact,omitempty"`   // it would allow this command only, also piped into commands that only read
}
