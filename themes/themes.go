// Package themes maps roles, such as "diffAdd" for an added line, to colours. A theme is a TOML file, built in or
// written by the user. Roles are independent of the widgets and of the terminal library.
//
//	t, err := themes.Load("", "dark")
//	style := t.Style(themes.ToolError)
package themes

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/pelletier/go-toml/v2"
)

// Role names the purpose of a part of the screen; a theme maps it to a style. The zero Role is Text.
type Role uint8

// The roles. Every built-in theme defines all of them, except those in likes.
const (
	Text  Role = iota
	Muted      // less important text
	Strong
	Accent // the program's own colour: prompt, focus
	Border
	Focus // the border of the focused pane
	Header
	Footer
	Key    // names of keys in the footer and in dialogs
	Prompt // the prompt over the whole width
	Shell  // a shell command in the prompt, before it runs
	User
	Reasoning
	ToolName
	ToolOK
	ToolError
	Running
	Notice
	Warning
	Error
	Control // control characters made visible
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
	DiffAddBand    // a line over the whole width
	DiffDeleteBand // the same
	DiffAddWord    // the changed words in such a line
	DiffDeleteWord // the same
	SynKeyword
	SynString
	SynComment
	SynNumber
	SynName // functions and types
	roleCount
)

// RoleCount is the number of roles; each role is less than RoleCount.
const RoleCount = int(roleCount)

var roleNames = [RoleCount]string{
	Text:           "text",
	Muted:          "muted",
	Strong:         "strong",
	Accent:         "accent",
	Border:         "border",
	Focus:          "focus",
	Header:         "header",
	Footer:         "footer",
	Key:            "key",
	Prompt:         "prompt",
	Shell:          "shell",
	User:           "user",
	Reasoning:      "reasoning",
	ToolName:       "toolName",
	ToolOK:         "toolOK",
	ToolError:      "toolError",
	Running:        "running",
	Notice:         "notice",
	Warning:        "warning",
	Error:          "error",
	Control:        "control",
	Selection:      "selection",
	Match:          "match",
	Heading:        "heading",
	Emphasis:       "emphasis",
	Link:           "link",
	Code:           "code",
	Quote:          "quote",
	DiffAdd:        "diffAdd",
	DiffDelete:     "diffDelete",
	DiffHunk:       "diffHunk",
	DiffAddBand:    "diffAddBand",
	DiffDeleteBand: "diffDeleteBand",
	DiffAddWord:    "diffAddWord",
	DiffDeleteWord: "diffDeleteWord",
	SynKeyword:     "synKeyword",
	SynString:      "synString",
	SynComment:     "synComment",
	SynNumber:      "synNumber",
	SynName:        "synName",
}

// likes maps each role that a built-in theme may leave out to an earlier role, whose style it then gets.
var likes = map[Role]Role{
	Heading: Accent,
	DiffAdd: ToolOK,
}

// Roles lists every role.
var Roles = func() []Role {
	all := make([]Role, RoleCount)
	for i := range all {
		all[i] = Role(i)
	}
	return all
}()

// String returns the role's name in theme files.
func (r Role) String() string { return roleNames[r] }

// Color is the terminal's own colour (the zero value) or 24-bit RGB.
type Color struct {
	RGB uint32
	Set bool
}

// Style holds colours and attributes of a role.
type Style struct {
	FG, BG                                 Color
	Bold, Dim, Italic, Underline, Reversed bool
}

// Theme holds a style for every role. It is read-only and safe for concurrent use.
type Theme struct {
	Name   string
	styles [RoleCount]Style
}

// Style returns the style of a role.
func (t *Theme) Style(r Role) Style { return t.styles[r] }

// WithoutColor returns the theme without colours, only with attributes such as bold. Where colours distinguish parts of
// the screen, views also use signs and words.
func (t *Theme) WithoutColor() *Theme {
	plain := *t
	own := t.styles[Text].BG
	for i := range plain.styles {
		s := &plain.styles[i]
		band := Role(i) == DiffAddBand || Role(i) == DiffDeleteBand || Role(i) == Prompt // their signs mean the same
		s.Reversed = s.Reversed || s.BG.Set && s.BG != own && !band
		s.FG, s.BG = Color{}, Color{}
	}
	return &plain
}

//go:embed *.toml
var files embed.FS

// Auto selects light or dark by the terminal's background; it is not a theme.
const Auto = "auto"

