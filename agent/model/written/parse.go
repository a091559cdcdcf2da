package written

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"buddy/agent/model"
)

// state says whether the text parsed so far consists of calls.
type state uint8

const (
	none  state = iota // the text is not only calls
	open               // the text may become calls
	whole              // the text is complete calls
)

// mark is a tag that models write before or after calls.
type mark struct {
	text  string
	opens bool // a call must follow
}

// marks are the tags in the chat templates of Qwen and Hermes, Llama, Kimi and DeepSeek. Source: tokenizer_config.json
// in huggingface.co/Qwen/Qwen2.5-Coder-32B-Instruct, meta-llama/Llama-3.1-8B-Instruct, moonshotai/Kimi-K2-Instruct and
// deepseek-ai/DeepSeek-V3.1.
var marks = []mark{
	{"<tool_call>", true},
	{"</tool_call>", false},
	{"<|python_tag|>", true},
	{"<|eom_id|>", false},
	{"<|eot_id|>", false},
	{";", false}, // between Llama's calls
	{"<|tool_calls_section_begin|>", true},
	{"<|tool_call_end|>", false},
	{"<|tool_calls_section_end|>", false},
	{"<｜tool▁calls▁begin｜>", true},
	{"<｜tool▁call▁end｜>", false},
	{"<｜tool▁calls▁end｜>", false},
}

// The tags with which some models start a call.
const (
	functionBegin = "<function=" // Qwen3-Coder: huggingface.co/Qwen/Qwen3-Coder-30B-A3B-Instruct, chat_template.jinja
	kimiBegin     = "<|tool_call_begin|>"
	deepSeekBegin = "<｜tool▁call▁begin｜>"
)

// form is a notation for calls, with the characters that such a call starts with.
type form struct {
	begin string
	read  func(*parser) state
}

var forms = []form{
	{"{", (*parser).object},
	{"[", (*parser).array},
	{"```", (*parser).fenceLine},
	{"~~~", (*parser).fenceLine},
	{functionBegin, (*parser).function},
	{kimiBegin, (*parser).kimi},
	{deepSeekBegin, (*parser).deepSeek},
}

// fenceInfos are the info strings of code fences that may contain calls.
var fenceInfos = []string{"", "json", "tool_call", "tool_calls", "tool", "xml"}

var callKeys = []string{"name", "arguments", "parameters", "function", "type", "id"}

// maxName limits the length of a tool's name, including what models write before and after it, in bytes.
const maxName = 200

// tools maps the name of each tool to the types of its arguments, by argument name.
type tools map[string]map[string]string

func toolsOf(defs []model.ToolDef) tools {
	t := make(tools)
	for _, d := range defs {
		var schema struct {
			Properties map[string]struct{ Type any }
		}
		_ = json.Unmarshal(d.Parameters, &schema) // without types all arguments are strings
		types := make(map[string]string)
		for name, p := range schema.Properties {
			types[name], _ = p.Type.(string)
		}
		t[d.Name] = types
	}
	return t
}

// parser parses tool calls that a model wrote as text.
type parser struct {
	rest     string // not read yet
	tools    tools
	state    state
	calls    []model.ToolCall
	called   bool   // something has the form of a call
	expected bool   // a call must follow
	fence    string // the open fence
}

// parse parses a text that may start with a call.
func parse(text string, t tools) *parser {
	p := &parser{rest: text, tools: t}
	for {
		p.rest = strings.TrimLeft(p.rest, " \t\r\n")
		if p.rest == "" {
			p.state = open
			if len(p.calls) > 0 && !p.expected {
				p.state = whole
			}
			return p
		}
		if p.state = p.item(); p.state != whole {
			return p
		}
	}
}

// item reads a mark or a call.
func (p *parser) item() state {
	for _, m := range marks {
		switch {
		case strings.HasPrefix(p.rest, m.text):
			p.rest, p.expected, p.called = p.rest[len(m.text):], p.expected || m.opens, true
			return whole
		case strings.HasPrefix(m.text, p.rest):
			return open
		}
	}
	for _, f := range forms {
		switch {
		case strings.HasPrefix(p.rest, f.begin):
			return f.read(p)
		case strings.HasPrefix(f.begin, p.rest):
			return open
		}
	}
	return none
}

// add adds a call, if the request offers the tool and the arguments are a JSON object.
func (p *parser) add(name string, arguments json.RawMessage) state {
	var members map[string]json.RawMessage
	if name == "" || json.Unmarshal(arguments, &members) != nil || members == nil {
		return none
	}
	p.called = true
	if _, known := p.tools[name]; !known {
		return none
	}
	p.calls, p.expected = append(p.calls, model.ToolCall{Name: name, Arguments: string(arguments)}), false
	return whole
}

