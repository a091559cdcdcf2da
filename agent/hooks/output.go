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

// printed is a JSON object that a hook has printed, in the format of any known program. top holds the object's values,
// and specific the values in its member hookSpecificOutput. Keys are normalized by frontmatter.Plain.
type printed struct{ top, specific map[string]json.RawMessage }

// Limits of the search for objects in a hook's output. The rest is not parsed.
const (
	maxTries   = 100 // failed ones
	maxObjects = 1000
)

// objectsIn returns the objects in a text, the text around them, and whether the text is exactly one object.
func objectsIn(text []byte) (all []printed, rest string, whole bool) {
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
		one := printed{top: fields(object)}
		one.specific = fields(one.top["hookspecificoutput"])
		all = append(all, one)
		text = text[d.InputOffset():]
	}
	rest = strings.TrimSpace(around.String())
	return all, rest, len(all) == 1 && rest == ""
}

// fields returns the values of a JSON object by key, with the keys normalized by frontmatter.Plain; nil if the JSON is
// not an object.
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

// textOf returns the first non-empty text under the given keys; hookSpecificOutput takes precedence.
func (s printed) textOf(names ...string) string {
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

// decisions maps words that hooks print to decisions. The words are normalized by frontmatter.Plain.
var decisions = map[string]action.Decision{
	"deny": action.Deny, "denied": action.Deny, "block": action.Deny, "blocked": action.Deny, "reject": action.Deny, "rejected": action.Deny,
	"refuse": action.Deny, "refused": action.Deny, "forbid": action.Deny, "forbidden": action.Deny, "stop": action.Deny, "no": action.Deny, "false": action.Deny,
	"ask": action.Ask, "confirm": action.Ask, "prompt": action.Ask,
	"allow": action.Allow, "allowed": action.Allow, "approve": action.Allow, "approved": action.Allow, "accept": action.Allow, "yes": action.Allow, "true": action.Allow, "ok": action.Allow,
	"": "", "defer": "", "continue": "", "proceed": "", "pass": "", "none": "", "null": "",
}

// refusals maps boolean keys to the value that means a refusal.
var refusals = map[string]bool{
	"continue": false, "allow": false, "allowed": false, "approve": false, "approved": false, "ok": false, "permit": false, "permitted": false,
	"block": true, "blocked": true, "deny": true, "denied": true, "reject": true, "rejected": true,
}

// plainTexts lists the keys that don't decide whether a call runs, such as messages for the user.
var plainTexts = []string{
	"systemmessage", "reason", "permissiondecisionreason", "stopreason", "additionalcontext", "suppressoutput", "hookeventname", "usermessage", "agentmessage",
	"message", "updatedinput", "updatedtooloutput", "hookspecificoutput", "followupmessage",
}

// decided returns the strictest decision in the object, as far as it concerns the event e, and the parts of the object
// that buddy does not understand.
func (s printed) decided(e Event) (d action.Decision, odd string) {
	for _, all := range []map[string]json.RawMessage{s.top, s.specific} {
		for _, name := range slices.Sorted(maps.Keys(all)) {
			raw := all[name]
			one, known := decisionOf(name, raw)
			switch {
			case name == "continue" && !e.guards(): // the key ends the exchange
			case level(one) > level(d):
				d = one
			case !known && !slices.Contains(plainTexts, name):
				odd += name + " " + string(raw) + "\n"
			}
		}
	}
	return d, odd
}

// decisionOf parses one value; ok is false if it is not a known decision.
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

// grants reports whether the object approves the call in place of the user. Only the form that is documented for the
// event counts.
func (s printed) grants(e Event) bool {
	word := fields(s.specific["decision"])["behavior"]
	if e == PreToolUse {
		if word = s.specific["permissiondecision"]; word == nil {
			word = s.top["decision"]
		}
	}
	var text string
	return json.Unmarshal(word, &text) == nil && (text == "allow" || text == "approve" && e == PreToolUse)
}

// parse reads the output of a hook, and returns an error text, or "". An answer that buddy does not understand is an
// error if it might refuse something.
func (a *answer) parse(output []byte) (wrong string) {
	event := a.handler.Event
	text := readable(output)
	object := bytes.HasPrefix(text, []byte("{"))
	all, rest, whole := objectsIn(text)
	decides := func(s printed) bool { d, _ := s.decided(PreToolUse); return d != "" || s.specific != nil }
	if (event == SessionStart || event == UserPromptSubmit) && !object && !slices.ContainsFunc(all, decides) {
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

// missed returns an error text if an answer without a decision may contain one that buddy has overlooked: in odd, the
// parts that it does not understand, or beyond the size limit. Otherwise it returns "".
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

// readable returns the output without byte order marks and without the zero bytes of UTF-16, which some shells
// print.
func readable(output []byte) []byte {
	text := bytes.TrimSpace(bytes.ReplaceAll(output, []byte{0}, nil))
	for _, mark := range []string{"\ufeff", "\xff\xfe", "\xfe\xff"} {
		text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte(mark)))
	}
	return text
}

// refusing matches words that may mean a decision to refuse or to ask.
var refusing = texts.Regexp(`(?i)(?:^|[^a-z])(deny|denied|block|blocked|ask)(?:[^a-z]|$)`)

// read adds one printed object to the answer. whole means that the hook printed nothing else. It returns the parts of
// the object that buddy does not understand, and an error text.
func (a *answer) read(s printed, whole bool) (odd, wrong string) {
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

// judge applies the decision about a call that a printed JSON object contains.
func (a *answer) judge(s printed, d action.Decision, whole bool) {
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

func (s printed) why() string {
	if reason := s.textOf("permissiondecisionreason", "reason", "stopreason", "usermessage", "agentmessage", "message"); reason != "" {
		return reason
	}
	return printed{top: fields(s.specific["decision"])}.textOf("message")
}

// unknown returns an error text for an unknown decision, or "".
func (s printed) unknown() string {
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

// changed returns the arguments that replace those of the call, nil if the hook changes none.
func (s printed) changed(e Event) json.RawMessage {
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
