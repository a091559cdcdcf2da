package workflow

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"buddy/extensions/frontmatter"
	"buddy/texts"
)

// Parse parses a workflow file. A workflow with mistakes contains the readable parts and must not be run. Check
// also checks the calls.
func Parse(data []byte) (Workflow, []Mistake) {
	r := &reader{}
	if top := r.top(data); top != nil {
		r.workflow(top)
	}
	if len(r.mistakes) == 0 {
		r.references()
	}
	slices.SortStableFunc(r.mistakes, func(a, b Mistake) int { return a.Line - b.Line })
	return r.w, r.mistakes
}

// reader parses the nodes of a file and collects mistakes.
type reader struct {
	w        Workflow
	mistakes []Mistake
}

func (r *reader) wrong(line int, key, format string, args ...any) {
	r.mistakes = append(r.mistakes, Mistake{line, key, fmt.Sprintf(format, args...)})
}

var yamlError = texts.Regexp(`^yaml: (?:unmarshal errors:\s*)?(?:line (\d+): )?`)

// top returns the root mapping of a file, or nil.
func (r *reader) top(data []byte) *yaml.Node {
	if len(data) > MaxFile {
		r.wrong(1, "file", "has %d bytes (allowed: %d)", len(data), MaxFile)
		return nil
	}
	if !utf8.Valid(data) {
		r.wrong(1, "file", "is not text in UTF-8")
		return nil
	}
	var doc, more yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	if err := decoder.Decode(&doc); err != nil && !errors.Is(err, io.EOF) {
		m := yamlError().FindStringSubmatch(err.Error())
		line := 1
		if m != nil && m[1] != "" {
			line, _ = strconv.Atoi(m[1]) // digits
		}
		r.wrong(line, "file", "is not valid YAML: %s", texts.Clip(texts.OneLine(yamlError().ReplaceAllString(err.Error(), "")), 200))
		return nil
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		r.wrong(1, "file", "is not a list of KEY: VALUE")
		return nil
	}
	if decoder.Decode(&more) == nil {
		r.wrong(max(more.Line, 1), "file", "has a second document, which buddy would not read")
		return nil
	}
	if at := frontmatter.AliasIn(doc.Content[0]); at > 0 {
		r.wrong(at, "file", "buddy doesn't read YAML aliases (*NAME)")
		return nil
	}
	return doc.Content[0]
}

// entry is a key of a mapping and its value.
type entry struct {
	key  string
	line int
	node *yaml.Node
}

// entries returns the entries of a mapping in order, without duplicates.
func (r *reader) entries(n *yaml.Node, key string) []entry {
	if n.Kind != yaml.MappingNode {
		r.wrong(n.Line, key, "is not a list of KEY: VALUE")
		return nil
	}
	var all []entry
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		e := entry{k.Value, k.Line, n.Content[i+1]}
		switch {
		case k.Kind != yaml.ScalarNode:
			r.wrong(k.Line, cmp.Or(key, "file"), "has a key that is not a name")
		case slices.ContainsFunc(all, func(o entry) bool { return o.key == e.key }):
			r.wrong(k.Line, cmp.Or(within(key, e.key), "file"), "is there twice")
		default:
			all = append(all, e)
		}
	}
	return all
}

// within returns the full name of a key in a mapping.
func within(key, name string) string {
	if name = texts.Clip(texts.OneLine(name), 60); key == "" {
		return name
	}
	return key + "." + name
}

// mapping calls read for each entry with a known key, and reports the other entries.
func (r *reader) mapping(n *yaml.Node, key string, known []string, read func(e entry, key string)) {
	for _, e := range r.entries(n, key) {
		at := within(key, e.key)
		if !slices.Contains(known, e.key) {
			r.wrong(e.line, cmp.Or(at, "file"), "is unknown%s", suggest(e.key, known))
			continue
		}
		read(e, at)
	}
}

// suggest names the most similar known word, or lists all of them.
func suggest(word string, known []string) string {
	for _, k := range known {
		if texts.Distance(word, k) <= 2 {
			return "; did you mean " + k + "?"
		}
	}
	return " (have: " + strings.Join(known, ", ") + ")"
}

