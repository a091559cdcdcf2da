package dialog

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
	"buddy/views/draw"
	"buddy/views/viewtest"
)

// newTestApproval returns a dialog with requests, drawn once, its clock and its answers.
func newTestApproval(t testing.TB, asked ...event.ApprovalAsked) (*Approval, *state.State, *time.Time, *[]event.Approve) {
	now := viewtest.Now
	a := NewApproval(viewtest.Dark(t), keymap.Default(), viewtest.ClockAt(&now))
	var answers []event.Approve
	a.OnAnswer = func(e event.Approve) { answers = append(answers, e) }
	a.Focus(nil)
	s := &state.State{}
	for _, e := range asked {
		a.Update(s, viewtest.Feed(s, e))
	}
	return a, s, &now, &answers
}

func TestApprovalGolden(t *testing.T) {
	script := action.Action{Kind: action.Shell, Tool: "run_shell", Target: "local", Cwd: "/home/u/src/shop", Risk: action.Medium, Command: "set -e\nfor f in *.log; do\n\trm \"$f\"\ndone\n"}
	edit := action.Action{
		Kind: action.FileWrite, Tool: "edit_file", Target: "local", Path: "/home/u/src/shop/checkout/tax.go", Mutation: true, Risk: action.Low,
		Preview: "+1 -1 lines, 111 → 116 bytes\n--- checkout/tax.go\n+++ checkout/tax.go\n@@ -3,3 +3,3 @@\n func Tax(cents int) int {\n-\treturn cents * 19 / 100\n+\treturn (cents*19 + 50) / 100\n }\n",
	}
	evil := action.Action{Kind: action.Shell, Tool: "run_shell[red]", Target: "local\x1b[31m", Command: "echo " + viewtest.Hostile + "\nrm\u200d -rf /", Why: strings.Repeat(viewtest.Hostile+" ", 40)}
	long := action.Action{Kind: action.Shell, Tool: "run_shell", Target: "local", Command: strings.Repeat("make something long with many arguments\n", 80), Why: "because"}
	wide := action.Action{Kind: action.Shell, Tool: "run_shell", Target: "local", Command: strings.Repeat("日本語👍", 30)}
	several := action.Action{
		Kind: action.Shell, Tool: "run_shell", Target: "web-01, web-02, web-03, db-primary.eu-central, local", Command: "systemctl restart nginx",
		Why: "the new certificate", Risk: action.High, Mutation: true, Targets: []action.TargetCwd{
			{Target: "web-01", Cwd: "/srv"}, {Target: "web-02", Cwd: "/srv"}, {Target: "web-03", Cwd: "/root"}, {Target: "db-primary.eu-central"}, {Target: "local", Cwd: "/home/u"},
		},
	}
	for name, a := range map[string]action.Action{"several": several, "plain": viewtest.Restart, "script": script, "edit": edit, "hostile": evil, "long": long, "wide": wide, "nothing": {Tool: "mystery"}} {
		for _, size := range [][2]int{{66, 14}, {40, 10}} {
			d, _, _, _ := newTestApproval(t, viewtest.Ask("1", a))
			viewtest.Golden(t, "approval-"+name, d, size[0], size[1])
		}
	}
	d, _, _, _ := newTestApproval(t, viewtest.Ask("1", viewtest.Restart), viewtest.Ask("2", script))
	w, h := d.Size(120, 30)
	viewtest.Golden(t, "approval-two", d, w, h)
}

// informed is a request with all that a person may want to know.
func informed(id string) event.ApprovalAsked {
	e := viewtest.Ask(id, action.Action{Kind: action.Shell, Tool: "run_shell", Target: "local", Command: "go test ./...", Why: "see what fails"})
	e.Context = action.ApprovalContext{
		Risk: action.Medium, Undo: "", Consequences: []string{"a program runs that can do all that you can"},
		Alternatives: []string{"go vet only reads"}, Similar: `allow "go test …" tool run_shell (session)`,
	}
	return e
}

func TestApprovalExplained(t *testing.T) { // F10, F14: the rule shows before it is added
	d, _, now, answers := newTestApproval(t, informed("1"))
	viewtest.Golden(t, "approval-similar", d, 72, 14)
	*now = now.Add(draw.GracePeriod)
	viewtest.Press(t, d, "explain")
	viewtest.Golden(t, "approval-explained", d, 72, 18)
	viewtest.Press(t, d, "explain", "allow-similar")
	if want := []event.Approve{{ID: "1", Decision: event.Similar}}; !slices.Equal(*answers, want) {
		t.Errorf("answers %v, want %v", *answers, want)
	}
	d, _, now, answers = newTestApproval(t, viewtest.Ask("1", viewtest.Restart))
	viewtest.Screen(t, d, 66, 14)
	*now = now.Add(draw.GracePeriod)
	viewtest.Press(t, d, "allow-similar")
	if len(*answers) != 0 {
		t.Errorf("without a rule: %v", *answers)
	}
}

