package views

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/state"
	"buddy/themes"
	"buddy/views/viewtest"
)

func ask(id string, a action.Action) event.ApprovalAsked {
	return event.ApprovalAsked{ID: id, CallID: "c" + id, Action: a, Verdict: action.Verdict{
		Decision: action.Ask, Reason: "not known to be read-only", Rule: "shell.unknown",
	}}
}

var restart = action.Action{
	Kind: action.Shell, Tool: "run_shell", Target: "root@web-02 (ssh)", Command: "systemctl restart nginx",
	Why: "upstream sockets are stale after the deploy", Risk: action.High, Mutation: true,
}

// newTestApproval returns a dialog with requests, drawn once, its clock and its answers.
func newTestApproval(t testing.TB, asked ...event.ApprovalAsked) (*Approval, *state.State, *time.Time, *[]event.Approve) {
	now := at
	a := NewApproval(dark(t), keymap.Default(), clockAt(&now))
	var answers []event.Approve
	a.OnAnswer = func(e event.Approve) { answers = append(answers, e) }
	a.Focus(nil)
	s := &state.State{}
	for _, e := range asked {
		a.Update(s, apply(s, e))
	}
	return a, s, &now, &answers
}

func TestApprovalGolden(t *testing.T) {
	script := action.Action{Kind: action.Shell, Tool: "run_shell", Target: "local", Cwd: "/home/u/src/shop", Risk: action.Medium, Command: "set -e\nfor f in *.log; do\n\trm \"$f\"\ndone\n"}
	edit := action.Action{
		Kind: action.FileWrite, Tool: "edit_file", Target: "local", Path: "/home/u/src/shop/checkout/tax.go", Mutation: true, Risk: action.Low,
		Preview: "+1 -1 lines, 111 → 116 bytes\n--- checkout/tax.go\n+++ checkout/tax.go\n@@ -3,3 +3,3 @@\n func Tax(cents int) int {\n-\treturn cents * 19 / 100\n+\treturn (cents*19 + 50) / 100\n }\n",
	}
	evil := action.Action{Kind: action.Shell, Tool: "run_shell[red]", Target: "local\x1b[31m", Command: "echo " + hostile + "\nrm\u200d -rf /", Why: strings.Repeat(hostile+" ", 40)}
	long := action.Action{Kind: action.Shell, Tool: "run_shell", Target: "local", Command: strings.Repeat("make something long with many arguments\n", 80), Why: "because"}
	wide := action.Action{Kind: action.Shell, Tool: "run_shell", Target: "local", Command: strings.Repeat("日本語👍", 30)}
	several := action.Action{
		Kind: action.Shell, Tool: "run_shell", Target: "web-01, web-02, web-03, db-primary.eu-central, local", Command: "systemctl restart nginx",
		Why: "the new certificate", Risk: action.High, Mutation: true, Places: []action.Place{
			{Target: "web-01", Cwd: "/srv"}, {Target: "web-02", Cwd: "/srv"}, {Target: "web-03", Cwd: "/root"}, {Target: "db-primary.eu-central"}, {Target: "local", Cwd: "/home/u"},
		},
	}
	for name, a := range map[string]action.Action{"several": several, "plain": restart, "script": script, "edit": edit, "hostile": evil, "long": long, "wide": wide, "nothing": {Tool: "mystery"}} {
		for _, size := range [][2]int{{66, 14}, {40, 10}} {
			d, _, _, _ := newTestApproval(t, ask("1", a))
			viewtest.Golden(t, "approval-"+name, d, size[0], size[1])
		}
	}
	d, _, _, _ := newTestApproval(t, ask("1", restart), ask("2", script))
	w, h := d.Size(120, 30)
	viewtest.Golden(t, "approval-two", d, w, h)
}

// informed is a request with all that a person may want to know.
func informed(id string) event.ApprovalAsked {
	e := ask(id, action.Action{Kind: action.Shell, Tool: "run_shell", Target: "local", Command: "go test ./...", Why: "see what fails"})
	e.Context = action.ApprovalContext{
		Risk: action.Medium, Undo: "", Consequences: []string{"a program runs that can do all that you can"},
		Alternatives: []string{"go vet only reads"}, Similar: `allow "go test …" tool run_shell (session)`,
	}
	return e
}

func TestApprovalExplained(t *testing.T) { // F10, F14: the rule shows before it is added
	d, _, now, answers := newTestApproval(t, informed("1"))
	viewtest.Golden(t, "approval-similar", d, 72, 14)
	*now = now.Add(ApprovalGrace)
	press(t, d, "explain")
	viewtest.Golden(t, "approval-explained", d, 72, 18)
	press(t, d, "explain", "allow-similar")
	if want := []event.Approve{{ID: "1", Decision: event.Similar}}; !slices.Equal(*answers, want) {
		t.Errorf("answers %v, want %v", *answers, want)
	}
	d, _, now, answers = newTestApproval(t, ask("1", restart))
	viewtest.Screen(t, d, 66, 14)
	*now = now.Add(ApprovalGrace)
	press(t, d, "allow-similar")
	if len(*answers) != 0 {
		t.Errorf("without a rule: %v", *answers)
	}
}