// Names lists the built-in themes, then the themes in a folder; "" is no folder.
func Names(dir string) []string {
	names := list(files)
	if dir == "" {
		return names
	}
	for _, name := range list(os.DirFS(dir)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func list(dir fs.FS) []string {
	entries, _ := fs.Glob(dir, "*.toml") // fails for a bad pattern only
	for i := range entries {
		entries[i] = strings.TrimSuffix(entries[i], ".toml")
	}
	return entries
}

// Load returns a built-in theme, or the theme in the file NAME.toml of a folder; "" is no folder. Such a file needs
// only the roles that differ from the built-in theme it names as base, by default dark. The error lists all mistakes on
// one line.
func Load(dir, name string) (*Theme, error) {
	builtIn := slices.Contains(list(files), name)
	if !builtIn && !slices.Contains(Names(dir), name) {
		return nil, fmt.Errorf("unknown theme %q (have: %s, %s)", name, Auto, strings.Join(Names(dir), ", "))
	}
	if builtIn {
		data, err := files.ReadFile(name + ".toml")
		if err != nil {
			return nil, fmt.Errorf("theme %q: %w", name, err)
		}
		return parse(name, name, data, nil)
	}
	file := filepath.Join(dir, name+".toml")
	data, err := readFile(file)
	if err != nil {
		return nil, fmt.Errorf("theme %q: %w", name, err)
	}
	return parse(name, file, data, func(base string) (*Theme, error) {
		if !slices.Contains(list(files), base) {
			return nil, fmt.Errorf("base %q is not a built-in theme (have: %s)", base, strings.Join(list(files), ", "))
		}
		return Load("", base)
	})
}

// maxFile limits a theme's file, in bytes.
const maxFile = 64 << 10

func readFile(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a FIFO must not hang the program
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: is not a regular file", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("%s: more than %d KB", path, maxFile>>10)
	}
	return data, err
}

// parse reads the lines of a theme, such as diffAdd = "#00af00 on default, bold"; a colour is #rrggbb or default.
// Missing roles come from the theme that the function base loads, by the name in the key base. If the function is nil,
// missing roles and the key are mistakes.
func parse(name, file string, data []byte, base func(string) (*Theme, error)) (*Theme, error) {
	var lines map[string]string
	if err := toml.Unmarshal(data, &lines); err != nil {
		if bad, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, _ := bad.Position()
			file = fmt.Sprintf("%s:%d", file, line)
		}
		return nil, fmt.Errorf("theme %q: %s: %w", name, file, err)
	}
	t := &Theme{Name: name}
	var wrong []string
	if base != nil {
		from := cmp.Or(lines["base"], "dark")
		delete(lines, "base")
		b, err := base(from)
		if err != nil {
			return nil, fmt.Errorf("theme %q: %s: %w", name, file, err)
		}
		t.styles = b.styles
	}
	for _, r := range Roles {
		text, ok := lines[r.String()]
		if !ok {
			if like, optional := likes[r]; base == nil && optional {
				t.styles[r] = t.styles[like]
			} else if base == nil {
				wrong = append(wrong, fmt.Sprintf("role %q is missing", r))
			}
			continue
		}
		style, err := parseStyle(text)
		if err != nil {
			wrong = append(wrong, fmt.Sprintf("role %q%s: %v", r, at(data, r.String()), err))
		}
		t.styles[r] = style
		delete(lines, r.String())
	}
	for _, key := range slices.Sorted(maps.Keys(lines)) {
		wrong = append(wrong, fmt.Sprintf("unknown role %q%s", key, at(data, key)))
	}
	if len(wrong) > 0 {
		return nil, fmt.Errorf("theme %q: %s: %s", name, file, strings.Join(wrong, "; "))
	}
	t.spread()
	return t, nil
}

// at returns the line of a key.
func at(data []byte, key string) string {
	for i, line := range strings.Split(string(data), "\n") {
		name, _, ok := strings.Cut(line, "=")
		if ok && strings.Trim(name, " \t\"'") == key {
			return fmt.Sprintf(" (line %d)", i+1)
		}
	}
	return ""
}

// spread gives each role without a background the background of Text.
func (t *Theme) spread() {
	bg := t.styles[Text].BG
	for i := range t.styles {
		if s := &t.styles[i]; !s.BG.Set {
			s.BG = bg
		}
	}
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