// fenceLine reads the line that opens or closes a fence.
func (p *parser) fenceLine() state {
	line, rest, ended := strings.Cut(p.rest, "\n")
	info := strings.TrimLeft(line, line[:1])
	run := line[:len(line)-len(info)]
	info = strings.ToLower(strings.TrimSpace(info))
	switch {
	case p.fence != "":
		after, closed := strings.CutPrefix(p.rest, p.fence)
		switch {
		case !closed && run == p.rest:
			return open
		case !closed:
			return none
		}
		p.fence, rest = "", strings.TrimLeft(after, run[:1])
	case !ended:
		if slices.ContainsFunc(fenceInfos, func(s string) bool { return strings.HasPrefix(s, info) }) {
			return open
		}
		return none
	case !slices.Contains(fenceInfos, info):
		return none
	default:
		p.fence, p.expected = run, true
	}
	p.rest = rest
	return whole
}

// value reads a JSON value.
func (p *parser) value() (json.RawMessage, state) {
	d := json.NewDecoder(strings.NewReader(p.rest))
	var raw json.RawMessage
	switch err := d.Decode(&raw); {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return nil, open
	case err != nil:
		p.called = p.called || strings.Contains(p.rest, `"name"`) && (strings.Contains(p.rest, `"arguments"`) || strings.Contains(p.rest, `"parameters"`))
		return nil, none
	}
	p.rest = p.rest[d.InputOffset():]
	return raw, whole
}

// object reads a call in JSON.
func (p *parser) object() state {
	text := p.rest
	raw, st := p.value()
	switch {
	case st == open && !p.mayCall(text):
		return none
	case st != whole:
		return st
	}
	return p.call(raw)
}

// array reads a list of calls in JSON.
func (p *parser) array() state {
	first := strings.TrimLeft(p.rest[1:], " \t\r\n")
	if first != "" && first[0] != '{' {
		return none
	}
	raw, st := p.value()
	switch {
	case st == open && first != "" && !p.mayCall(first):
		return none
	case st != whole:
		return st
	}
	var all []json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return none
	}
	for _, one := range all {
		if p.call(one) != whole {
			return none
		}
	}
	return whole
}

// mayCall reports whether an object that has partly arrived may become a call in JSON. If not, it need not be held
// back.
func (p *parser) mayCall(text string) bool {
	d := json.NewDecoder(strings.NewReader(text))
	if _, err := d.Token(); err != nil {
		return true
	}
	foreign := false
	for {
		key, err := d.Token()
		member, ok := key.(string)
		switch {
		case err != nil || !ok:
			return true
		case !slices.Contains(callKeys, member):
			return false
		case foreign && (member == "arguments" || member == "parameters"):
			p.called = true
			return false
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return true
		}
		var name string
		if member == "name" && json.Unmarshal(value, &name) == nil {
			_, known := p.tools[name]
			foreign = !known
		}
	}
}

// call adds the call that a JSON object describes.
func (p *parser) call(raw json.RawMessage) state {
	var c map[string]json.RawMessage
	if json.Unmarshal(raw, &c) != nil {
		return none
	}
	var inner map[string]json.RawMessage
	if json.Unmarshal(c["function"], &inner) == nil {
		delete(c, "function")
		maps.Copy(c, inner)
	}
	for k := range c {
		if !slices.Contains(callKeys, k) {
			return none
		}
	}
	var name, encoded string
	_ = json.Unmarshal(c["name"], &name) // without a name it is not a call
	arguments := c["arguments"]
	if arguments == nil {
		arguments = c["parameters"]
	}
	if json.Unmarshal(arguments, &encoded) == nil {
		arguments = json.RawMessage(encoded)
	}
	return p.add(name, arguments)
}

// function reads a call in Qwen3-Coder's form.
func (p *parser) function() state {
	name, rest, ok := strings.Cut(p.rest[len(functionBegin):], ">")
	if !ok {
		return unended(name)
	}
	p.called = true
	types, known := p.tools[name]
	if !known {
		return none
	}
	arguments := make(map[string]any)
	for {
		rest = strings.TrimLeft(rest, " \t\r\n")
		after, ends := strings.CutPrefix(rest, "</function>")
		if ends {
			p.rest = after
			raw, err := json.Marshal(arguments)
			if err != nil {
				return none
			}
			return p.add(name, raw)
		}
		key, value, after, st := parameter(rest)
		if st != whole {
			return st
		}
		arguments[key], rest = typed(value, types[key]), after
	}
}