// What a command would take away shows without being asked for, before all else.
func TestApprovalSaysWhatIsLost(t *testing.T) {
	e := ask("1", action.Action{Kind: action.Shell, Tool: "run_shell", Target: "local", Command: "git reset --hard; git push -f origin main", Why: "start again", Risk: action.High})
	e.Context.Loses = []string{`git reset --hard discards changes in 7 files: a.go, "b\n\x1b[2J", views/approval.go, c.go, d.go and 2 more`, "git push -f replaces or deletes commits of origin/main"}
	d, _, _, _ := newTestApproval(t, e)
	viewtest.Golden(t, "approval-loses", d, 66, 16)
	d, _, _, _ = newTestApproval(t, e)
	viewtest.Golden(t, "approval-loses", d, 40, 10)
}

// The explanation says what keeps commands where this one would run.
func TestApprovalSaysWhatIsKept(t *testing.T) {
	e := ask("1", restart)
	e.Context.Kept = []string{"nobody is asked about a few", "once approved, all that you can"}
	d, _, now, _ := newTestApproval(t, e)
	const kept = "kept nobody is asked about a few; once approved"
	if text := viewtest.Text(t, d, 80, 20); strings.Contains(text, kept) {
		t.Errorf("not asked for:\n%s", text)
	}
	*now = now.Add(ApprovalGrace)
	press(t, d, "explain")
	if text := viewtest.Text(t, d, 80, 20); !strings.Contains(text, kept) {
		t.Errorf("%q is not there:\n%s", kept, text)
	}
}

// On a small screen rows that do not show are counted, and what is explained is scrolled to.
func TestApprovalSmall(t *testing.T) {
	e := informed("1")
	e.Action.Command = "set -e\necho 1\necho 2\necho 3\necho 4\necho 5\necho 6\n"
	d, _, now, _ := newTestApproval(t, e)
	look := func(step string, want ...string) {
		t.Helper()
		text := viewtest.Text(t, d, 40, 11)
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s: %q is not there:\n%s", step, w, text)
			}
		}
	}
	look("at first", "1 set -e", "4 echo 3", "[s]", "[y] run once", "more · PgDn")
	*now = now.Add(ApprovalGrace)
	press(t, d, "explain")
	look("explained", "does a program runs", "[s]", "more · PgUp")
	press(t, d, "page-down")
	look("scrolled", "else go vet only reads", "↑")
	press(t, d, "explain")
	look("hidden again", "1 set -e")
	press(t, d, "scroll-bottom")
	look("the end", "(shell.unknown)", "↑")

	plain := ask("2", restart)
	plain.Context.Reversible = true // and nothing else is known
	d, _, now, _ = newTestApproval(t, plain)
	look("at first", "systemctl restart nginx")
	*now = now.Add(ApprovalGrace)
	press(t, d, "explain")
	look("nothing to explain", "nothing more is known")
	press(t, d, "deny-with-reason", "'"+strings.Repeat("because of this ", 5)+"end")
	look("a long reason", "end", "Enter deny", "Esc back")
}

func TestApprovalAmend(t *testing.T) { // edit, then approve
	for _, tt := range []struct {
		name, args string
		act        action.Action
		want       string
	}{
		{"command", `{"command":"systemctl restart nginx","why":"w"}`, restart, `{"command":"systemctl restart nginx --now","why":"w"}`},
		{"other tool", `{"path":"a"}`, action.Action{Kind: action.FileWrite, Tool: "write_file", Path: "/a"}, `{"path":"a"} --now`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			now := at
			d := NewApproval(dark(t), keymap.Default(), clockAt(&now))
			var answers []event.Approve
			d.OnAnswer = func(e event.Approve) { answers = append(answers, e) }
			d.Focus(nil)
			s := &state.State{}
			d.Update(s, apply(s, event.ToolRequested{CallID: "c1", Name: tt.act.Tool, Arguments: tt.args, Action: tt.act}, ask("1", tt.act)))
			viewtest.Screen(t, d, 66, 14)
			now = now.Add(ApprovalGrace)
			press(t, d, "amend")
			if d.Scope() != keymap.Amend {
				t.Fatalf("scope %s", d.Scope())
			}
			if tt.name == "command" {
				viewtest.Golden(t, "approval-amend", d, 66, 14)
			}
			press(t, d, "' --now")
			press(t, d, "amend-run")
			if want := []event.Approve{{ID: "1", Decision: event.Edit, Args: tt.want}}; !slices.Equal(answers, want) {
				t.Errorf("answers %+v, want %+v", answers, want)
			}
		})
	}
}

