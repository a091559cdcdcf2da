package hooks

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"buddy/agent/action"
)

// Limits of a file of hooks.
const (
	maxFile     = 1 << 20 // bytes: settings of another program may be long
	maxHandlers = 200
	maxCommand  = 16 << 10 // bytes
	maxTimeout  = time.Hour
	maxEnd      = time.Minute // of SessionEnd
)

// Problem says what of a file was left out, and why.
type Problem struct {
	File   string
	Line   int // 0: the whole file
	Reason string
	Quiet  bool // nobody made a mistake: lists name it, a session's start does not
}

func (p Problem) String() string {
	if p.Line == 0 {
		return p.File + ": " + p.Reason
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Reason)
}

// Set holds the hooks of one or more files.
type Set struct {
	Handlers []Handler
	Problems []Problem
}

// Add adds what another file has.
func (s *Set) Add(other Set) {
	s.Handlers = append(s.Handlers, other.Handlers...)
	s.Problems = append(s.Problems, other.Problems...)
}

// parser reads one file. All that it reads are pieces of text, so that the place of a piece tells
// its line.
type parser struct {
	Set
	text   []byte
	origin Origin
}

// Parse reads a file: hooks.json, or settings of another program with hooks among them. What can't
// be used is left out and named with its line; the rest works.
func Parse(text []byte, from Origin) Set {
	p := &parser{text: text, origin: from}
	p.file()
	return p.Set
}

func (p *parser) file() {
	if len(p.text) > maxFile {
		p.problem(nil, fmt.Sprintf("it has %d bytes (allowed: %d)", len(p.text), maxFile))
		return
	}
	var top struct {
		Hooks    map[string]json.RawMessage `json:"hooks"`
		Disabled bool                       `json:"disableAllHooks"`
	}
	if err := json.Unmarshal(p.text, &top); err != nil {
		p.broken(p.text, err)
		return
	}
	if top.Disabled {
		p.problem(nil, "disableAllHooks is set in it: none of its hooks runs")
		return
	}
	names := slices.SortedFunc(maps.Keys(top.Hooks), func(a, b string) int { // unknown ones first
		return cmp.Or(cmp.Compare(slices.Index(Events, Event(a)), slices.Index(Events, Event(b))), cmp.Compare(a, b))
	})
	for _, name := range names {
		raw := top.Hooks[name]
		if !slices.Contains(Events, Event(name)) {
			p.problem(raw, "hooks of "+quoted(name)+" are not run by buddy")
			p.Problems[len(p.Problems)-1].Quiet = true
			continue
		}
		var groups []json.RawMessage
		if err := json.Unmarshal(raw, &groups); err != nil {
			p.broken(raw, err)
			continue
		}
		for _, g := range groups {
			p.group(Event(name), g)
		}
	}
}

// group reads the hooks of one matcher.
func (p *parser) group(e Event, raw json.RawMessage) {
	var g struct {
		Matcher string            `json:"matcher"`
		Hooks   []json.RawMessage `json:"hooks"`
	}
	if err := json.Unmarshal(raw, &g); err != nil {
		p.broken(raw, err)
		return
	}
	m, err := newMatcher(e, g.Matcher)
	if err != nil {
		p.problem(raw, err.Error())
		return
	}
	for _, one := range g.Hooks {
		p.hook(Handler{Event: e, Matcher: g.Matcher, Origin: p.origin, match: m}, one)
	}
}

// hook reads one hook of a matcher.
func (p *parser) hook(h Handler, raw json.RawMessage) {
	h.Line = p.line(raw)
	err := h.read(raw)
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind):
		p.broken(raw, err)
	case err != nil:
		p.problem(raw, err.Error())
		p.Problems[len(p.Problems)-1].Quiet = errors.Is(err, errType)
	case len(p.Handlers) == maxHandlers:
		p.problem(raw, fmt.Sprintf("there are more than %d hooks", maxHandlers))
	default:
		p.Handlers = append(p.Handlers, h)
	}
}

// ParsePart reads one hook by its definition as a part of a project that a person trusts:
// {"event": E, "matcher": M, "hook": {…}}.
func ParsePart(definition []byte, from Origin) Set {
	p := &parser{text: definition, origin: from}
	var part struct {
		Event   Event           `json:"event"`
		Matcher string          `json:"matcher"`
		Hook    json.RawMessage `json:"hook"`
	}
	if err := json.Unmarshal(definition, &part); err != nil {
		p.broken(definition, err)
		return p.Set
	}
	m, err := newMatcher(part.Event, part.Matcher)
	switch {
	case !slices.Contains(Events, part.Event):
		p.problem(nil, "hooks of "+quoted(string(part.Event))+" are not run by buddy")
		p.Problems[len(p.Problems)-1].Quiet = true
	case err != nil:
		p.problem(nil, err.Error())
	default:
		p.hook(Handler{Event: part.Event, Matcher: part.Matcher, Origin: p.origin, match: m}, part.Hook)
	}
	return p.Set
}

