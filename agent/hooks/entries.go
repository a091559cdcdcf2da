package hooks

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"buddy/extensions/frontmatter"
)

// Entry is one hook as written in a file. The file may be in the format of a known or of an unknown program.
type Entry struct {
	Event   string          `json:"event"` // as written
	Matcher string          `json:"matcher"`
	Hook    json.RawMessage `json:"hook"`
}

// otherEvents maps event names of other programs, as frontmatter.Plain writes them, to buddy's events.
var otherEvents = map[string]Event{
	"beforetool": PreToolUse, "aftertool": PostToolUse, "beforeagent": UserPromptSubmit, "afteragent": Stop, "precompress": PreCompact,
	"userpromptsubmitted": UserPromptSubmit, "beforesubmitprompt": UserPromptSubmit, "agentstop": Stop,
}

// eventOf returns the event that a file names; ok is false if buddy does not have it.
func eventOf(name string) (e Event, ok bool) {
	plain := frontmatter.Plain(name)
	for _, e := range Events {
		if frontmatter.Plain(string(e)) == plain {
			return e, true
		}
	}
	e, ok = otherEvents[plain]
	return e, ok
}

// unitOf returns the unit of a hook's time limit. Programs use different units; the event's name shows which program
// the hook was written for.
func unitOf(event string) time.Duration {
	if slices.Contains([]string{"BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent", "PreCompress"}, event) {
		return time.Millisecond
	}
	return time.Second
}

// unreadable is the event of the entry that stands for all hooks of a file that can't be read. They may include guards.
const unreadable = "unreadable guard"

// Entries returns the hooks of hooks.json or of another program's settings, and the problems that concern the whole
// file. It does not check the individual hooks.
func Entries(text []byte, file string) ([]Entry, []Problem) {
	f := &entryReader{parser: parser{text: bytes.TrimPrefix(text, []byte("\ufeff")), origin: Origin{File: file}}}
	f.read()
	if name := frontmatter.Twice(f.text); name != "" && (len(f.all) > 0 || f.namesGuard()) {
		f.problem(nil, quoted(name)+" occurs twice, so some of its hooks may be lost")
	}
	if f.unread || len(f.Problems) > 0 && f.namesGuard() && !f.off {
		whole, _ := json.Marshal(string(f.text[:min(len(f.text), maxCommand)])) // any text is a valid JSON string
		f.all = append(f.all, Entry{Event: unreadable, Hook: whole})
		f.Problems[len(f.Problems)-1].guards()
	}
	return f.all, f.Problems
}

type entryReader struct {
	parser
	all    []Entry
	unread bool // no part of the text could be read: it may contain any guard
}

// namesGuard reports whether the file mentions an event whose hooks can refuse a call.
func (f *entryReader) namesGuard() bool {
	plain := frontmatter.Plain(string(f.text[:min(len(f.text), maxFile)]))
	return slices.ContainsFunc([]string{"pretooluse", "beforetool", "permissionrequest", "beforeshell", "beforemcp", "beforeread"}, func(name string) bool { return strings.Contains(plain, name) })
}

func (f *entryReader) read() {
	switch {
	case len(f.text) > maxFile:
		f.problem(nil, fmt.Sprintf("the file has %d bytes (allowed: %d)", len(f.text), maxFile))
		f.unread = true
		return
	case len(bytes.TrimSpace(f.text)) == 0:
		f.problem(nil, "the file is empty")
		return
	}
	var switches struct {
		Disabled bool `json:"disableAllHooks"`
		Config   struct {
			Enabled *bool `json:"enabled"`
		} `json:"hooksConfig"`
	}
	top := map[string]json.RawMessage{}
	if err := json.Unmarshal(f.text, &top); err != nil {
		f.broken(f.text, err)
		f.unread = !json.Valid(f.text)
		return
	}
	_ = json.Unmarshal(f.text, &switches) // an invalid switch turns nothing off
	if on := switches.Config.Enabled; switches.Disabled || on != nil && !*on {
		f.off = true
		f.problem(nil, "the file turns off its hooks (disableAllHooks or hooksConfig), so none of them runs")
		return
	}
	f.moments(top, func(name string) bool { _, known := eventOf(name); return known })
	if len(f.all) == 0 && len(top) > 0 && !hasName(top, "hooks") && guardBelow(top) {
		f.problem(nil, `its hooks are not in the table "hooks"`)
	}
	for name, raw := range top {
		if !strings.EqualFold(name, "hooks") {
			continue
		}
		var events map[string]json.RawMessage
		if err := json.Unmarshal(raw, &events); err != nil {
			f.problem(raw, `"hooks" is not a table with the names of events`)
			continue
		}
		f.moments(events, func(string) bool { return true })
	}
}

func hasName(table map[string]json.RawMessage, name string) bool {
	for is := range table {
		if strings.EqualFold(is, name) {
			return true
		}
	}
	return false
}

// guardBelow reports whether a nested table has a key that names an event whose hooks can refuse a call.
func guardBelow(table map[string]json.RawMessage) bool {
	for _, raw := range table {
		var inner map[string]json.RawMessage
		if json.Unmarshal(raw, &inner) != nil {
			continue
		}
		for name := range inner {
			if e, _ := eventOf(name); e == PreToolUse {
				return true
			}
		}
	}
	return false
}

// moments reads the hooks in a table whose keys are event names. It skips events for which wanted returns false.
func (f *entryReader) moments(events map[string]json.RawMessage, wanted func(string) bool) {
	place := func(name string) int { e, _ := eventOf(name); return slices.Index(Events, e) }
	names := slices.SortedFunc(maps.Keys(events), func(a, b string) int { // unknown ones first
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a, b))
	})
	for _, name := range names {
		if raw := events[name]; wanted(name) && (len(raw) > 0 && (raw[0] == '[' || raw[0] == '{') || frontmatter.Guards(name)) {
			f.moment(name, raw)
		}
	}
}

// moment reads the hooks of one event: groups of hooks with a matcher, or single hooks.
func (f *entryReader) moment(name string, raw json.RawMessage) {
	if _, known := eventOf(name); !known { // its format is unknown, too
		f.all = append(f.all, Entry{Event: name, Hook: raw})
		return
	}
	for _, group := range listOf(raw) {
		var g struct {
			Matcher json.RawMessage `json:"matcher"`
			Hooks   json.RawMessage `json:"hooks"`
		}
		if err := json.Unmarshal(group, &g); err != nil || g.Hooks == nil {
			f.all = append(f.all, Entry{name, matcherOf(g.Matcher), group})
			continue
		}
		for _, one := range listOf(g.Hooks) {
			f.all = append(f.all, Entry{name, matcherOf(g.Matcher), one})
		}
	}
}

// listOf returns the elements of a list, or any other value as the only element.
func listOf(raw json.RawMessage) []json.RawMessage {
	var all []json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return []json.RawMessage{raw}
	}
	return all
}

// matcherOf returns the matcher in a string, or made from a list of names. For any other value it returns an invalid
// pattern.
func matcherOf(raw json.RawMessage) string {
	var text string
	var names []string
	switch {
	case len(raw) == 0 || json.Unmarshal(raw, &text) == nil:
		return text
	case json.Unmarshal(raw, &names) == nil:
		return strings.Join(names, "|")
	}
	return "(" + string(raw) // does not compile
}