// UX: keys typed in the first 300 ms do nothing, and again when another request shows.
func TestApprovalGrace(t *testing.T) {
	d, s, now, answers := newTestApproval(t, ask("1", restart), ask("2", restart))
	press(t, d, "approve")
	viewtest.Screen(t, d, 66, 14) // the grace begins with the first draw
	press(t, d, "approve", "deny", "back")
	*now = now.Add(ApprovalGrace - time.Millisecond)
	press(t, d, "approve")
	if len(*answers) != 0 {
		t.Fatalf("answered %v within the grace period", *answers)
	}
	*now = now.Add(time.Millisecond)
	press(t, d, "approve", "approve", "deny")
	if want := []event.Approve{{ID: "1", Decision: event.Once}}; !slices.Equal(*answers, want) {
		t.Fatalf("answers %v, want %v", *answers, want)
	}
	d.Update(s, apply(s, event.ApprovalAnswered{ID: "1", Decision: event.Once}))
	press(t, d, "approve")
	viewtest.Screen(t, d, 66, 14)
	press(t, d, "approve")
	if len(*answers) != 1 || d.Asked() != "2" {
		t.Fatalf("the second request was answered unseen: %v", *answers)
	}
	*now = now.Add(ApprovalGrace)
	press(t, d, "deny")
	if want := (event.Approve{ID: "2", Decision: event.Reject}); len(*answers) != 2 || (*answers)[1] != want {
		t.Fatalf("answers %v, want the second to be %v", *answers, want)
	}
	d.Update(s, apply(s, event.ApprovalAnswered{ID: "2", Decision: event.Reject}))
	press(t, d, "approve")
	if w, h := d.Size(100, 40); len(*answers) != 2 || w != 0 || h != 0 {
		t.Errorf("without a request: answers %v, size %d×%d", *answers, w, h)
	}
}

func TestApprovalKeys(t *testing.T) {
	ready := func() (*Approval, *state.State, *[]event.Approve) {
		d, s, now, answers := newTestApproval(t, ask("1", restart))
		viewtest.Screen(t, d, 66, 14)
		*now = now.Add(ApprovalGrace)
		return d, s, answers
	}
	d, _, answers := ready()
	left := 0
	d.OnLeave = func() { left++ }
	press(t, d, "send", "newline", "back", "'xq ") // Enter does not approve, Esc never denies
	if len(*answers) != 0 || left != 1 {
		t.Errorf("answers %v, left %d times, want none and once", *answers, left)
	}
	press(t, d, "deny-with-reason")
	if d.Scope() != keymap.Reason {
		t.Errorf("scope %s, want %s", d.Scope(), keymap.Reason)
	}
	press(t, d, "'yn", "kill-to-start", "'not on a friday")
	d.PasteHandler()("\nor\tsaturday\n", nil)
	viewtest.Golden(t, "approval-reason", d, 66, 14)
	press(t, d, "reason-back", "deny-with-reason", "'later ", "reason-send")
	if want := []event.Approve{{ID: "1", Decision: event.Reject, Reason: "later"}}; !slices.Equal(*answers, want) {
		t.Errorf("answers %v, want %v", *answers, want)
	}

	d, s, answers := ready()
	press(t, d, "deny-with-reason", "'wrong one")
	d.Update(s, apply(s, ask("2", restart), event.ApprovalAnswered{ID: "1", Decision: event.Reject, By: "cancel"}))
	viewtest.Screen(t, d, 66, 14)
	press(t, d, "reason-send", "approve")
	if len(*answers) != 0 || d.Scope() != keymap.Approval {
		t.Errorf("a reason for one request answered another: %v", *answers)
	}
}

// Ask first, truthfully: every character of the command is on some row, and what does
// not fit scrolls.
func TestApprovalShowsEverything(t *testing.T) {
	var command strings.Builder
	for i := range 60 {
		fmt.Fprintf(&command, "line%03d\n", i)
	}
	a := restart
	a.Command = command.String()
	a.Why = strings.Repeat("a long story ", 500)
	for _, size := range [][2]int{{80, 24}, {40, 12}, {30, 8}} {
		d, _, now, _ := newTestApproval(t, ask("1", a))
		seen := map[string]bool{}
		for range 90 {
			for _, word := range strings.Fields(viewtest.Text(t, d, size[0], size[1])) {
				seen[word] = true
			}
			*now = now.Add(time.Second)
			press(t, d, "page-down")
		}
		for i := range 60 {
			if !seen[fmt.Sprintf("line%03d", i)] {
				t.Fatalf("%v: line %d never showed", size, i)
			}
		}
	}
}

// What had no room to be drawn cannot be approved.
func TestApprovalTooSmall(t *testing.T) {
	d, _, now, answers := newTestApproval(t, ask("1", restart))
	viewtest.Screen(t, d, 20, 3)
	*now = now.Add(time.Minute)
	press(t, d, "approve")
	if len(*answers) != 0 {
		t.Errorf("answered %v without room to read", *answers)
	}
}

func TestApprovalStyles(t *testing.T) {
	a := restart
	a.Command = "q\u202ez\x1b"
	d, _, _, _ := newTestApproval(t, ask("1", a))
	s := viewtest.Screen(t, d, 66, 14)
	wantRole(t, s, 'q', themes.Strong)
	wantRole(t, s, '‹', themes.Control)
	wantRole(t, s, '␛', themes.Control)
	wantRole(t, s, 'A', themes.Warning)
	wantRole(t, s, '[', themes.Key)
	wantRole(t, s, '┌', themes.Focus)
	wantRole(t, s, 'k', themes.Error) // the first k is that of risk
}