// errType means that a hook is none that buddy runs.
var errType = errors.New("a hook of this type is not run by buddy")

// read completes a handler by its definition.
func (h *Handler) read(raw json.RawMessage) error {
	var d struct {
		Type    string    `json:"type"`
		Command string    `json:"command"`
		Args    *[]string `json:"args"`
		Timeout float64   `json:"timeout"`
		Async   bool      `json:"async"`
		If      string    `json:"if"`
		Status  string    `json:"statusMessage"`
		Once    bool      `json:"once"`
		OnError string    `json:"on_error"`
		Outside bool      `json:"outside"`
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		return err
	}
	switch {
	case d.Type != "command":
		return fmt.Errorf("%w: %s (have: command)", errType, quoted(d.Type))
	case strings.TrimSpace(d.Command) == "":
		return errors.New("the hook has no command")
	case len(d.Command) > maxCommand:
		return fmt.Errorf("the command has %d bytes (allowed: %d)", len(d.Command), maxCommand)
	case d.Timeout < 0 || math.IsNaN(d.Timeout):
		return fmt.Errorf("timeout %v is no time in seconds", d.Timeout)
	case d.OnError != "" && d.OnError != "ignore":
		return fmt.Errorf("on_error %s is unknown (have: ignore)", quoted(d.OnError))
	}
	h.Command, h.Status, h.Once, h.Ignore = d.Command, d.Status, d.Once, d.OnError == "ignore"
	h.Outside = d.Outside && h.Origin.Source == Person
	h.Async = d.Async && !h.Event.guards() && h.Event != SessionEnd
	if d.Async && !h.Async {
		return fmt.Errorf("a hook of %s can't be async: it decides, or the session is over", h.Event)
	}
	if h.Direct = d.Args != nil; h.Direct {
		h.Args = *d.Args
	}
	h.limitTo(d.Timeout)
	return h.condition(d.If)
}

// limitTo sets how long the hook may run, in seconds.
func (h *Handler) limitTo(seconds float64) {
	most := maxTimeout
	if h.Event == SessionEnd {
		most = maxEnd
	}
	h.Timeout = time.Duration(min(seconds, most.Seconds()) * float64(time.Second))
}

// condition reads what stands after "if".
func (h *Handler) condition(text string) (err error) {
	if text == "" {
		return nil
	}
	if !h.Event.ofTool() {
		return fmt.Errorf("if %s: %s is about no call of a tool", quoted(text), h.Event)
	}
	h.If = text
	if h.rules, err = action.FieldRules(text, action.Deny, action.FromUser); err != nil {
		return fmt.Errorf("if: %w", err)
	}
	return nil
}

// problem names what is left out.
func (p *parser) problem(raw json.RawMessage, reason string) {
	p.Problems = append(p.Problems, Problem{File: p.origin.File, Line: p.line(raw), Reason: reason})
}

// broken names what is no JSON, or has a value of another type.
func (p *parser) broken(raw json.RawMessage, err error) {
	at := 0
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		at = int(syntax.Offset)
	case errors.As(err, &kind):
		at = int(kind.Offset)
		err = fmt.Errorf("%s is a %s, which is not expected there", quoted(kind.Field), kind.Value)
	}
	start := max(0, bytes.Index(p.text, raw))
	line := 1 + bytes.Count(p.text[:min(len(p.text), start+max(0, at-1))], []byte("\n"))
	p.Problems = append(p.Problems, Problem{File: p.origin.File, Line: line, Reason: err.Error()})
}

// line returns the line in which a piece of the text begins; pieces that are the same are on the
// line of the first.
func (p *parser) line(raw json.RawMessage) int {
	at := bytes.Index(p.text, raw)
	if len(raw) == 0 || at < 0 {
		return 0
	}
	return 1 + bytes.Count(p.text[:at], []byte("\n"))
}

// quoted returns a short text in quotes.
func quoted(s string) string {
	if len(s) > 100 {
		s = strings.ToValidUTF8(s[:100], "") + "…"
	}
	return fmt.Sprintf("%q", s)
}
