package hooks

import (
	"strings"
	"testing"

	"buddy/agent/action"
)

// Output in the formats of all programs is understood. Output that is not understood and seems to refuse something
// leads to a question, and only the two published forms approve in place of the person.
func TestAnswersInEveryForm(t *testing.T) {
	t.Parallel()
	const documented = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}`
	const deny, ask, allow, nothing, failed = action.Deny, action.Ask, action.Allow, action.Decision(""), action.Decision("failed")
	for output, want := range map[string]action.Decision{
		documented:                         deny,
		"nvm loaded\n" + documented:        deny,
		documented + "\ndone":              deny,
		"loaded {nvm}\n" + documented:      deny,
		"\ufeff" + documented:              deny,
		"\xff\xfe" + utf16LE(documented):   deny,
		"[" + documented + "]":             deny,
		"```json\n" + documented + "\n```": deny,
		"\x1b[0m" + documented:             deny,
		`{"x": 1}` + "\n" + documented:     deny,
		documented[:len(documented)-1]:     deny, // its decision is clear before the cut
		`{"permissionDecision":"deny","permissionDecisionReason":"no"}`:           deny,
		`{"hookSpecificOutput":{"decision":{"behavior":"deny","message":"no"}}}`:  deny,
		`{"hook_specific_output":{"permission_decision":"DENY"}}`:                 deny,
		`{"hookSpecificOutput":{"hookEventName":"BeforeTool","decision":"deny"}}`: deny,
		`{"decision":"block","reason":"no"}`:                                      deny,
		`{"decision":"deny","reason":"no"}`:                                       deny,
		`{"decision":"Deny"}`:                                                     deny,
		`{"decision":"reject"}`:                                                   deny,
		`{"decision":{"behavior":"deny"}}`:                                        deny,
		`{"permission":"deny","user_message":"no","agent_message":"no"}`:          deny,
		`{"behavior":"deny"}`:                                                     deny,
		`{"continue":false,"stopReason":"no"}`:                                    deny,
		`{"continue":"false"}`:                                                    deny,
		`{"ok":false,"reason":"no"}`:                                              deny,
		`{"allow":false}`:                                                         deny,
		`{"approved":false}`:                                                      deny,
		`{"blocked":true}`:                                                        deny,
		`{"action":"block"}`:                                                      deny,
		`{"permissionDecision":"allow","decision":"deny"}`:                        deny,
		`{"decision":"allow"} {"decision":"deny"}`:                                deny,
		`{"permission":"ask"}`:                                                    ask,
		`{"decision":"ask","reason":"look"}`:                                      ask,
		`{"permissionDecision":"ask"}`:                                            ask,
		`{"hookSpecificOutput":{"permissionDecision":"allow"}}`:                   allow,
		`{"decision":"approve"}`:                                                  allow,
		`{"decision":"allow"}`:                                                    allow,
		`{"permission":"allow"}`:                                                  nothing,
		`{"permissionDecision":"allow"}`:                                          nothing,
		`{"ok":true}`:                                                             nothing,
		`{"continue":true,"suppressOutput":true}`:                                 nothing,
		"see: " + `{"decision":"allow"}`:                                          nothing,
		`{"hookSpecificOutput":{"permissionDecision":"defer"}}`:                   nothing,
		`{"systemMessage":"I ask you to deny nothing"}`:                           nothing,
		"":                  nothing,
		"all is well":       nothing,
		"{}":                nothing,
		`{"x":"y"}`:         nothing,
		"DENY":              failed,
		"blocked: rm":       failed,
		"permission_denied": failed,
		`{"hookSpecificOutput":{"permissionDecision":"allow"},`: failed,
		`{"hookSpecificOutput":{"permissionDecision":"den`:      failed,
		`{"decision":"maybe"}`:                                  failed,
		`{"decision":false}`:                                    deny,
		`{"decision":["deny"]}`:                                 deny,
		`{"outcome":"deny"}`:                                    failed,
		`{"policy":{"rm":"ask"}}`:                               failed,
		`["deny"]`:                                              failed,
		`{"hookSpecificOutput":{"hookEventName":"Stop","permissionDecision":"deny"}}`: failed,
	} {
		a := ended{handler: Handler{Event: PreToolUse}, stdout: []byte(output)}.answer()
		got := a.decision
		if a.failure != "" {
			got = failed
		}
		if got != want {
			t.Errorf("%q is %q (%s), want %q", output, got, a.failure, want)
		}
		if strings.Contains(output, `"no"`) && a.reason != "no" {
			t.Errorf("%q: the reason is %q", output, a.reason)
		}
	}
}

// utf16LE writes ASCII as some shells print it.
func utf16LE(s string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteByte(s[i])
		b.WriteByte(0)
	}
	return b.String()
}

// Answers to events without calls: what ends and blocks, and which text is for the model.
func TestAnswersOfOtherMoments(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		event         Event
		output        string
		block, halt   bool
		context, fail string
	}{
		{UserPromptSubmit, `{"decision":"block","reason":"r"}`, true, false, "", ""},
		{UserPromptSubmit, `{"permission":"deny"}`, true, false, "", ""},
		{UserPromptSubmit, `{"continue":false}`, false, true, "", ""},
		{UserPromptSubmit, "use {\"a\": 1} here", false, false, "use {\"a\": 1} here", ""},
		{UserPromptSubmit, "please ask first", false, false, "please ask first", ""},
		{UserPromptSubmit, "log\n" + `{"decision":"deny"}`, true, false, "", ""},
		{SessionStart, `{"additional_context":"c"}`, false, false, "c", ""},
		{Stop, `{"decision":"block","continue":false}`, true, true, "", ""},
		{Stop, `{"decision":"allow"}`, false, false, "", ""},
		{Stop, "I ask nothing", false, false, "", ""},
		{Stop, `{"decision":"ask"}`, false, false, "", "unknown"},
		{PostToolUse, `{"verdict":"blocked"}`, true, false, "", ""},
		{PostToolUse, `{"outcome":"deny"}`, false, false, "", "not valid"},
	} {
		a := ended{handler: Handler{Event: tt.event}, stdout: []byte(tt.output)}.answer()
		if a.block != tt.block || a.halt != tt.halt || a.context != tt.context || (tt.fail == "") != (a.failure == "") || !strings.Contains(a.failure, tt.fail) {
			t.Errorf("%s: %s: %+v", tt.event, tt.output, a)
		}
	}
	permit := ended{handler: Handler{Event: PermissionRequest}}
	for output, want := range map[string]action.Decision{
		`{"hookSpecificOutput":{"decision":{"behavior":"allow"}}}`: action.Allow,
		`{"hookSpecificOutput":{"permissionDecision":"allow"}}`:    "",
		`{"decision":"allow"}`:  "",
		`{"decision":"deny"}`:   action.Deny,
		`{"behavior":"deny"}`:   action.Deny,
		`{"permission":"deny"}`: action.Deny,
	} {
		permit.stdout = []byte(output)
		if got := permit.answer().decision; got != want {
			t.Errorf("%s: %q, want %q", output, got, want)
		}
	}
	many := ended{handler: Handler{Event: PreToolUse}, stdout: []byte(strings.Repeat("{}\n", maxObjects+1) + `{"decision":"deny"}`)}
	if a := many.answer(); a.failure == "" {
		t.Errorf("a denial behind too many objects passes: %+v", a)
	}
	long := ended{handler: Handler{Event: PreToolUse}, stdout: []byte(strings.Repeat("x", maxOutput))}
	if long.answer().failure == "" {
		t.Error("an answer that is cut off passes")
	}
}
