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

// Role says what a piece of the screen is, so that a theme can say how it looks.
type Role string

// The roles. Every theme defines all of them.
const (
	Text       Role = "text"
	Muted      Role = "muted" // less important text
	Strong     Role = "strong"
	Accent     Role = "accent" // the program's own colour: prompt, focus
	Border     Role = "border"
	Focus      Role = "focus" // the border of the focused pane
	Header     Role = "header"
	Footer     Role = "footer"
	Key        Role = "key" // names of keys in the footer and in dialogs
	User       Role = "user"
	Reasoning  Role = "reasoning"
	ToolName   Role = "toolName"
	ToolOK     Role = "toolOK"
	ToolError  Role = "toolError"
	Running    Role = "running"
	Notice     Role = "notice"
	Warning    Role = "warning"
	Error      Role = "error"
	Control    Role = "control" // hostile characters that are made visible
	Selection  Role = "selection"
	Match      Role = "match"
	Heading    Role = "heading"
	Emphasis   Role = "emphasis"
	Link       Role = "link"
	Code       Role = "code" // inline code and code without a known language
	Quote      Role = "quote"
	DiffAdd    Role = "diffAdd"
	DiffDelete Role = "diffDelete"
	DiffHunk   Role = "diffHunk"
	SynKeyword Role = "synKeyword"
	SynString  Role = "synString"
	SynComment Role = "synComment"
	SynNumber  Role = "synNumber"
	SynName    Role = "synName" // functions and types
)

// Roles lists every role.
var Roles = []Role{
	Text, Muted, Strong, Accent, Border, Focus, Header, Footer, Key, User, Reasoning, ToolName, ToolOK, ToolError, Running,
	Notice, Warning, Error, Control, Selection, Match, Heading, Emphasis, Link, Code, Quote, DiffAdd, DiffDelete, DiffHunk,
	SynKeyword, SynString, SynComment, SynNumber, SynName,
}

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
	styles map[Role]Style
}

// Style returns how a role looks.
func (t *Theme) Style(r Role) Style { return t.styles[r] }

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
	t := &Theme{Name: name, styles: make(map[Role]Style, len(Roles))}
	for _, r := range Roles {
		text, ok := lines[string(r)]
		if !ok {
			return nil, fmt.Errorf("theme %q: role %q is missing", name, r)
		}
		style, err := parseStyle(text)
		if err != nil {
			return nil, fmt.Errorf("theme %q: role %q: %w", name, r, err)
		}
		t.styles[r] = style
		delete(lines, string(r))
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
