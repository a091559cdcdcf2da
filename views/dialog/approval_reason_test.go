package dialog

import (
	"slices"
	"strings"
	"testing"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/views/draw"
	"buddy/views/viewtest"
)

// install asks about npm install; its denial can be remembered in some scopes.
func install(scopes ...string) event.ApprovalAsked {
	e := viewtest.Ask("1", action.Action{Kind: action.Shell, Tool: "run_shell", Target: "local", Command: "npm install left-pad", Mutation: true})
	if len(scopes) > 0 {
		e.Context.Memory = action.Memory{Scopes: scopes, Begins: "Not `npm install`: "}
	}
	return e
}

// slowly presses keys after pauses, so that none is part of a sentence.
func slowly(t *testing.T, d *Approval, now *time.Time, presses ...string) {
	for _, p := range presses {
		*now = now.Add(LetterPause)
		viewtest.Press(t, d, p)
	}
}

func TestReasonIsRememberedInTheScopeThatShows(t *testing.T) {
	for keys, want := range map[string]event.AnswerApproval{
		"":                                {Remember: event.RememberNothing},
		"reason-remember":                 {Remember: "folder"},
		"reason-remember reason-remember": {Remember: "person"},
		"reason-remember reason-remember reason-remember":                 {Remember: "team"},
		"reason-remember reason-remember reason-remember reason-remember": {Remember: event.RememberNothing},
		"reason-remember reason-back deny-with-reason":                    {Remember: "folder"}, // unchanged from before
		"reason-remember kill-to-start":                                   {Reason: "-"},        // nothing to remember
		"reason-remember kill-to-start ' reason-remember 'use_pnpm":       {Reason: "use_pnpm", Remember: "person"},
	} {
		d, _, now, answers := newTestApproval(t, install("folder", "person", "team"))
		viewtest.Screen(t, d, 80, 16)
		*now = now.Add(draw.GracePeriod)
		slowly(t, d, now, "deny-with-reason", "'use pnpm")
		slowly(t, d, now, strings.Fields(keys)...)
		slowly(t, d, now, "reason-send")
		want.ID, want.Decision = "1", event.Deny
		switch want.Reason {
		case "":
			want.Reason = "use pnpm"
		case "-":
			want.Reason = ""
		}
		if !slices.Equal(*answers, []event.AnswerApproval{want}) {
			t.Errorf("%q: answers %v, want %v", keys, *answers, want)
		}
	}
}

// The text and scope to remember are shown in full before they are remembered, also on a small screen.
func TestReasonShowsWhatIsRemembered(t *testing.T) {
	for _, size := range [][2]int{{80, 16}, {120, 18}, {40, 10}} {
		d, _, now, _ := newTestApproval(t, install("folder", "person", "team"))
		viewtest.Screen(t, d, size[0], size[1])
		*now = now.Add(draw.GracePeriod)
		slowly(t, d, now, "deny-with-reason", "'use pnpm")
		if text := viewtest.Text(t, d, size[0], size[1]); !strings.Contains(text, "Tab: remember this for this project") || strings.Contains(text, "Not `npm") {
			t.Errorf("%v: nothing was chosen yet:\n%s", size, text)
		}
		slowly(t, d, now, "reason-remember")
		text := viewtest.Text(t, d, size[0], size[1])
		for _, want := range []string{"Remembers for this project:", "Not `npm install`: use pnpm.", "deny and remember the reason"} {
			if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
				t.Errorf("%v: %q is not there:\n%s", size, want, text)
			}
		}
		viewtest.Golden(t, "approval-remember", d, size[0], size[1])
		slowly(t, d, now, "kill-to-start")
		if text := viewtest.Text(t, d, size[0], size[1]); !strings.Contains(strings.Join(strings.Fields(text), " "), "nothing yet: type a reason") {
			t.Errorf("%v: without a reason:\n%s", size, text)
		}
	}
}

// Without scopes there is no offer to remember, and the key does nothing.
func TestReasonIsNotRememberedWhereItCannotBe(t *testing.T) {
	d, _, now, answers := newTestApproval(t, install())
	viewtest.Screen(t, d, 80, 16)
	*now = now.Add(draw.GracePeriod)
	slowly(t, d, now, "deny-with-reason", "'use pnpm", "reason-remember")
	if text := viewtest.Text(t, d, 80, 16); strings.Contains(text, "remember") {
		t.Errorf("it is offered:\n%s", text)
	}
	slowly(t, d, now, "reason-send")
	if want := []event.AnswerApproval{{ID: "1", Decision: event.Deny, Reason: "use pnpm"}}; !slices.Equal(*answers, want) {
		t.Errorf("answers %v, want %v", *answers, want)
	}
}

// Keys that were typed ahead remember nothing: text right after a letter may be a sentence for the prompt, with a Tab
// to complete a file.
func TestTypedAheadKeysRememberNothing(t *testing.T) {
	d, _, now, answers := newTestApproval(t, install("folder"))
	viewtest.Screen(t, d, 80, 16)
	viewtest.Press(t, d, "deny-with-reason", "'use pnpm", "reason-remember", "reason-send") // in the grace period
	if d.Scope() != keymap.Approval || len(*answers) != 0 {
		t.Fatalf("scope %s, answers %v in the grace period", d.Scope(), *answers)
	}
	*now = now.Add(draw.GracePeriod)
	viewtest.Press(t, d, "deny-with-reason", "'o it like @ma", "reason-remember", "reason-send", "reason-remember", "reason-send", "reason-send")
	if len(*answers) != 0 || strings.Contains(viewtest.Text(t, d, 80, 16), "Remembers for this project") {
		t.Errorf("answers %v to keys that were typed ahead:\n%s", *answers, viewtest.Text(t, d, 80, 16))
	}
	slowly(t, d, now, "reason-remember", "reason-send", "reason-send") // after pauses
	if want := []event.AnswerApproval{{ID: "1", Decision: event.Deny, Reason: "o it like @ma", Remember: "folder"}}; !slices.Equal(*answers, want) {
		t.Errorf("answers %v, want %v", *answers, want)
	}
}

// Earlier remarks of the person about such calls are shown as untrusted text.
func TestApprovalSaysWhatThePersonSaid(t *testing.T) {
	e := install()
	e.Context.Memory.Said = []string{"not npm install but pnpm install\x1b[2J — c-9x1a"}
	d, _, _, _ := newTestApproval(t, e)
	viewtest.Golden(t, "approval-said", d, 80, 16)
	if text := viewtest.Text(t, d, 80, 16); !strings.Contains(text, "You said before: not npm install but pnpm install") || !strings.Contains(text, "c-9x1a") {
		t.Errorf("it does not show:\n%s", text)
	}
}