// scalar returns a value that is neither a list nor a mapping.
func (r *reader) scalar(n *yaml.Node, key string) (string, bool) {
	if n.Kind != yaml.ScalarNode {
		r.wrong(n.Line, key, "is not a single value")
		return "", false
	}
	return n.Value, true
}

// number parses a whole number from 1 to high.
func (r *reader) number(n *yaml.Node, key string, high int) int {
	s, ok := r.scalar(n, key)
	v, err := strconv.Atoi(s)
	if ok && (err != nil || v < 1 || v > high) {
		r.wrong(n.Line, key, "%q is not a whole number from 1 to %d", texts.Clip(s, 40), high)
	}
	return v
}

// truth parses true or false.
func (r *reader) truth(n *yaml.Node, key string) bool {
	s, ok := r.scalar(n, key)
	if ok && s != "true" && s != "false" {
		r.wrong(n.Line, key, "%q is neither true nor false", texts.Clip(s, 40))
	}
	return s == "true"
}

// duration parses a time such as 10s, up to a day.
func (r *reader) duration(n *yaml.Node, key string) time.Duration {
	s, ok := r.scalar(n, key)
	d, err := time.ParseDuration(s)
	if ok && (err != nil || d <= 0 || d > maxTimeout) {
		r.wrong(n.Line, key, "%q is not a duration of at most %s, such as 30s, 15m or 2h", texts.Clip(s, 40), "24h")
	}
	return d
}

// template parses a text with references.
func (r *reader) template(n *yaml.Node, key string) *Template {
	s, ok := r.scalar(n, key)
	if !ok {
		return &Template{}
	}
	t, at, err := parseTemplate(s)
	if err != nil {
		r.wrong(textLine(n)+at, key, "%v", err)
		return &Template{line: n.Line}
	}
	t.line = textLine(n)
	return t
}

// textLine returns the line of the file where the text of a node starts.
func textLine(n *yaml.Node) int {
	if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return n.Line + 1
	}
	return n.Line
}

func (r *reader) condition(n *yaml.Node, key string) *Condition {
	s, ok := r.scalar(n, key)
	if !ok {
		return nil
	}
	c, err := parseCondition(s)
	if err != nil {
		r.wrong(n.Line, key, "%v", err)
		return nil
	}
	c.line = n.Line
	return c
}

// The allowed keys of each part of a file.
var (
	topKeys   = []string{"name", "description", "phrases", "version", "inputs", "steps", "outputs"}
	inputKeys = []string{"type", "optional", "default", "pattern", "description"}
	stepKeys  = []string{"id", "tool", "params", "why", "target", "each", "at_once", "stop_after", "needs", "condition", "timeout", "on_error", "gate"}
	gateKeys  = []string{"type", "when", "message", "timeout", "default"}
	errorKeys = []string{"retry", "wait"}
)

// validName matches valid workflow names.
var validName = texts.Regexp(`^[a-z0-9]+([_-][a-z0-9]+)*$`)

func (r *reader) workflow(top *yaml.Node) {
	parts := make(map[string]*yaml.Node)
	r.mapping(top, "", topKeys, func(e entry, key string) {
		parts[e.key] = e.node
		r.about(e, key)
	})
	for _, key := range []string{"name", "description", "steps"} {
		if parts[key] == nil {
			r.wrong(1, key, "is missing")
		}
	}
	if parts["inputs"] != nil { // the other mistakes name it
		r.inputs(parts["inputs"])
	}
	if parts["steps"] != nil {
		r.steps(parts["steps"])
	}
	if parts["outputs"] != nil {
		r.outputs(parts["outputs"])
	}
}

// about reads the description of the file.
func (r *reader) about(e entry, key string) {
	switch e.key {
	case "name":
		if r.w.Name, _ = r.scalar(e.node, key); !validName().MatchString(r.w.Name) || len(r.w.Name) > 64 {
			r.wrong(e.line, key, "%q is not made of a-z, 0-9 and single _ or - in between", texts.Clip(r.w.Name, 80))
		}
	case "description":
		s, _ := r.scalar(e.node, key)
		if r.w.Description = texts.Clip(texts.OneLine(s), 300); r.w.Description == "" {
			r.wrong(e.line, key, "is empty")
		}
	case "phrases":
		r.phrases(e.node, key)
	case "version":
		r.w.Version = r.number(e.node, key, 1<<30)
	}
}

