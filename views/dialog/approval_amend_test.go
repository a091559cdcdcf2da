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

// The command or the text of a file is edited, never JSON; it runs when it is chosen after a pause, with the other
// arguments unchanged.
func TestApprovalAmend(t *testing.T) {
	file := action.Action{Kind: action.FileWrite, Tool: "write_file", Path: "/a"}
	for _, tt := range []struct {
		name, args string
		act        action.Action
		text, want string // the edited text, and what runs then; "": nothing can be edited
	}{
		{"command", `{"command":"systemctl restart nginx","why":"w"}`, viewtest.Restart, "systemctl restart nginx", `{"command":"systemctl restart nginx\n--now","why":"w"}`},
		{"file", `{"path":"a","content":"one<two"}`, file, "one<two", `{"content":"one<two\n--now","path":"a"}`},
		{"edit", `{"path":"a","old_string":"x","new_string":"y"}`, file, "y", `{"new_string":"y\n--now","old_string":"x","path":"a"}`},
		{"one edit of a list", `{"path":"a","edits":[{"old_string":"x","new_string":"y"}]}`, file, "y", `{"edits":[{"new_string":"y\n--now","old_string":"x"}],"path":"a"}`},
		{"several edits", `{"path":"a","edits":[{"old_string":"x","new_string":"y"},{"old_string":"u","new_string":"v"}]}`, file, "", ""},
		{"patch", `{"patch":"*** Begin"}`, file, "*** Begin", `{"patch":"*** Begin\n--now"}`},
		{"other tool", `{"url":"a"}`, action.Action{Kind: action.Network, Tool: "fetch_url"}, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, s, now, answers := newTestApproval(t)
			var hints []string
			d.OnHint = func(text string) { hints = append(hints, text) }
			feed(d, s, event.ToolRequested{CallID: "c1", Name: tt.act.Tool, Arguments: tt.args, Action: tt.act}, viewtest.Ask("1", tt.act))
			viewtest.Screen(t, d, 66, 14)
			*now = now.Add(draw.GracePeriod)
			viewtest.Press(t, d, "amend")
			if tt.want == "" {
				if d.Scope() != keymap.Approval || strings.Contains(viewtest.Text(t, d, 66, 14), "e edit") {
					t.Errorf("it is edited:\n%s", viewtest.Text(t, d, 66, 14))
				}
				return
			}
			if d.Scope() != keymap.Amend || d.typing.Text() != tt.text {
				t.Fatalf("scope %s, the text is %q, want %q", d.Scope(), d.typing.Text(), tt.text)
			}
			viewtest.Press(t, d, "amend-line", "'--now")
			if tt.name == "command" {
				viewtest.Golden(t, "approval-amend", d, 66, 14)
			}
			viewtest.Press(t, d, "amend-done")
			if text := viewtest.Text(t, d, 66, 14); !strings.Contains(text, "edited by you") || !strings.Contains(text, "--now") || !strings.Contains(text, "1  Yes, with your edits") {
				t.Errorf("edited, it shows:\n%s", text)
			}
			*now = now.Add(Pause - time.Millisecond)
			viewtest.Press(t, d, "approve", "allow-similar")
			if len(*answers) != 0 || len(hints) != 1 {
				t.Fatalf("within the pause: answers %v, hints %q", *answers, hints)
			}
			*now = now.Add(Pause)
			viewtest.Press(t, d, "approve")
			if want := []event.AnswerApproval{{ID: "1", Decision: event.Edit, Args: tt.want}}; !slices.Equal(*answers, want) {
				t.Errorf("answers %+v, want %+v", *answers, want)
			}
		})
	}
}

// The edited text is kept when the person goes back to the choices without it, and is not shown there.
func TestApprovalAmendLeft(t *testing.T) {
	d, s, now, _ := newTestApproval(t)
	feed(d, s, event.ToolRequested{CallID: "c1", Name: "run_shell", Arguments: `{"command":"systemctl restart nginx"}`, Action: viewtest.Restart}, viewtest.Ask("1", viewtest.Restart))
	viewtest.Screen(t, d, 66, 14)
	*now = now.Add(draw.GracePeriod)
	viewtest.Press(t, d, "amend", "' --now", "reason-back")
	if text := viewtest.Text(t, d, 66, 14); strings.Contains(text, "--now") || strings.Contains(text, "with your edits") {
		t.Errorf("it shows what was not taken:\n%s", text)
	}
	viewtest.Press(t, d, "amend")
	if got, want := d.typing.Text(), "systemctl restart nginx --now"; got != want {
		t.Errorf("the editor holds %q, want %q", got, want)
	}
}

// Edited texts often have several lines: the keys for the previous and next row work.
func TestApprovalAmendRows(t *testing.T) {
	d, s, now, _ := newTestApproval(t)
	feed(d, s, event.ToolRequested{CallID: "c1", Name: "run_shell", Arguments: `{"command":"one\ntwo\nthree"}`, Action: viewtest.Restart}, viewtest.Ask("1", viewtest.Restart))
	viewtest.Screen(t, d, 66, 14)
	*now = now.Add(draw.GracePeriod)
	viewtest.Press(t, d, "amend", "line-up", "line-up", "'!", "line-down", "'?")
	if got, want := d.typing.Text(), "one!\ntwo?\nthree"; got != want {
		t.Errorf("the editor holds %q, want %q", got, want)
	}
}

// A reason that continues its letter at once may be a sentence for the prompt: one Enter does not send it, neither do
// two quick ones; the prompt can get the whole sentence.
func TestApprovalQuickReason(t *testing.T) {
	quick := func() (*Approval, *time.Time, *[]event.AnswerApproval) {
		d, _, now, answers := newTestApproval(t, viewtest.Ask("1", viewtest.Restart))
		viewtest.Screen(t, d, 80, 14)
		*now = now.Add(draw.GracePeriod)
		viewtest.Press(t, d, "deny-with-reason")
		*now = now.Add(LetterPause - time.Millisecond)
		viewtest.Press(t, d, "'on't", "reason-send", "reason-send")
		return d, now, answers
	}
	d, now, answers := quick()
	if text := viewtest.Text(t, d, 80, 14); len(*answers) != 0 || !strings.Contains(text, "Enter again: deny") {
		t.Fatalf("answers %v, it shows:\n%s", *answers, text)
	}
	*now = now.Add(LetterPause)
	viewtest.Press(t, d, "reason-send")
	if want := []event.AnswerApproval{{ID: "1", Decision: event.Deny, Reason: "on't"}}; !slices.Equal(*answers, want) {
		t.Errorf("answers %v, want %v", *answers, want)
	}
	d, _, answers = quick()
	if text, ok := d.DropQuickReason(); !ok || text != "don't" || d.Typing() || len(*answers) != 0 {
		t.Errorf("the prompt gets %q (%v), answers %v", text, ok, *answers)
	}
}
