// Package themes maps roles such as "diffAdd" to colours. Built-in themes are TOML
// files; a theme names roles, never widgets, and knows nothing of the terminal library.
//
//	t, err := themes.Load("dark")
//	style := t.Style(themes.ToolError)
package themes

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Role says what a piece of the screen is, so that a theme can say how it looks. The
// zero Role is Text.
type Role uint8

// The roles. Every theme defines all of them.
const (
	Text  Role = iota
	Muted      // less important text
	Strong
	Accent // the program's own colour: prompt, focus
	Border
	Focus // the border of the focused pane
	Header
	Footer
	Key // names of keys in the footer and in dialogs
	User
	Reasoning
	ToolName
	ToolOK
	ToolError
	Running
	Notice
	Warning
	Error
	Control // hostile characters that are made visible
	Selection
	Match
	Heading
	Emphasis
	Link
	Code // inline code and code without a known language
	Quote
	DiffAdd
	DiffDelete
	DiffHunk
	SynKeyword
	SynString
	SynComment
	SynNumber
	SynName // functions and types
	roleCount
)

// RoleCount is the number of roles; each is less than it.
const RoleCount = int(roleCount)

var roleNames = [RoleCount]string{
	Text:       "text",
	Muted:      "muted",
	Strong:     "strong",
	Accent:     "accent",
	Border:     "border",
	Focus:      "focus",
	Header:     "header",
	Footer:     "footer",
	Key:        "key",
	User:       "user",
	Reasoning:  "reasoning",
	ToolName:   "toolName",
	ToolOK:     "toolOK",
	ToolError:  "toolError",
	Running:    "running",
	Notice:     "notice",
	Warning:    "warning",
	Error:      "error",
	Control:    "control",
	Selection:  "selection",
	Match:      "match",
	Heading:    "heading",
	Emphasis:   "emphasis",
	Link:       "link",
	Code:       "code",
	Quote:      "quote",
	DiffAdd:    "diffAdd",
	DiffDelete: "diffDelete",
	DiffHunk:   "diffHunk",
	SynKeyword: "synKeyword",
	SynString:  "synString",
	SynComment: "synComment",
	SynNumber:  "synNumber",
	SynName:    "synName",
}

// Roles lists every role.
var Roles = func() []Role {
	all := make([]Role, RoleCount)
	for i := range all {
		all[i] = Role(i)
	}
	return all
}()

// String is the role's name in theme files.
func (r Role) String() string { return roleNames[r] }

// Color is a colour: the terminal's own (the zero value) or 24-bit RGB.
type Color struct {
	RGB uint32
	Set bool
}

// Style is how a role looks.
type Style struct {
	FG, BG                                 Color
	Bold, Dim, Italic, Underline, Reversed bool
}

// Theme is a complete set of styles. It is read-only and safe for concurrent use.
type Theme struct {
	Name   string
	styles [RoleCount]Style
}

// Style returns how a role looks.
func (t *Theme) Style(r Role) Style { return t.styles[r] }

// WithoutColor returns the theme with attributes only. What only differs in colour is
// told apart by signs and words anyway.
func (t *Theme) WithoutColor() *Theme {
	plain := *t
	for i := range plain.styles {
		s := &plain.styles[i]
		s.Reversed = s.Reversed || s.BG.Set
		s.FG, s.BG = Color{}, Color{}
	}
	return &plain
}

//go:embed *.toml
var files embed.FS

// Names lists the built-in themes.
func Names() []string {
	entries, _ := fs.Glob(files, "*.toml")
	for i := range entries {
		entries[i] = strings.TrimSuffix(entries[i], ".toml")
	}
	return entries
}

// Load returns a built-in theme.
func Load(name string) (*Theme, error) {
	if !slices.Contains(Names(), name) {
		return nil, fmt.Errorf("unknown theme %q (have: %s)", name, strings.Join(Names(), ", "))
	}
	data, err := files.ReadFile(name + ".toml")
	if err != nil {
		return nil, fmt.Errorf("theme %q: %w", name, err)
	}
	return parse(name, data)
}

// parse reads role = "fg on bg, bold italic" lines. A colour is #rrggbb or default.
func parse(name string, data []byte) (*Theme, error) {
	var lines map[string]string
	if err := toml.Unmarshal(data, &lines); err != nil {
		return nil, fmt.Errorf("theme %q: %w", name, err)
	}
	t := &Theme{Name: name}
	for _, r := range Roles {
		text, ok := lines[r.String()]
		if !ok {
			return nil, fmt.Errorf("theme %q: role %q is missing", name, r)
		}
		style, err := parseStyle(text)
		if err != nil {
			return nil, fmt.Errorf("theme %q: role %q: %w", name, r, err)
		}
		t.styles[r] = style
		delete(lines, r.String())
	}
	for key := range lines {
		return nil, fmt.Errorf("theme %q: unknown role %q", name, key)
	}
	return t, nil
}

func parseStyle(text string) (Style, error) {
	var s Style
	onBackground := false
	for word := range strings.FieldsSeq(text) {
		switch word {
		case "bold":
			s.Bold = true
		case "dim":
			s.Dim = true
		case "italic":
			s.Italic = true
		case "underline":
			s.Underline = true
		case "reversed":
			s.Reversed = true
		case "on":
			onBackground = true
		default:
			c, err := parseColor(word)
			if err != nil {
				return s, err
			}
			if onBackground {
				s.BG = c
			} else {
				s.FG = c
			}
		}
	}
	return s, nil
}

func parseColor(word string) (Color, error) {
	if word == "default" {
		return Color{}, nil
	}
	n, err := strconv.ParseUint(strings.TrimPrefix(word, "#"), 16, 24)
	if len(word) != 7 || word[0] != '#' || err != nil {
		return Color{}, fmt.Errorf("%q is not a colour or attribute (have: default, #rrggbb, on, bold, dim, italic, underline, reversed)", word)
	}
	return Color{RGB: uint32(n), Set: true}, nil
}