// phrases checks the phrases, which [Suggestions] reads. One word would fit too many prompts.
func (r *reader) phrases(n *yaml.Node, key string) {
	if n.Kind != yaml.SequenceNode || len(n.Content) > maxPhrases {
		r.wrong(n.Line, key, "is not a list of at most %d texts", maxPhrases)
		return
	}
	for _, one := range n.Content {
		s, ok := r.scalar(one, key)
		if words := len(strings.Fields(s)); ok && (words < 2 || words > maxApart || len(s) > maxPhrase) {
			r.wrong(one.Line, key, "%q is not a phrase of 2 to %d words and at most %d bytes", texts.Clip(s, 80), maxApart, maxPhrase)
		}
	}
}

func (r *reader) inputs(n *yaml.Node) {
	all := r.entries(n, "inputs")
	if len(all) > maxInputs {
		r.wrong(n.Line, "inputs", "has %d entries (allowed: %d)", len(all), maxInputs)
		return
	}
	for _, e := range all {
		r.w.Inputs = append(r.w.Inputs, r.input(e))
	}
}

func (r *reader) input(e entry) Input {
	key := within("inputs", e.key)
	in := Input{Name: e.key, Line: e.line}
	if !validID().MatchString(e.key) {
		r.wrong(e.line, key, "is not made of a-z, 0-9 and _")
	}
	var fallback *yaml.Node
	r.mapping(e.node, key, inputKeys, func(e entry, key string) {
		switch e.key {
		case "type":
			s, _ := r.scalar(e.node, key)
			if in.Type = Type(s); !slices.Contains(types, in.Type) {
				r.wrong(e.line, key, "%q is not a type (have: %s)", texts.Clip(s, 40), texts.Names(types))
			}
		case "optional":
			in.Optional = r.truth(e.node, key)
		case "default":
			fallback = e.node
		case "pattern":
			in.Pattern, _ = r.scalar(e.node, key)
			if _, err := regexp.Compile(in.Pattern); err != nil {
				r.wrong(e.line, key, "%q is not a valid pattern: %v", texts.Clip(in.Pattern, 80), err)
			}
		case "description":
			s, _ := r.scalar(e.node, key)
			in.Description = texts.Clip(texts.OneLine(s), 200)
		}
	})
	switch {
	case in.Type == "":
		r.wrong(e.line, key+".type", "is missing (have: %s)", texts.Names(types))
	case in.Pattern != "" && (in.Type == Int || in.Type == Bool):
		r.wrong(e.line, key+".pattern", "works only for text, but the type is %s", in.Type)
	case fallback != nil:
		in.Default = r.fallback(in, fallback, key+".default")
	}
	return in
}

// fallback reads the default of an input.
func (r *reader) fallback(in Input, n *yaml.Node, key string) any {
	if !slices.Contains(types, in.Type) {
		return nil
	}
	var v any
	var err error
	if in.Type.Many() && n.Kind == yaml.SequenceNode {
		items := []string{}
		for _, item := range n.Content {
			s, _ := r.scalar(item, key)
			items = append(items, s)
		}
		v, err = items, in.fits(items)
	} else if s, ok := r.scalar(n, key); ok {
		v, err = in.read(s)
	}
	if err != nil {
		r.wrong(n.Line, key, "%v", err)
		return nil
	}
	return v
}

func (r *reader) outputs(n *yaml.Node) {
	all := r.entries(n, "outputs")
	if len(all) > maxOutputs {
		r.wrong(n.Line, "outputs", "has %d entries (allowed: %d)", len(all), maxOutputs)
		return
	}
	for _, e := range all {
		if !validID().MatchString(e.key) {
			r.wrong(e.line, within("outputs", e.key), "is not made of a-z, 0-9 and _")
		}
		r.w.Outputs = append(r.w.Outputs, Output{e.key, r.template(e.node, within("outputs", e.key))})
	}
}