// What a command would take away shows without being asked for, before all else.
func TestApprovalSaysWhatIsLost(t *testing.T) {
	e := viewtest.Ask("1", action.Action{Kind: action.Shell, Tool: "run_shell", Target: "local", Command: "git reset --hard; git push -f origin main", Why: "start again", Risk: action.High})
	e.Context.Loses = []string{`git reset --hard discards changes in 7 files: a.go, "b\n\x1b[2J", views/approval.go, c.go, d.go and 2 more`, "git push -f replaces or deletes commits of origin/main"}
	d, _, _, _ := newTestApproval(t, e)
	viewtest.Golden(t, "approval-loses", d, 66, 16)
	d, _, _, _ = newTestApproval(t, e)
	viewtest.Golden(t, "approval-loses", d, 40, 10)
}

// The explanation says what keeps commands where this one would run.
func TestApprovalSaysWhatIsKept(t *testing.T) {
	e := viewtest.Ask("1", viewtest.Restart)
	e.Context.Kept = []string{"nobody is asked about a few", "once approved, all that you can"}
	d, _, now, _ := newTestApproval(t, e)
	const kept = "kept nobody is asked about a few; once approved"
	if text := viewtest.Text(t, d, 80, 20); strings.Contains(text, kept) {
		t.Errorf("not asked for:\n%s", text)
	}
	*now = now.Add(draw.GracePeriod)
	viewtest.Press(t, d, "explain")
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
	*now = now.Add(draw.GracePeriod)
	viewtest.Press(t, d, "explain")
	look("explained", "does a program runs", "[s]", "more · PgUp")
	viewtest.Press(t, d, "page-down")
	look("scrolled", "else go vet only reads", "↑")
	viewtest.Press(t, d, "explain")
	look("hidden again", "1 set -e")
	viewtest.Press(t, d, "scroll-bottom")
	look("the end", "(shell.unknown)", "↑")

	plain := viewtest.Ask("2", viewtest.Restart)
	plain.Context.Reversible = true // and nothing else is known
	d, _, now, _ = newTestApproval(t, plain)
	look("at first", "systemctl restart nginx")
	*now = now.Add(draw.GracePeriod)
	viewtest.Press(t, d, "explain")
	look("nothing to explain", "nothing more is known")
	viewtest.Press(t, d, "deny-with-reason", "'"+strings.Repeat("because of this ", 5)+"end")
	look("a long reason", "end", "Enter deny", "Esc back")
}

func TestApprovalAmend(t *testing.T) { // edit, then approve
	for _, tt := range []struct {
		name, args string
		act        action.Action
		want       string
	}{
		{"command", `{"command":"systemctl restart nginx","why":"w"}`, viewtest.Restart, `{"command":"systemctl restart nginx --now","why":"w"}`},
		{"other tool", `{"path":"a"}`, action.Action{Kind: action.FileWrite, Tool: "write_file", Path: "/a"}, `{"path":"a"} --now`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			now := viewtest.Now
			d := NewApproval(viewtest.Dark(t), keymap.Default(), viewtest.ClockAt(&now))
			var answers []event.Approve
			d.OnAnswer = func(e event.Approve) { answers = append(answers, e) }
			d.Focus(nil)
			s := &state.State{}
			d.Update(s, viewtest.Feed(s, event.ToolRequested{CallID: "c1", Name: tt.act.Tool, Arguments: tt.args, Action: tt.act}, viewtest.Ask("1", tt.act)))
			viewtest.Screen(t, d, 66, 14)
			now = now.Add(draw.GracePeriod)
			viewtest.Press(t, d, "amend")
			if d.Scope() != keymap.Amend {
				t.Fatalf("scope %s", d.Scope())
			}
			if tt.name == "command" {
				viewtest.Golden(t, "approval-amend", d, 66, 14)
			}
			viewtest.Press(t, d, "' --now")
			viewtest.Press(t, d, "amend-run")
			if want := []event.Approve{{ID: "1", Decision: event.Edit, Args: tt.want}}; !slices.Equal(answers, want) {
				t.Errorf("answers %+v, want %+v", answers, want)
			}
		})
	}
}

// UX: keys typed in the first 300 ms do nothing, and again when another request shows.
func TestApprovalGrace(t *testing.T) {
	d, s, now, answers := newTestApproval(t, viewtest.Ask("1", viewtest.Restart), viewtest.Ask("2", viewtest.Restart))
	viewtest.Press(t, d, "approve")
	viewtest.Screen(t, d, 66, 14) // the grace begins with the first draw
	viewtest.Press(t, d, "approve", "deny", "back")
	*now = now.Add(draw.GracePeriod - time.Millisecond)
	viewtest.Press(t, d, "approve")
	if len(*answers) != 0 {
		t.Fatalf("answered %v within the grace period", *answers)
	}
	*now = now.Add(time.Millisecond)
	viewtest.Press(t, d, "approve", "approve", "deny")
	if want := []event.Approve{{ID: "1", Decision: event.Once}}; !slices.Equal(*answers, want) {
		t.Fatalf("answers %v, want %v", *answers, want)
	}
	d.Update(s, viewtest.Feed(s, event.ApprovalAnswered{ID: "1", Decision: event.Once}))
	viewtest.Press(t, d, "approve")
	viewtest.Screen(t, d, 66, 14)
	viewtest.Press(t, d, "approve")
	if len(*answers) != 1 || d.Asked() != "2" {
		t.Fatalf("the second request was answered unseen: %v", *answers)
	}
	*now = now.Add(draw.GracePeriod)
	viewtest.Press(t, d, "deny")
	if want := (event.Approve{ID: "2", Decision: event.Reject}); len(*answers) != 2 || (*answers)[1] != want {
		t.Fatalf("answers %v, want the second to be %v", *answers, want)
	}
	d.Update(s, viewtest.Feed(s, event.ApprovalAnswered{ID: "2", Decision: event.Reject}))
	viewtest.Press(t, d, "approve")
	if w, h := d.Size(100, 40); len(*answers) != 2 || w != 0 || h != 0 {
		t.Errorf("without a request: answers %v, size %d×%d", *answers, w, h)
	}
}

