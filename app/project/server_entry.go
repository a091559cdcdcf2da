package project

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"buddy/extensions/frontmatter"
	"buddy/features/mcp"
	"buddy/texts"
)

// serverEntry is one entry of an .mcp.json.
type serverEntry struct {
	Type          string            `json:"type"`
	Command       string            `json:"command"`
	Args          []string          `json:"args"`
	Env           map[string]string `json:"env"`
	URL           string            `json:"url"`
	Headers       map[string]string `json:"headers"`
	HeadersHelper string            `json:"headersHelper"`
	Timeout       int               `json:"timeout"` // milliseconds
	AlwaysLoad    bool              `json:"alwaysLoad"`
	OAuth         struct {
		ClientID string `json:"clientId"`
		Port     int    `json:"callbackPort"`
	} `json:"oauth"`

	limits serverLimits
}

// serverLimits holds the limits that an entry sets on its server. Different programs use different names for them, and
// all known names are read.
type serverLimits struct {
	off         bool
	tools, deny []string
	lost        string // why a limit is not understood: the server must not start
}

// UnmarshalJSON reads an entry with its limits.
func (e *serverEntry) UnmarshalJSON(data []byte) error {
	type plain serverEntry // without this method
	var all map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(data, (*plain)(e)), json.Unmarshal(data, &all)); err != nil {
		return err
	}
	if name := frontmatter.Twice(data); name != "" && frontmatter.Restricts(name) {
		e.limits.lost = fmt.Sprintf("%s is listed twice; %s", name, NotUnderstood)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if why := e.limits.read(name, all[name]); why != "" {
			e.limits.lost = fmt.Sprintf("%s: %s; %s", name, why, NotUnderstood)
		}
	}
	return nil
}

// NotUnderstood is part of the Problem of a server with limits that buddy does not understand.
const NotUnderstood = "the server is off, because buddy doesn't understand its limits"

// read reads a setting that may limit the server. why explains why the setting is not understood, "" if it is.
func (l *serverLimits) read(name string, value json.RawMessage) (why string) {
	switch frontmatter.Plain(name) {
	case "alwaysload", "alwaysallow", "autoapprove", "autoallow": // they allow calls, which is ignored here
	case "disabled", "disable":
		l.off, why = l.truth(value, true)
	case "enabled", "enable":
		l.off, why = l.truth(value, false)
	case "tools", "includetools", "enabledtools", "allowedtools":
		if l.tools != nil {
			return "the tools are listed twice"
		}
		if l.tools, why = patterns(value); why == "" && len(l.tools) == 0 {
			l.deny = append(l.deny, "*")
		}
	case "excludetools", "excludedtools", "disabledtools", "disallowedtools", "deniedtools", "blockedtools", "deny":
		var more []string
		more, why = patterns(value)
		l.deny = append(l.deny, more...)
	default:
		if frontmatter.Restricts(name) {
			return "it looks like a limit that buddy doesn't know"
		}
	}
	return why
}

// truth reads a setting that turns the server off if its value is off, and returns whether the server is off now.
func (l *serverLimits) truth(value json.RawMessage, off bool) (bool, string) {
	on, ok := frontmatter.Truth(strings.Trim(string(value), `"`))
	if !ok {
		return true, "it is neither true nor false"
	}
	return l.off || on == off, ""
}

// patterns reads a list of tool names.
func patterns(value json.RawMessage) (all []string, why string) {
	if err := json.Unmarshal(value, &all); err != nil || all == nil {
		return nil, "it is not a list of tools"
	}
	return all, ""
}

// server returns the server that an entry describes, with variables replaced.
func (e serverEntry) server(lookup func(string) (string, bool)) mcp.Server {
	var missing []string
	fill := func(text string) string {
		text, names := fillVariables(text, lookup)
		missing = append(missing, names...)
		return text
	}
	if e.Type == "streamable-http" {
		e.Type = string(mcp.HTTP)
	}
	s := mcp.Server{Transport: transportOf(e.Type, e.URL), Always: e.AlwaysLoad, Off: e.limits.off, Tools: e.limits.tools, Deny: e.limits.deny}
	s.Timeout = max(0, time.Duration(e.Timeout)*time.Millisecond)
	if e.Command != "" {
		s.Process.Command = []string{fill(e.Command)}
		for _, a := range e.Args {
			s.Process.Command = append(s.Process.Command, fill(a))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.Env)) {
		s.Process.Env = append(s.Process.Env, name+"="+fill(e.Env[name]))
	}
	s.Endpoint.URL = fill(e.URL)
	s.Endpoint.Login = mcp.Login{ClientID: e.OAuth.ClientID, Port: e.OAuth.Port}
	for _, name := range slices.Sorted(maps.Keys(e.Headers)) {
		s.Endpoint.Headers = append(s.Endpoint.Headers, name+": "+fill(e.Headers[name]))
		for _, form := range variableForm.FindAllStringSubmatch(e.Headers[name], -1) {
			s.Endpoint.Variables = append(s.Endpoint.Variables, form[1])
		}
	}
	switch {
	case e.limits.lost != "":
		s.Problem = e.limits.lost
	case e.HeadersHelper != "":
		s.Problem = "headersHelper runs a program for each header, which buddy doesn't do (use headers with ${VARIABLE})"
	case !slices.Contains([]mcp.Transport{mcp.Stdio, mcp.HTTP, mcp.SSE}, s.Transport):
		s.Problem = fmt.Sprintf("type %q is not supported (have: stdio, http, sse)", e.Type)
	case s.Transport == mcp.Stdio && e.Command == "":
		s.Problem = "it has neither command nor url"
	case s.Transport != mcp.Stdio && e.URL == "":
		s.Problem = "it has no url"
	case len(missing) > 0:
		s.Problem = "the variable " + texts.Some(missing) + " is not set"
	}
	return s
}

var variableForm = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:-([^}]*))?\}`)

// fillVariables replaces ${NAME} and ${NAME:-default} in a text, and returns the names that have neither a value nor a
// default.
func fillVariables(text string, lookup func(string) (string, bool)) (filled string, missing []string) {
	filled = variableForm.ReplaceAllStringFunc(text, func(form string) string {
		part := variableForm.FindStringSubmatch(form)
		value, ok := lookup(part[1])
		switch {
		case ok && value != "":
			return value
		case part[2] != "":
			return part[3]
		case !ok:
			missing = append(missing, part[1])
		}
		return value
	})
	return filled, missing
}
