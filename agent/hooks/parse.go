package hooks

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"buddy/agent/action"
	"buddy/extensions/frontmatter"
	"buddy/texts"
)

// Limits of a hook file.
const (
	maxFile     = 1 << 20 // bytes: settings of another program may be long
	maxHandlers = 200
	maxCommand  = 16 << 10 // bytes
	maxTimeout  = time.Hour
	maxEnd      = time.Minute // for SessionEnd
)

// Problem describes a part of a file that was left out, and why.
type Problem struct {
	File   string
	Line   int // 0: the whole file
	Reason string
	Quiet  bool // not the user's mistake: shown in lists only, not at a session's start
	Guard  bool // it may be a guard: calls need approval because of it
}

// guards marks a problem as one that may have disabled a guard.
func (p *Problem) guards() {
	p.Reason += "; until you fix it, calls that the hook may apply to need approval"
	p.Guard, p.Quiet = true, false
}

// Unread returns the result for a hook file that can't be read. Because the file may contain a guard, the result is a
// guard that selects every call and can't run.
func Unread(from Origin, reason string) Set {
	problem := Problem{File: from.File, Reason: reason}
	problem.guards()
	return Set{[]Handler{{Event: PreToolUse, Origin: from, Lost: mayGuard}}, []Problem{problem}}
}

// mayGuard tells the user why calls need approval while a hook file can't be read.
const mayGuard = "its file can't be read and may contain a hook that denies this"

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

// Add appends the hooks and problems of another file.
func (s *Set) Add(other Set) {
	s.Handlers = append(s.Handlers, other.Handlers...)
	s.Problems = append(s.Problems, other.Problems...)
}

// parser reads one file. Hooks stay slices of the file's text, so that their line numbers can be found.
type parser struct {
	Set
	text   []byte
	origin Origin
	off    bool // the file turns its hooks off
}

// Parse reads hooks.json or the settings of another program with hooks. It leaves out invalid hooks and reports
// each as a problem with its line.
func Parse(text []byte, from Origin) Set {
	p := &parser{text: text, origin: from}
	p.file()
	return p.Set
}

func (p *parser) file() {
	all, problems := Entries(p.text, p.origin.File)
	p.Problems = problems
	for _, e := range all {
		p.entry(e)
	}
}

// ParsePart reads a hook that the user trusts as one part of a project, from its definition: {"event": E, "matcher": M,
// "hook": {…}}.
func ParsePart(definition []byte, from Origin) Set {
	p := &parser{text: definition, origin: from}
	var e Entry
	if err := json.Unmarshal(definition, &e); err != nil {
		p.broken(definition, err)
		return p.Set
	}
	p.entry(e)
	return p.Set
}

// entry parses one hook. If a guard is invalid, the calls for which it might have run need approval.
func (p *parser) entry(e Entry) {
	event, known := eventOf(e.Event)
	h := Handler{Event: event, Matcher: e.Matcher, Origin: p.origin, Line: p.line(e.Hook)}
	switch {
	case e.Event == unreadable: // the problem of the file explains it
		h.Event, h.Lost = PreToolUse, mayGuard
		p.Handlers = append(p.Handlers, h)
		return
	case !known:
		p.leaveOut(h, e, unknownEvent(e.Event))
		return
	}
	unknown, err := h.matching(e.Matcher)
	if err == nil {
		err = h.read(e.Hook, unitOf(e.Event))
	}
	switch {
	case err != nil:
		p.leaveOut(h, e, err)
	case len(p.Handlers) == maxHandlers:
		p.leaveOut(h, e, fmt.Errorf("there are more than %d hooks", maxHandlers))
	default:
		if len(unknown) > 0 {
			p.problem(e.Hook, fmt.Sprintf("the matcher names tools that buddy doesn't have: %s", strings.Join(unknown, ", ")))
		}
		p.Handlers = append(p.Handlers, h)
	}
}

// leaveOut reports a hook that buddy will not run. If it is a guard, the calls for which it might have run need
// approval, because the user meant to forbid some of them.
func (p *parser) leaveOut(h Handler, e Entry, err error) {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		err = fmt.Errorf("%s can't have type %s", quoted(kind.Field), kind.Value)
	}
	var accepted struct {
		OnError string `json:"on_error"`
	}
	_ = json.Unmarshal(e.Hook, &accepted) // an unreadable hook ignores no errors
	foreign := errors.Is(err, errNotRun)
	guard := h.Event == PreToolUse || h.Event == "" && frontmatter.Guards(e.Event)
	if guard && accepted.OnError != "ignore" && !errors.Is(err, errOff) {
		h.Event, h.Lost = PreToolUse, err.Error()
		p.Handlers = append(p.Handlers, h)
		p.problem(e.Hook, err.Error()).guards()
		return
	}
	p.problem(e.Hook, err.Error()).Quiet = errors.Is(err, errOff) || foreign && h.Event != PermissionRequest && h.Event != UserPromptSubmit
}

// unknownEvent returns the error for an event that buddy does not have: a typo, or an event of another program.
func unknownEvent(name string) error {
	for _, e := range Events {
		if texts.Distance(texts.Clip(frontmatter.Plain(name), 64), frontmatter.Plain(string(e))) <= 2 {
			return fmt.Errorf("there is no event %s (did you mean %s?)", quoted(name), e)
		}
	}
	return fmt.Errorf("hooks for %s are %w", quoted(name), errNotRun)
}

