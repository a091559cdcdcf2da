// Package frontmatter parses the settings at the start of a Markdown file: YAML between two lines of exactly three
// hyphens.
//
//	b, err := frontmatter.Parse(data)
//	fmt.Println(b.Text("description"), b.List("allowed-tools"), b.Bool("user-invocable", true), b.Body)
//
// The names allowed-tools, allowed_tools and allowedTools are the same setting. Because files may be hostile, their
// size is limited and YAML aliases are refused. From a block that is not valid YAML, Parse still reads the name and
// the description, but it fails if a limit such as disallowed tools would be lost.
//
// The package does not use adrg/frontmatter (0.2.0), which would save only 20 lines, follows aliases, accepts an
// unclosed block as text, and adds a second YAML parser.
package frontmatter

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

const (
	// MaxFile limits a file, in bytes.
	MaxFile = 256 << 10
	// MaxBlock limits the block, in bytes.
	MaxBlock = 64 << 10
)

// Warning reports a mistake in a block that was read anyway.
type Warning struct {
	Line   int // of the file, from 1
	Reason string
}

// Block holds the settings and the text of a file. Unknown settings are kept.
type Block struct {
	Body    string                // the text after the block, with \n as line ends
	Line    int                   // line of the file where Body starts, from 1
	Warning *Warning              // nil if there is none
	values  map[string]*yaml.Node // by [Plain] names
	names   []string              // names of the settings as written
}

// Parse parses a file. It returns an error if the file is too long, is not text, or its block is not closed.
func Parse(data []byte) (Block, error) {
	if len(data) > MaxFile {
		return Block{}, fmt.Errorf("the file has %d bytes (allowed: %d)", len(data), MaxFile)
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		return Block{}, errors.New("the file is not UTF-8 text")
	}
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	begin := opening().FindString(text)
	if begin == "" {
		return Block{Body: text, Line: 1}, misplaced(text)
	}
	yamlText, body, ok := cutBlock(text[len(begin):])
	switch {
	case !ok:
		return Block{}, errors.New("the front matter has no closing line ---")
	case len(yamlText) > MaxBlock:
		return Block{}, fmt.Errorf("the front matter has %d bytes (allowed: %d)", len(yamlText), MaxBlock)
	}
	b := Block{Body: body, Line: strings.Count(text[:len(text)-len(body)], "\n") + 1}
	before := strings.Count(begin, "\n")
	b.values, b.names, b.Warning = values(yamlText, before)
	if b.Warning == nil {
		return b, nil
	}
	quoted, harmless := quote(yamlText)
	switch all, names, wrong := values(quoted, before); {
	case wrong == nil:
		b.values, b.names = all, names
		if harmless {
			b.Warning = nil
		}
	case limiting(yamlText) != "":
		return Block{}, &LimitError{b.Warning.Line, b.Warning.Reason + ", so " + limiting(yamlText) + " would have no effect"}
	default:
		b.values = lines(yamlText)
	}
	return b, nil
}

// texts lists the settings that people write as plain text although YAML needs quotes: "Use when: …", "[issue]
// [branch]", "**/*.ts". The value tells whether the documentation shows them without quotes.
var texts = map[string]bool{"name": false, "description": false, "when_to_use": false, "argument-hint": true, "paths": true}

// quote adds quotes to those values of the settings in texts that are not valid YAML on their line; harmless means that
// it changed only settings documented without quotes.
func quote(block string) (quoted string, harmless bool) {
	harmless = true
	all := strings.Split(block, "\n")
	for i, line := range all {
		key, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		documented, known := texts[key]
		if !known || value == "" {
			continue
		}
		if _, _, wrong := values(line, 0); wrong == nil {
			continue
		}
		all[i] = key + ": '" + strings.ReplaceAll(value, "'", "''") + "'"
		harmless = harmless && documented
	}
	return strings.Join(all, "\n"), harmless
}

// Settings parses a file that contains only settings.
func Settings(data []byte) (Block, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	switch {
	case len(data) > MaxBlock:
		return Block{}, fmt.Errorf("the file has %d bytes (allowed: %d)", len(data), MaxBlock)
	case !utf8.Valid(data):
		return Block{}, errors.New("the file is not UTF-8 text")
	}
	all, names, wrong := values(string(data), 0)
	if wrong != nil {
		return Block{}, fmt.Errorf("line %d: %s", wrong.Line, strings.Replace(wrong.Reason, "front matter", "file", 1))
	}
	return Block{values: all, names: names}, nil
}

// opening matches the first fence with preceding blank lines, closing the second fence.
var (
	opening = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*?---[ \t]*\n`) })
	closing = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^---[ \t]*(?:\n|\z)`) })
)

// cutBlock splits the text after the first fence at the second one.
func cutBlock(rest string) (block, body string, ok bool) {
	at := closing().FindStringIndex(rest)
	if at == nil {
		return "", "", false
	}
	return strings.TrimSuffix(rest[:at[0]], "\n"), rest[at[1]:], true
}

