package action

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Source names the author of a rule.
type Source string

// The sources. A project's rules may only ask and deny.
const (
	FromUser    Source = "user"
	FromProject Source = "project"
	FromSession Source = "session"
)

// Shape limits the words that may follow a rule's Prefix, and tells whether its Host includes subdomains.
type Shape string

// The shapes.
const (
	AnyWords Shape = ""       // anything
	Exactly  Shape = "exact"  // nothing: only this command, started in the rule's folder; or only this host
	Closed   Shape = "closed" // words with which the command runs no code, deletes nothing and stays in the workspace
)

// Rule decides about the actions that match all its non-empty fields.
type Rule struct {
	Decision Decision `json:"decision" toml:"decision"`
	Tool     string   `json:"tool,omitempty" toml:"tool"`     // tool name; mcp__SERVER__* means all tools of a server
	Prefix   []string `json:"prefix,omitempty" toml:"prefix"` // first words of a command, as parsed: ["go", "test"]
	Path     string   `json:"path,omitempty" toml:"path"`     // glob with **; relative to the workspace, or ~/…
	Host     string   `json:"host,omitempty" toml:"host"`     // includes its subdomains unless the shape is Exactly
	Target   string   `json:"target,omitempty" toml:"target"` // glob over the name of the target
	Shape    Shape    `json:"shape,omitempty" toml:"-"`       // for rules added in a session, and from [FieldRules]
	Folder   string   `json:"folder,omitempty" toml:"-"`      // Exactly: start folder of the command, absolute; "" is any
	Source   Source   `json:"source,omitempty" toml:"-"`
}

// ReadingTools lists the tools that read files and folders. A rule that allows one of them by its name alone covers the
// workspace, and a skill that the user installed may use all of them in its own folder.
var ReadingTools = []string{"read_file", "list_dir", "glob", "grep"}

// OfTool reports whether the rule covers a tool by its name alone.
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

// String describes the rule in words, as an approval dialog shows it: allow `go test …` on web-02 in this session.
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
	case command && r.Source == FromSession: // the command itself shows what the rule allows
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

// Offer describes the rule as the end of a sentence that starts with "Yes, and": "don't ask again for `go test ./...`
// this session". cwd is the command's start folder, and workspace is the session's folder.
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

func (r Rule) covers(workspace string) string {
	switch {
	case len(r.Prefix) > 0:
		return r.commands()
	case r.Path != "":
		what := "edits in "
		if slices.Contains(ReadingTools, r.Tool) {
			what = "reading files in "
		}
		return what + folderName(strings.TrimSuffix(r.Path, "**"), workspace)
	case r.Host != "":
		what := "requests to " + r.Host
		if _, err := netip.ParseAddr(r.Host); err != nil && r.Shape != Exactly {
			what += " and its subdomains"
		}
		return what
	}
	if server, tool, ok := strings.Cut(strings.TrimPrefix(r.Tool, mcpPrefix), "__"); ok && strings.HasPrefix(r.Tool, mcpPrefix) {
		return tool + " of " + server
	}
	return r.Tool
}

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

// folderName returns a folder, relative to the workspace if it is inside.
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

// Quote joins words into a command line, quoted where a shell needs it.
func Quote(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		if out[i] = w; w == "" || strings.ContainsAny(w, " \t'\"\\$`;|&<>(){}*?[]#~!") {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}

// ApprovalContext holds the facts that a person needs to decide about an Action.
type ApprovalContext struct {
	Why          string   `json:"why"`                // why it needs approval
	Risk         Risk     `json:"risk"`               // the policy's estimate, or the model's if that is higher
	Mutation     bool     `json:"mutation,omitempty"` // changes something
	Privesc      bool     `json:"privesc,omitempty"`  // runs with more rights than the person
	Reversible   bool     `json:"reversible"`         // can be undone
	Undo         string   `json:"undo,omitempty"`     // how it can be undone
	Failed       string   `json:"failed,omitempty"`   // the error of the tool's last run in this exchange
	Changed      string   `json:"changed,omitempty"`  // who changed the call before the approval, and the difference
	Memory       Memory   `json:"memory,omitzero"`    // entries about the action, and what a denial may add
	AskedBy      string   `json:"asked_by,omitempty"` // the hook that asks in any mode; "" if none
	Because      string   `json:"because,omitempty"`  // why it needs approval, if its effect is not the reason
	Effect       Effect   `json:"effect,omitzero"`    // its most important effect
	Production   bool     `json:"production,omitempty"`
	Loses        []string `json:"loses,omitempty"` // uncommitted or unpublished work that would be lost or may be lost
	Consequences []string `json:"consequences,omitempty"`
	Alternatives []string `json:"alternatives,omitempty"`
	Kept         []string `json:"kept,omitempty"`    // how commands are restricted, before and after approval
	Outside      bool     `json:"outside,omitempty"` // if approved, it runs outside the sandbox of auto mode
	// Unseen lists files that were changed without approval, for a command that runs outside the sandbox; nil if there
	// are none.
	Unseen  *Unseen  `json:"unseen,omitempty"`
	Rule    string   `json:"rule,omitempty"`    // the rule that decided
	Similar string   `json:"similar,omitempty"` // the rule that "allow similar" would add
	Passes  []string `json:"passes,omitempty"`  // two examples that the similar rule would allow
	Stops   string   `json:"stops,omitempty"`   // an example that it would not allow
	Exact   bool     `json:"exact,omitempty"`   // Similar covers only this command, also piped into read-only commands
	Try     Try      `json:"try,omitzero"`      // whether it may be tried first
	Tried   *Tried   `json:"tried,omitempty"`   // it was tried, and the person decides about its changes; else nil
}
