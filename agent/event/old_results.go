package event

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"buddy/texts"
)

// envelope starts the tool results of old sessions, which were JSON: a time and a payload.
const envelope = `{"harness_timestamp"`

// payload holds the fields of a tool result of an old session that are still used.
type payload struct {
	Stdout, Stderr, Content, Entries, Files, Matches *string
	Lines, Decision                                  string
	Image                                            json.RawMessage
	Count                                            *int
	Running                                          bool
	ID                                               int
	Notices                                          []string
	Targets                                          []struct {
		Target string
		Result struct {
			Code *int `json:"exit_code"`
		}
	}
}

// known fills in the fields that a result from an old session has only in its text. The text itself stays, because a
// model has read it.
func known(r ToolResult) ToolResult {
	var e struct{ Result payload }
	switch {
	case r.IsError && r.Shown == "" && !strings.HasPrefix(r.Result, envelope):
		if why := oldProblem(r.Result); why != r.Result {
			r.Shown = why
		}
		return r
	case !strings.HasPrefix(r.Result, envelope), json.NewDecoder(strings.NewReader(r.Result)).Decode(&e) != nil: // the text after the object is for the model
		return r
	}
	p := e.Result
	r.Outcome = p.outcome()
	if p.Stdout != nil && p.Stderr != nil && *p.Stderr != "" {
		r.Stdout = p.Stdout
	}
	if r.Tail == "" {
		why, _, _ := strings.Cut(strings.Join(p.Notices, "\n"), " If that is why it failed: ")
		r.Shown = why
	}
	for _, t := range p.Targets {
		if r.Exits == nil {
			r.Exits = make(map[string]int)
		}
		if t.Result.Code != nil {
			r.Exits[t.Target] = *t.Result.Code
		}
	}
	return r
}

// outcome describes the result of the call in a few words.
func (p payload) outcome() string {
	switch {
	case p.Running:
		return fmt.Sprintf("in background (#%d)", p.ID)
	case p.Image != nil:
		return "a picture"
	case p.Lines != "":
		return "lines " + p.Lines
	case p.Content != nil:
		return texts.Plural(strings.Count(strings.TrimSuffix(*p.Content, "\n"), "\n")+1, "line")
	case p.Entries != nil:
		return texts.Plural(strings.Count(*p.Entries, "\n"), "entry")
	case p.Count != nil && p.Matches != nil:
		return texts.Plural(*p.Count, "match")
	case p.Count != nil && p.Files != nil:
		return texts.Plural(*p.Count, "file")
	case p.Count != nil:
		return texts.Plural(*p.Count, "result")
	}
	return p.Decision
}

// oldNote matches a note for the model after an error, oldNames a list of tool names in an error.
var (
	oldNote  = regexp.MustCompile(`(?s)\n(?:\[[^\n]*\]$|<system-reminder>.*)`)
	oldNames = regexp.MustCompile(` \((?:have|it may mean)[: ].*\)$|; tool_search finds.*$`)
)

// oldProblem returns why a call failed, without notes for the model.
func oldProblem(text string) string {
	text = oldNote.ReplaceAllString(text, "")
	for before := ""; before != text; {
		before = text
		for _, begin := range []string{"Tool error: ", "Tool call skipped: ", "execution failed: "} {
			text = strings.TrimPrefix(text, begin)
		}
	}
	return oldNames.ReplaceAllString(text, "")
}

// OldFailure reports whether the result of a call in a session without events says that the call failed.
func OldFailure(result string) bool { return strings.HasPrefix(result, "Tool error: ") }