func TestApprovalKeys(t *testing.T) {
	ready := func() (*Approval, *state.State, *[]event.Approve) {
		d, s, now, answers := newTestApproval(t, viewtest.Ask("1", viewtest.Restart))
		viewtest.Screen(t, d, 66, 14)
		*now = now.Add(draw.GracePeriod)
		return d, s, answers
	}
	d, _, answers := ready()
	left := 0
	d.OnLeave = func() { left++ }
	viewtest.Press(t, d, "send", "newline", "back", "'xq ") // Enter does not approve, Esc never denies
	if len(*answers) != 0 || left != 1 {
		t.Errorf("answers %v, left %d times, want none and once", *answers, left)
	}
	viewtest.Press(t, d, "deny-with-reason")
	if d.Scope() != keymap.Reason {
		t.Errorf("scope %s, want %s", d.Scope(), keymap.Reason)
	}
	viewtest.Press(t, d, "'yn", "kill-to-start", "'not on a friday")
	d.PasteHandler()("\nor\tsaturday\n", nil)
	viewtest.Golden(t, "approval-reason", d, 66, 14)
	viewtest.Press(t, d, "reason-back", "deny-with-reason", "'later ", "reason-send")
	if want := []event.Approve{{ID: "1", Decision: event.Reject, Reason: "later"}}; !slices.Equal(*answers, want) {
		t.Errorf("answers %v, want %v", *answers, want)
	}

	d, s, answers := ready()
	viewtest.Press(t, d, "deny-with-reason", "'wrong one")
	d.Update(s, viewtest.Feed(s, viewtest.Ask("2", viewtest.Restart), event.ApprovalAnswered{ID: "1", Decision: event.Reject, By: "cancel"}))
	viewtest.Screen(t, d, 66, 14)
	viewtest.Press(t, d, "reason-send", "approve")
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
	a := viewtest.Restart
	a.Command = command.String()
	a.Why = strings.Repeat("a long story ", 500)
	for _, size := range [][2]int{{80, 24}, {40, 12}, {30, 8}} {
		d, _, now, _ := newTestApproval(t, viewtest.Ask("1", a))
		seen := map[string]bool{}
		for range 90 {
			for _, word := range strings.Fields(viewtest.Text(t, d, size[0], size[1])) {
				seen[word] = true
			}
			*now = now.Add(time.Second)
			viewtest.Press(t, d, "page-down")
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
	d, _, now, answers := newTestApproval(t, viewtest.Ask("1", viewtest.Restart))
	viewtest.Screen(t, d, 20, 3)
	*now = now.Add(time.Minute)
	viewtest.Press(t, d, "approve")
	if len(*answers) != 0 {
		t.Errorf("answered %v without room to read", *answers)
	}
}

func TestApprovalStyles(t *testing.T) {
	a := viewtest.Restart
	a.Command = "q\u202ez\x1b"
	d, _, _, _ := newTestApproval(t, viewtest.Ask("1", a))
	s := viewtest.Screen(t, d, 66, 14)
	viewtest.WantRole(t, s, 'q', themes.Strong)
	viewtest.WantRole(t, s, '‹', themes.Control)
	viewtest.WantRole(t, s, '␛', themes.Control)
	viewtest.WantRole(t, s, 'A', themes.Warning)
	viewtest.WantRole(t, s, '[', themes.Key)
	viewtest.WantRole(t, s, '┌', themes.Focus)
	viewtest.WantRole(t, s, 'k', themes.Error) // the first k is that of risk
}

// Another theme reaches a dialog that is drawn already (theme = auto decides after the first frame).
func TestApprovalSetTheme(t *testing.T) {
	light, err := themes.Load("", "light")
	if err != nil {
		t.Fatal(err)
	}
	d, _, _, _ := newTestApproval(t, viewtest.Ask("1", viewtest.Restart))
	viewtest.Screen(t, d, 66, 14)
	d.SetTheme(light)
	if got, want := viewtest.CellOf(t, viewtest.Screen(t, d, 66, 14), '['), draw.CellStyle(light.Style(themes.Key)); got != want {
		t.Errorf("style %+v, want that of the light theme %+v", got, want)
	}
}
