package hooks

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"buddy/agent/action"
	"buddy/extensions/frontmatter"
	"buddy/texts"
)

// said is one object that a hook printed, in the form of any program that is known: its values by names as
// frontmatter.Plain writes them, and those in hookSpecificOutput.
type said struct{ top, specific map[string]json.RawMessage }

// Limits of what is looked for in what a hook printed. What is beyond them is not understood.
const (
	maxTries   = 100 // in vain
	maxObjects = 1000
)

// objectsIn returns the objects in a text, the text around them, and whether it is one object and nothing else.
func objectsIn(text []byte) (all []said, rest string, whole bool) {
	var around bytes.Buffer
	for tries := 0; len(text) > 0; {
		at := bytes.IndexByte(text, '{')
		if at < 0 || tries == maxTries || len(all) == maxObjects {
			around.Write(text)
			break
		}
		around.Write(text[:at])
		text = text[at:]
		var object json.RawMessage
		d := json.NewDecoder(bytes.NewReader(text))
		if d.Decode(&object) != nil {
			around.WriteByte('{')
			text = text[1:]
			tries++
			continue
		}
		one := said{top: fields(object)}
		one.specific = fields(one.top["hookspecificoutput"])
		all = append(all, one)
		text = text[d.InputOffset():]
	}
	rest = strings.TrimSpace(around.String())
	return all, rest, len(all) == 1 && rest == ""
}

// fields returns the values of an object by plain names, none for another value.
func fields(object json.RawMessage) map[string]json.RawMessage {
	var written map[string]json.RawMessage
	if json.Unmarshal(object, &written) != nil {
		return nil
	}
	all := make(map[string]json.RawMessage, len(written))
	for name, value := range written {
		all[frontmatter.Plain(name)] = value
	}
	return all
}

// textOf returns the first text of some names, of those in hookSpecificOutput first.
func (s said) textOf(names ...string) string {
	for _, all := range []map[string]json.RawMessage{s.specific, s.top} {
		for _, name := range names {
			var text string
			if json.Unmarshal(all[name], &text) == nil && text != "" {
				return text
			}
		}
	}
	return ""
}

// decisions are the words of programs for a decision, as frontmatter.Plain writes them.
var decisions = map[string]action.Decision{
	"deny": action.Deny, "denied": action.Deny, "block": action.Deny, "blocked": action.Deny, "reject": action.Deny, "rejected": action.Deny,
	"refuse": action.Deny, "refused": action.Deny, "forbid": action.Deny, "forbidden": action.Deny, "stop": action.Deny, "no": action.Deny, "false": action.Deny,
	"ask": action.Ask, "confirm": action.Ask, "prompt": action.Ask,
	"allow": action.Allow, "allowed": action.Allow, "approve": action.Allow, "approved": action.Allow, "accept": action.Allow, "yes": action.Allow, "true": action.Allow, "ok": action.Allow,
	"": "", "defer": "", "continue": "", "proceed": "", "pass": "", "none": "", "null": "",
}

// refusals are names of switches that refuse when they are off, or on.
var refusals = map[string]bool{
	"continue": false, "allow": false, "allowed": false, "approve": false, "approved": false, "ok": false, "permit": false, "permitted": false,
	"block": true, "blocked": true, "deny": true, "denied": true, "reject": true, "rejected": true,
}

// plainTexts are names of values that are read by people or the model, or change something else than whether a call runs.
var plainTexts = []string{
	"systemmessage", "reason", "permissiondecisionreason", "stopreason", "additionalcontext", "suppressoutput", "hookeventname", "usermessage", "agentmessage",
	"message", "updatedinput", "updatedtooloutput", "hookspecificoutput", "followupmessage",
}

// decided returns what the object decides about a moment, the strictest of all that it says, and what of it is not
// understood.
func (s said) decided(e Event) (d action.Decision, odd string) {
	for _, all := range []map[string]json.RawMessage{s.top, s.specific} {
		for _, name := range slices.Sorted(maps.Keys(all)) {
			raw := all[name]
			one, known := decisionOf(name, raw)
			switch {
			case name == "continue" && !e.guards(): // it ends the exchange
			case level(one) > level(d):
				d = one
			case !known && !slices.Contains(plainTexts, name):
				odd += name + " " + string(raw) + "\n"
			}
		}
	}
	return d, odd
}

// decisionOf reads one value; ok is false for one that is no decision, or none that is known.
func decisionOf(name string, raw json.RawMessage) (d action.Decision, ok bool) {
	switch name {
	case "decision", "permissiondecision", "permission", "behavior", "action", "verdict", "result", "status":
		if behavior, there := fields(raw)["behavior"]; there {
			raw = behavior
		}
		d, ok = decisions[frontmatter.Plain(strings.Trim(string(raw), `"`))]
		return d, ok
	}
	on, ok := frontmatter.Truth(strings.Trim(string(raw), `"`))
	refuses, known := refusals[name]
	switch {
	case name == "ask" && ok && on:
		return action.Ask, true
	case known && ok && on == refuses:
		return action.Deny, true
	}
	return "", known && ok
}