// parameter reads one argument of a call in Qwen3-Coder's form. A value may contain the end tag; the real one is
// followed by another argument, or by the call's end.
func parameter(s string) (key, value, rest string, st state) {
	const begin, end = "<parameter=", "</parameter>"
	after, ok := strings.CutPrefix(s, begin)
	if !ok {
		if strings.HasPrefix(begin, s) || strings.HasPrefix("</function>", s) {
			return "", "", "", open
		}
		return "", "", "", none
	}
	if key, after, ok = strings.Cut(after, ">"); !ok {
		return "", "", "", unended(key)
	}
	for at := 0; ; {
		i := strings.Index(after[at:], end)
		if i < 0 {
			return "", "", "", open
		}
		at += i
		rest = strings.TrimLeft(after[at+len(end):], " \t\r\n")
		for _, next := range []string{begin, "</function>"} {
			if strings.HasPrefix(rest, next) {
				value = strings.TrimSuffix(strings.TrimPrefix(after[:at], "\n"), "\n")
				return key, value, rest, whole
			}
			if strings.HasPrefix(next, rest) {
				return "", "", "", open
			}
		}
		at += len(end)
	}
}

// typed converts the text of an argument to the argument's type.
func typed(text, of string) any {
	if of != "" && of != "string" && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return text
}

// unended returns the state of a call if its tool's name has only partly arrived.
func unended(name string) state {
	if len(name) > maxName || strings.Contains(name, "\n") {
		return none
	}
	return open
}

// kimi reads a call in Kimi's form, which starts with functions.NAME:NUMBER.
func (p *parser) kimi() state {
	p.called = true
	head, rest, ok := strings.Cut(p.rest[len(kimiBegin):], "<|tool_call_argument_begin|>")
	if !ok {
		return unended(strings.TrimSpace(head))
	}
	name := strings.TrimPrefix(strings.TrimSpace(head), "functions.")
	if i := strings.LastIndexByte(name, ':'); i > 0 && strings.Trim(name[i+1:], "0123456789") == "" {
		name = name[:i]
	}
	p.rest = rest
	return p.argued(name)
}

// deepSeek reads a call in DeepSeek's form. Since V3.1, a call starts with the tool's name. In V3, it starts with the
// word function, the name is on the next line, and a fence encloses the arguments.
func (p *parser) deepSeek() state {
	p.called = true
	head, rest, ok := strings.Cut(p.rest[len(deepSeekBegin):], "<｜tool▁sep｜>")
	if !ok {
		return unended(strings.TrimSpace(head))
	}
	name := strings.TrimSpace(head)
	if first := strings.TrimSpace(rest); name == "function" && (first == "" || first[0] != '{') {
		if name, rest, ok = strings.Cut(rest, "\n"); !ok {
			return unended(name)
		}
		rest = strings.TrimLeft(rest, " \t\r\n")
		const fence = "```json"
		if !strings.HasPrefix(rest, fence) && strings.HasPrefix(fence, rest) {
			return open
		}
		if after, ok := strings.CutPrefix(rest, fence); ok {
			rest, p.fence = after, "```"
		}
	}
	p.rest = rest
	return p.argued(strings.TrimSpace(name))
}

// argued reads the arguments of a call of the named tool, and adds the call.
func (p *parser) argued(name string) state {
	raw, st := p.value()
	if st != whole {
		return st
	}
	return p.add(name, raw)
}

// whole reports whether the text consists of complete calls and nothing else.
func (p *parser) whole() bool { return p.state == whole }

// tags start a call anywhere in a line.
var tags = append([]string{functionBegin, kimiBegin, deepSeekBegin}, openings()...)

func openings() (all []string) {
	for _, m := range marks {
		if m.opens {
			all = append(all, m.text)
		}
	}
	return all
}

// callAt returns the first index in s at which a call may start, or len(s) if there is none. A tag may start a call
// anywhere; JSON and a fence only at the start of a line. inLine means that s starts in the middle of a line.
func callAt(s string, inLine bool) int {
	for i := 0; i < len(s); i++ {
		j := strings.IndexAny(s[i:], "<{[`~")
		if j < 0 {
			return len(s)
		}
		i += j
		begins := []string{s[i : i+1]}
		switch s[i] {
		case '<':
			begins = tags
		case '`', '~':
			begins = []string{strings.Repeat(s[i:i+1], 3)}
		}
		if s[i] != '<' && !beginsLine(s[:i], inLine) {
			continue
		}
		if slices.ContainsFunc(begins, func(b string) bool { return strings.HasPrefix(s[i:], b) || strings.HasPrefix(b, s[i:]) }) {
			return i
		}
	}
	return len(s)
}

// beginsLine reports whether the text that follows before is at the start of a line.
func beginsLine(before string, inLine bool) bool {
	i := strings.LastIndexByte(before, '\n')
	return (i >= 0 || !inLine) && strings.Trim(before[i+1:], " \t") == ""
}