// values parses a block as YAML. It returns the values of the settings by plain name, and the names as written. before
// is the number of lines before the block in the file.
func values(text string, before int) (map[string]*yaml.Node, []string, *Warning) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		return nil, nil, &Warning{yamlLine(err) + before, "the front matter is not valid YAML: " + yamlReason(err)}
	}
	if len(doc.Content) == 0 {
		return nil, nil, nil
	}
	top := doc.Content[0]
	if top.Kind != yaml.MappingNode {
		return nil, nil, &Warning{top.Line + before, "the front matter is not a list of NAME: VALUE"}
	}
	if at := AliasIn(top); at > 0 {
		return nil, nil, &Warning{at + before, "the front matter has a YAML alias (*NAME), which buddy doesn't read"}
	}
	all, names := entries(top)
	if len(all) < len(names) {
		return nil, nil, &Warning{top.Line + before, "the front matter has a setting twice"}
	}
	return all, names, nil
}

// entries returns the values of a mapping by plain name, and the names as written.
func entries(n *yaml.Node) (all map[string]*yaml.Node, names []string) {
	all = make(map[string]*yaml.Node)
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i].Value
		all[Plain(name)], names = n.Content[i+1], append(names, name)
	}
	return all, names
}

// AliasIn returns the line of the first alias in a node, 0 for none.
func AliasIn(n *yaml.Node) int {
	if n.Kind == yaml.AliasNode {
		return n.Line
	}
	for _, c := range n.Content {
		if at := AliasIn(c); at > 0 {
			return at
		}
	}
	return 0
}

var yamlAt = regexp.MustCompile(`line (\d+)`)

// yamlLine returns the line of the block that an error names.
func yamlLine(err error) int {
	line := 1
	if m := yamlAt.FindStringSubmatch(err.Error()); m != nil {
		line, _ = strconv.Atoi(m[1]) // digits
	}
	return line
}

var yamlPlace = regexp.MustCompile(`^yaml: (line \d+: )?`)

func yamlReason(err error) string {
	reason, _, _ := strings.Cut(yamlPlace.ReplaceAllString(err.Error(), ""), "\n")
	return reason
}

// lines reads the name and the description of a block that is not valid YAML. Indented lines continue the previous
// line.
func lines(text string) map[string]*yaml.Node {
	all := make(map[string]*yaml.Node)
	var last *yaml.Node
	for line := range strings.SplitSeq(text, "\n") {
		key, value, ok := strings.Cut(line, ":")
		switch value = unquoted(strings.TrimSpace(value)); {
		case strings.TrimLeft(line, " \t") != line && last != nil:
			last.Value = strings.TrimSpace(last.Value + " " + strings.TrimSpace(line))
			continue
		case !ok || key != "name" && key != "description" || all[key] != nil:
			last = nil
			continue
		case slices.Contains([]string{"|", ">", "|-", ">-"}, value):
			value = ""
		}
		last = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
		all[key] = last
	}
	return all
}

func unquoted(s string) string {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}

// Has reports whether a setting is there.
func (b Block) Has(name string) bool { return b.Node(name) != nil }

// Node returns the value of a setting, nil when it is missing.
func (b Block) Node(name string) *yaml.Node { return b.values[Plain(name)] }

// Names returns the names of the settings as written.
func (b Block) Names() []string { return b.names }

// Within returns the settings nested in a setting, or none.
func (b Block) Within(name string) Block {
	n := b.Node(name)
	if n == nil || n.Kind != yaml.MappingNode {
		return Block{}
	}
	all, names := entries(n)
	return Block{values: all, names: names}
}

// Text returns the value of a setting as text, "" if it is missing or not a scalar.
func (b Block) Text(name string) string {
	n := b.Node(name)
	if n == nil || n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		return ""
	}
	return strings.TrimSpace(n.Value)
}

// Bool returns a boolean setting: true, yes, on, 1, false, no, off or 0.
func (b Block) Bool(name string, otherwise bool) bool {
	if value, ok := Truth(b.Text(name)); ok {
		return value
	}
	return otherwise
}

// Truth parses a boolean as [Block.Bool] does; ok is false for any other text.
func Truth(text string) (value, ok bool) {
	switch strings.ToLower(text) {
	case "true", "yes", "on", "1":
		return true, true
	case "false", "no", "off", "0":
		return false, true
	}
	return false, false
}

// List returns a setting that is a YAML list, or text with commas or spaces between its items. Parentheses and
// braces keep an item together: "Bash(git add *), Read" has two.
func (b Block) List(name string) []string {
	n := b.Node(name)
	if n == nil {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		return split(b.Text(name))
	}
	var all []string
	for _, item := range n.Content {
		if v := strings.TrimSpace(item.Value); item.Kind == yaml.ScalarNode && v != "" {
			all = append(all, v)
		}
	}
	return all
}

// Nested reports whether a setting contains settings, which Text and List leave out.
func (b Block) Nested(name string) bool {
	n := b.Node(name)
	if n == nil {
		return false
	}
	return n.Kind == yaml.MappingNode || slices.ContainsFunc(n.Content, func(item *yaml.Node) bool { return item.Kind != yaml.ScalarNode })
}

// split splits at commas and spaces outside of parentheses and braces.
func split(s string) []string {
	depth := 0
	return strings.FieldsFunc(s, func(r rune) bool {
		switch r {
		case '(', '{':
			depth++
		case ')', '}':
			depth = max(0, depth-1)
		}
		return depth == 0 && (r == ',' || r == ' ' || r == '\t' || r == '\n')
	})
}