// grants reports whether the object answers in the person's place: in the one form of each moment that means that.
func (s said) grants(e Event) bool {
	word := fields(s.specific["decision"])["behavior"]
	if e == PreToolUse {
		if word = s.specific["permissiondecision"]; word == nil {
			word = s.top["decision"]
		}
	}
	var text string
	return json.Unmarshal(word, &text) == nil && (text == "allow" || text == "approve" && e == PreToolUse)
}

// hear reads what a hook printed, and returns what is wrong with it. An answer that seems to refuse something and is
// not understood is no pass.
func (a *answer) hear(output []byte) (wrong string) {
	event := a.handler.Event
	text := readable(output)
	object := bytes.HasPrefix(text, []byte("{"))
	all, rest, whole := objectsIn(text)
	speaks := func(s said) bool { d, _ := s.decided(PreToolUse); return d != "" || s.specific != nil }
	if (event == SessionStart || event == UserPromptSubmit) && !object && !slices.ContainsFunc(all, speaks) {
		a.context = string(text)
		return ""
	}
	odd := ""
	for _, s := range all {
		unknown, problem := a.read(s, whole)
		odd += unknown
		wrong = cmp.Or(wrong, problem)
	}
	if event.guards() {
		odd += rest
	}
	if a.decision == action.Deny {
		return ""
	}
	if broken := object && (len(all) == 0 || strings.HasPrefix(rest, "{")); broken && wrong == "" && !a.block && !a.halt {
		return "its output is broken JSON"
	}
	return cmp.Or(wrong, a.missed(odd, len(output)))
}

// missed says that an answer without a decision may have one in what is not understood of it, or in what is not read
// of its bytes; "" if it can't.
func (a *answer) missed(odd string, size int) string {
	word := refusing().FindStringSubmatch(odd)
	switch {
	case a.block || a.halt:
	case a.decision == "" && word != nil:
		return fmt.Sprintf("its answer contains the word %q but is not valid", word[1])
	case a.handler.Event.guards() && size >= maxOutput:
		return "its output is too long"
	}
	return ""
}

// readable returns what a hook printed without the marks of its encoding, and without the zeros of UTF-16, which
// some shells print.
func readable(output []byte) []byte {
	text := bytes.TrimSpace(bytes.ReplaceAll(output, []byte{0}, nil))
	for _, mark := range []string{"\ufeff", "\xff\xfe", "\xfe\xff"} {
		text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte(mark)))
	}
	return text
}

// refusing matches a word of an answer that may refuse something.
var refusing = texts.Regexp(`(?i)(?:^|[^a-z])(deny|denied|block|blocked|ask)(?:[^a-z]|$)`)

// read takes up one object. whole means that the hook printed nothing else. It returns what is not understood, and
// what is wrong.
func (a *answer) read(s said, whole bool) (odd, wrong string) {
	event := a.handler.Event
	if n := s.textOf("hookeventname"); n != "" {
		if e, _ := eventOf(n); e != event {
			return "", fmt.Sprintf("its output is for %s, not for %s", quoted(n), event)
		}
	}
	a.message = cmp.Or(a.message, s.textOf("systemmessage", "usermessage"))
	a.context = cmp.Or(a.context, s.textOf("additionalcontext"))
	if stops, _ := decisionOf("continue", s.top["continue"]); stops == action.Deny && event != PermissionRequest {
		a.halt, a.why = true, cmp.Or(a.why, s.textOf("stopreason", "reason"))
	}
	d, odd := s.decided(event)
	if event.guards() {
		a.judge(s, d, whole)
	} else {
		a.replace(s.specific["updatedtooloutput"])
		if d == action.Deny {
			a.block, a.reason = true, cmp.Or(a.reason, s.why())
		}
	}
	switch {
	case d == action.Ask && !event.guards():
		return odd, `its decision "ask" is unknown (have: block)`
	case d == "":
		return odd, s.unknown()
	}
	return odd, ""
}

// judge takes up what an object decides about a call.
func (a *answer) judge(s said, d action.Decision, whole bool) {
	event := a.handler.Event
	if d == action.Allow && (!whole || !s.grants(event)) {
		d = ""
	}
	if level(d) > level(a.decision) {
		a.decision, a.reason = d, s.why()
	}
	if a.input == nil {
		a.input = s.changed(event)
	}
}

// why returns the reason of a decision.
func (s said) why() string {
	if reason := s.textOf("permissiondecisionreason", "reason", "stopreason", "usermessage", "agentmessage", "message"); reason != "" {
		return reason
	}
	return said{top: fields(s.specific["decision"])}.textOf("message")
}

// unknown names a decision that is none, "" if there is no such thing.
func (s said) unknown() string {
	for _, name := range []string{"permissiondecision", "decision", "permission"} {
		for _, all := range []map[string]json.RawMessage{s.specific, s.top} {
			raw, there := all[name]
			if _, known := decisionOf(name, raw); there && !known {
				return fmt.Sprintf("its decision %s is unknown (have: allow, deny, ask)", quoted(strings.Trim(string(raw), `"`)))
			}
		}
	}
	return ""
}

// changed returns the arguments that the object wants instead.
func (s said) changed(e Event) json.RawMessage {
	if e == PermissionRequest {
		return fields(s.specific["decision"])["updatedinput"]
	}
	for _, raw := range []json.RawMessage{s.specific["updatedinput"], s.top["updatedinput"], s.specific["toolinput"]} {
		if raw != nil {
			return raw
		}
	}
	return nil
}