var (
	// errNotRun is the error for a kind of hook that buddy does not support.
	errNotRun = errors.New("not run by buddy")
	// errOff is the error for a hook that is turned off in its file.
	errOff = errors.New("the hook is turned off")
)

// definition is a hook as JSON.
type definition struct {
	Type    string    `json:"type"`
	Command string    `json:"command"`
	Args    *[]string `json:"args"`
	Timeout float64   `json:"timeout"`
	Seconds float64   `json:"timeoutSec"`
	Async   bool      `json:"async"`
	If      string    `json:"if"`
	Status  string    `json:"statusMessage"`
	Once    bool      `json:"once"`
	OnError string    `json:"on_error"`
	Outside bool      `json:"outside"`
	Enabled *bool     `json:"enabled"`
	Off     bool      `json:"disabled"`
}

// check returns an error if buddy can't run the hook.
func (d definition) check() error {
	switch {
	case d.Off || d.Enabled != nil && !*d.Enabled:
		return errOff
	case d.Type != "" && !strings.EqualFold(d.Type, "command"):
		return fmt.Errorf("a hook of type %s is %w (have: command)", quoted(d.Type), errNotRun)
	case strings.TrimSpace(d.Command) == "":
		return errors.New("the hook has no command")
	case len(d.Command) > maxCommand:
		return fmt.Errorf("the command has %d bytes (allowed: %d)", len(d.Command), maxCommand)
	case d.Timeout < 0 || math.IsNaN(d.Timeout):
		return fmt.Errorf("timeout %v is not a number of seconds", d.Timeout)
	case d.OnError != "" && d.OnError != "ignore":
		return fmt.Errorf("on_error %s is unknown (have: ignore)", quoted(d.OnError))
	}
	return nil
}

// read fills in a handler from its JSON. unit is the unit of the time limit in "timeout".
func (h *Handler) read(raw json.RawMessage, unit time.Duration) error {
	var d definition
	if err := json.Unmarshal(raw, &d); err != nil {
		return err
	}
	if err := d.check(); err != nil {
		return err
	}
	h.Command, h.Status, h.Once, h.Ignore = d.Command, d.Status, d.Once, d.OnError == "ignore"
	h.Outside = d.Outside && h.Origin.Source == Person
	h.Async = d.Async && !h.Event.guards() && h.Event != SessionEnd
	if d.Async && !h.Async {
		return fmt.Errorf("a hook for %s can't be async: buddy has to wait for it", h.Event)
	}
	if h.Direct = d.Args != nil; h.Direct {
		h.Args = *d.Args
	}
	h.limitTo(cmp.Or(d.Timeout*unit.Seconds(), d.Seconds))
	return h.condition(d.If)
}

// limitTo sets the time limit of the hook, in seconds.
func (h *Handler) limitTo(seconds float64) {
	most := maxTimeout
	if h.Event == SessionEnd {
		most = maxEnd
	}
	h.Timeout = time.Duration(min(seconds, most.Seconds()) * float64(time.Second))
}

// condition parses the rule in "if".
func (h *Handler) condition(text string) (err error) {
	if text == "" {
		return nil
	}
	if !h.Event.ofTool() {
		return fmt.Errorf("if %s: %s is not about a tool call", quoted(text), h.Event)
	}
	h.If = strings.TrimSpace(h.If + " " + text)
	before := h.rules
	if h.rules, err = action.FieldRules(text, action.Deny, action.FromUser); err != nil {
		return fmt.Errorf("if: %w", err)
	}
	h.rules = append(h.rules, before...) // keep the matcher's rules: an extra run of a guard is harmless
	return nil
}

// problem records a part that is left out.
func (p *parser) problem(raw json.RawMessage, reason string) *Problem {
	p.Problems = append(p.Problems, Problem{File: p.origin.File, Line: p.line(raw), Reason: reason})
	return &p.Problems[len(p.Problems)-1]
}

// broken records invalid JSON.
func (p *parser) broken(raw json.RawMessage, err error) {
	at := 0
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		at = int(syntax.Offset)
	}
	start := max(0, bytes.Index(p.text, raw))
	line := 1 + bytes.Count(p.text[:min(len(p.text), start+max(0, at-1))], []byte("\n"))
	reason := "the file is not valid JSON: " + err.Error()
	if json.Valid(p.text) {
		reason = "the file is not a JSON object"
	}
	p.Problems = append(p.Problems, Problem{File: p.origin.File, Line: line, Reason: reason})
}

// line returns the line number at which a slice of the text starts, or the first one at which the same bytes occur.
func (p *parser) line(raw json.RawMessage) int {
	at := bytes.Index(p.text, raw)
	if len(raw) == 0 || at < 0 {
		return 0
	}
	return 1 + bytes.Count(p.text[:at], []byte("\n"))
}

// quoted returns a text in quotes, shortened to 100 bytes.
func quoted(s string) string {
	if len(s) > 100 {
		s = strings.ToValidUTF8(s[:100], "") + "…"
	}
	return fmt.Sprintf("%q", s)
}
