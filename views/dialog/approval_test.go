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
func newTestApproval(t testing.TB, asked ...event.ApprovalAsked) (*Approval, *state.State, *time.Time, *[]event.AnswerApproval) {
	now := viewtest.Now
	a := NewApproval(viewtest.Dark(t), keymap.Default(), viewtest.ClockAt(&now))
	var answers []event.AnswerApproval
	a.OnAnswer = func(e event.AnswerApproval) { answers = append(answers, e) }
	a.Focus(nil)
	s := &state.State{}
	for _, e := range asked {
		feed(a, s, e)
	}
	return a, s, &now, &answers
}

// feed feeds events and shows the oldest pending request.
func feed(a *Approval, s *state.State, events ...event.Event) {
	viewtest.Feed(s, events...)
	if len(s.Approvals) == 0 {
		a.Clear()
		a.SetPlace(DockPlace{})
		return
	}
	args := ""
	if c := s.Call(s.Approvals[0].CallID); c != nil {
		args = c.Arguments
	}
	a.Ask(s.Approvals[0], args)
	a.SetPlace(DockPlace{N: 1, Of: len(s.Approvals)})
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
	hosts := viewtest.Ask("1", action.Action{
		Kind: action.Connect, Tool: "run_shell", Target: "local", Command: "npm ci && " + viewtest.Hostile, Why: "install what the tests need", Host: "packages.example.org",
		Hosts: []string{"packages.example.org:443", "xn--80ak6aa92e.com:80", viewtest.Hostile + ".com:443", strings.Repeat("long-", 20) + "name.example.com:443"},
	})
	hosts.Context = action.ApprovalContext{Risk: action.Medium, Similar: "don't ask again for these 4 hosts this session", Effect: action.Effect{Verb: "lets", Object: "the command send what it reads in this folder to that host"}}
	for _, size := range [][2]int{{80, 18}, {40, 14}} {
		d, _, _, _ := newTestApproval(t, hosts)
		viewtest.Golden(t, "approval-hosts", d, size[0], size[1])
	}
	d, _, _, _ := newTestApproval(t, viewtest.Ask("1", viewtest.Restart), viewtest.Ask("2", script))
	viewtest.Golden(t, "approval-two", d, 120, d.Rows(120))
}

// informed is a request with all information.
func informed(id string) event.ApprovalAsked {
	e := viewtest.Ask(id, action.Action{Kind: action.Shell, Tool: "run_shell", Target: "local", Command: "go test ./...", Why: "see what fails"})
	e.Context = action.ApprovalContext{
		Risk: action.Medium, Undo: "", Consequences: []string{"it runs code that buddy can't check"},
		Alternatives: []string{"go vet only reads"}, Similar: "don't ask again for `go test ./...` on web-02 this session",
		Passes: []string{"go test ./...", "go test ./... | tail -n 20"}, Stops: "go test ./... x", Exact: true,
	}
	return e
}

// A rule that is too long for its row wraps between words.
func TestApprovalRuleBreaksBetweenWords(t *testing.T) {
	for _, size := range [][2]int{{56, 20}, {56, 10}} {
		d, _, _, _ := newTestApproval(t, informed("1"))
		drawn := viewtest.Text(t, d, size[0], size[1])
		if text := strings.Join(strings.Fields(drawn), " "); !strings.Contains(text, "don't ask again for `go test ./...` on web-02 this session") {
			t.Errorf("at %d×%d the rule is broken in a word:\n%s", size[0], size[1], drawn)
		}
	}
}

// A known command takes at most ten rows, with all important facts.
func TestApprovalIsShort(t *testing.T) {
	e := informed("1")
	e.Context.Effect = action.Effect{Verb: "runs", Object: "code from this folder"}
	for _, why := range []string{"", "see what fails", strings.Repeat("a long reason ", 7)} {
		e.Action.Why = why
		d, _, _, _ := newTestApproval(t, e)
		if rows := d.Rows(120); rows > 10 {
			t.Errorf("%d rows with the reason %q:\n%s", rows, why, viewtest.Text(t, d, 120, rows))
		}
		text := viewtest.Text(t, d, 120, d.Rows(120))
		for _, want := range []string{"Run this command?", "medium risk", "Runs code from this folder.", "❯ 1  Yes", "2  Yes, and don't ask again for `go test ./...`", "3  No, and tell the agent why", "? details"} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not there:\n%s", want, text)
			}
		}
	}
}

// The details are sentences shown on demand, with the command in view, without repetition.
func TestApprovalDetails(t *testing.T) {
	e := informed("1")
	e.Context.Kept = []string{"Once approved, it runs in /w with your full permissions."}
	e.Context.Failed = "exit 1"
	d, _, now, answers := newTestApproval(t, e)
	viewtest.Golden(t, "approval-similar", d, 72, 14)
	details := []string{
		"buddy asks because it can't tell whether this command is read-only (rule: shell.unknown).", "It runs code that buddy can't check.", "“Don't ask again” covers only this command, alone or piped into one that only reads, such as tail.",
		"buddy doesn't know how to undo it.", "A safer way: go vet only reads.", "Once approved, it runs in /w with your full permissions.", "The last call failed: exit 1.", "y yes",
	}
	look := func(want int) {
		t.Helper()
		text := strings.Join(strings.Fields(viewtest.Text(t, d, 90, 24)), " ")
		for _, s := range append(details, "go test ./... \"see what fails\"") {
			if n := strings.Count(text, s); s[0] != 'g' && n != want || s[0] == 'g' && n != 1 {
				t.Errorf("%q shows %d times, want %d:\n%s", s, n, want, text)
			}
		}
	}
	*now = now.Add(draw.GracePeriod)
	look(0)
	viewtest.Press(t, d, "explain")
	viewtest.Golden(t, "approval-explained", d, 72, 24)
	look(1)
	viewtest.Press(t, d, "explain", "allow-similar")
	if want := []event.AnswerApproval{{ID: "1", Decision: event.Similar}}; !slices.Equal(*answers, want) {
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

// Losses caused by a command are shown first, without a request.
func TestApprovalSaysWhatIsLost(t *testing.T) {
	e := viewtest.Ask("1", action.Action{Kind: action.Shell, Tool: "run_shell", Target: "local", Command: "git reset --hard; git push -f origin main", Why: "start again", Risk: action.High})
	e.Context.Loses = []string{`git reset --hard discards your changes in 7 files: a.go, "b\n\x1b[2J", views/approval.go, c.go, d.go and 2 more`, "git push -f replaces or deletes commits of origin/main"}
	d, _, _, _ := newTestApproval(t, e)
	viewtest.Golden(t, "approval-loses", d, 66, 16)
	d, _, _, _ = newTestApproval(t, e)
	viewtest.Golden(t, "approval-loses", d, 40, 10)
}

// A command that leaves the sandbox has that in its title, with the files that commands inside have changed and that it
// may run.
func TestApprovalOutsideTheFence(t *testing.T) {
	e := viewtest.Ask("1", action.Action{Kind: action.Git, Tool: "run_shell", Target: "local", Command: "git push -q origin HEAD", Cwd: "/w", Outside: true, Why: "publish the fix", Risk: action.Medium})
	e.Context.Outside, e.Context.Rule = true, "outside the sandbox"
	e.Context.Unseen = &action.Unseen{Paths: []string{".git/hooks/pre-push", "checkout/tax.go"}}
	for _, size := range [][2]int{{100, 16}, {40, 12}} {
		d, _, _, _ := newTestApproval(t, e)
		viewtest.Golden(t, "approval-outside", d, size[0], size[1])
	}
}

// On a small screen hidden rows are counted, and the details are scrolled into view.
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
	look("at first", "1 set -e", "4 echo 3", "1 Yes", "more · PgDn")
	*now = now.Add(draw.GracePeriod)
	viewtest.Press(t, d, "explain")
	look("with details", "buddy asks because", "↑")
	viewtest.Press(t, d, "dialog-end")
	look("the end", "Letters: ", "↑")
	viewtest.Press(t, d, "explain")
	look("hidden again", "1 set -e")

	plain := viewtest.Ask("2", viewtest.Restart)
	d, _, now, _ = newTestApproval(t, plain)
	look("at first", "systemctl restart nginx")
	*now = now.Add(draw.GracePeriod)
	viewtest.Press(t, d, "deny-with-reason")
	*now = now.Add(LetterPause)
	viewtest.Press(t, d, "'"+strings.Repeat("because of this ", 5)+"end")
	look("a long reason", "end", "Enter tell the agent", "Esc back")
}

// A choice that is not accepted yet is dim: while the prompt has the keys, before the end was seen, and within a second
// after an edit.
func TestApprovalDimsWhatDoesNotWork(t *testing.T) {
	look := func(d *Approval, h int, label string, want themes.Role) {
		t.Helper()
		s := viewtest.Screen(t, d, 66, h)
		w, rows := s.Size()
		for y := range rows {
			line := ""
			for x := range w {
				c, _, _ := s.Get(x, y)
				line += c
			}
			if at := strings.Index(line, label); at >= 0 {
				x := len([]rune(line[:at]))
				if _, got, _ := s.Get(x, y); got != d.Palette[want] {
					t.Errorf("%q has the style %+v, want that of %s", label, got, want)
				}
				return
			}
		}
		t.Errorf("there is no %q", label)
	}
	long := viewtest.Restart
	long.Command = strings.Repeat("echo\n", 40) + "rm -rf /"
	d, s, now, _ := newTestApproval(t)
	feed(d, s, event.ToolRequested{CallID: "c1", Name: "run_shell", Arguments: `{"command":"echo"}`, Action: long}, viewtest.Ask("1", long))
	look(d, 14, "Yes", themes.Muted)
	look(d, 14, "No, ", themes.Text)
	viewtest.Press(t, d, "dialog-end")
	*now = now.Add(draw.GracePeriod)
	viewtest.Press(t, d, "dialog-end")
	look(d, 14, "Yes", themes.Strong)
	viewtest.Press(t, d, "amend", "' --now", "amend-done")
	look(d, 14, "Yes, with", themes.Muted)
	if d.LiveIn() != Pause {
		t.Errorf("live in %s, want %s", d.LiveIn(), Pause)
	}
	*now = now.Add(Pause)
	look(d, 14, "Yes, with", themes.Strong)
	d.Blur()
	look(d, 14, "No, ", themes.Muted)
}

// Enter takes the marked answer, initially the first; a digit takes its answer. The last one asks for a reason, which
// may be empty.
func TestApprovalChoices(t *testing.T) {
	for press, want := range map[string]event.Decision{
		"choice-take": event.Once, "choice-down choice-take reason-send": event.Deny, "choice-down choice-up choice-up choice-take": event.Once,
		"1": event.Once, "2": "", "2 reason-send": event.Deny, "9": "", "deny": event.Deny,
	} {
		d, _, now, answers := newTestApproval(t, viewtest.Ask("1", viewtest.Restart))
		viewtest.Screen(t, d, 66, 14)
		*now = now.Add(draw.GracePeriod)
		for _, p := range strings.Fields(press) {
			if len(p) == 1 {
				p = "'" + p
			}
			viewtest.Press(t, d, p)
		}
		var got event.Decision
		if len(*answers) > 0 {
			got = (*answers)[0].Decision
		}
		if got != want {
			t.Errorf("%s: %q, want %q", press, got, want)
		}
	}
}

// A command can't be approved before its end was on the screen, but can be denied.
func TestApprovalSeenBeforeApproved(t *testing.T) {
	long := viewtest.Restart
	long.Command = strings.Repeat("echo\n", 40) + "rm -rf /"
	for _, way := range []string{"dialog-end", "page-down page-down page-down page-down page-down page-down"} {
		d, _, now, answers := newTestApproval(t, viewtest.Ask("1", long))
		var hint string
		d.OnHint = func(text string) { hint = text }
		viewtest.Screen(t, d, 66, 14)
		*now = now.Add(draw.GracePeriod)
		viewtest.Press(t, d, "approve", "allow-similar", "'1", "choice-take")
		if len(*answers) != 0 || !strings.Contains(hint, "PgDn shows more") {
			t.Fatalf("answers %v before the end was seen, hint %q", *answers, hint)
		}
		for _, p := range strings.Fields(way) {
			viewtest.Press(t, d, p)
			viewtest.Screen(t, d, 66, 14)
		}
		viewtest.Press(t, d, "dialog-top")
		viewtest.Screen(t, d, 66, 14)
		viewtest.Press(t, d, "approve")
		if len(*answers) != 1 {
			t.Errorf("%s: answers %v", way, *answers)
		}
	}
	d, _, now, answers := newTestApproval(t, viewtest.Ask("1", long))
	viewtest.Screen(t, d, 66, 14)
	*now = now.Add(draw.GracePeriod)
	viewtest.Press(t, d, "deny")
	if len(*answers) != 1 {
		t.Errorf("it can't be denied: %v", *answers)
	}
}

// Keys in the first 300 ms are ignored, and again when another request is shown.
func TestApprovalGrace(t *testing.T) {
	d, s, now, answers := newTestApproval(t, viewtest.Ask("1", viewtest.Restart), viewtest.Ask("2", viewtest.Restart))
	viewtest.Press(t, d, "approve")
	viewtest.Screen(t, d, 66, 14) // the grace period starts with the first draw
	viewtest.Press(t, d, "approve", "deny", "back")
	*now = now.Add(draw.GracePeriod - time.Millisecond)
	viewtest.Press(t, d, "approve")
	if len(*answers) != 0 {
		t.Fatalf("answered %v within the grace period", *answers)
	}
	*now = now.Add(time.Millisecond)
	viewtest.Press(t, d, "approve", "approve", "deny")
	if want := []event.AnswerApproval{{ID: "1", Decision: event.Once}}; !slices.Equal(*answers, want) {
		t.Fatalf("answers %v, want %v", *answers, want)
	}
	feed(d, s, event.ApprovalAnswered{ID: "1", Decision: event.Once})
	viewtest.Press(t, d, "approve")
	viewtest.Screen(t, d, 66, 14)
	viewtest.Press(t, d, "approve")
	if len(*answers) != 1 || d.Asked() != "2" {
		t.Fatalf("the second request was answered unseen: %v", *answers)
	}
	*now = now.Add(draw.GracePeriod)
	viewtest.Press(t, d, "deny")
	if want := (event.AnswerApproval{ID: "2", Decision: event.Deny}); len(*answers) != 2 || (*answers)[1] != want {
		t.Fatalf("answers %v, want the second to be %v", *answers, want)
	}
	feed(d, s, event.ApprovalAnswered{ID: "2", Decision: event.Deny})
	viewtest.Press(t, d, "approve")
	if h := d.Rows(100); len(*answers) != 2 || h != 0 {
		t.Errorf("without a request: answers %v, %d rows", *answers, h)
	}
}

func TestApprovalKeys(t *testing.T) {
	var now *time.Time
	ready := func() (*Approval, *state.State, *[]event.AnswerApproval) {
		d, s, clock, answers := newTestApproval(t, viewtest.Ask("1", viewtest.Restart))
		now = clock
		viewtest.Screen(t, d, 66, 14)
		*now = now.Add(draw.GracePeriod)
		return d, s, answers
	}
	d, _, answers := ready()
	viewtest.Press(t, d, "newline", "back", "'xq ") // Esc never denies
	if len(*answers) != 0 {
		t.Errorf("answers %v, want none", *answers)
	}
	viewtest.Press(t, d, "deny-with-reason")
	if d.Scope() != keymap.Reason {
		t.Errorf("scope %s, want %s", d.Scope(), keymap.Reason)
	}
	*now = now.Add(LetterPause)
	viewtest.Press(t, d, "'yn", "kill-to-start", "'not on a friday")
	d.PasteHandler()("\nor\tsaturday\n", nil)
	viewtest.Golden(t, "approval-reason", d, 66, 14)
	viewtest.Press(t, d, "reason-back", "deny-with-reason", "kill-to-start")
	*now = now.Add(LetterPause)
	viewtest.Press(t, d, "'later ", "reason-send")
	if want := []event.AnswerApproval{{ID: "1", Decision: event.Deny, Reason: "later"}}; !slices.Equal(*answers, want) {
		t.Errorf("answers %v, want %v", *answers, want)
	}

	d, s, answers := ready()
	viewtest.Press(t, d, "deny-with-reason", "'wrong one")
	feed(d, s, viewtest.Ask("2", viewtest.Restart), event.ApprovalAnswered{ID: "1", Decision: event.Deny, By: "cancel"})
	viewtest.Screen(t, d, 66, 14)
	viewtest.Press(t, d, "reason-send", "approve")
	if len(*answers) != 0 || d.Scope() != keymap.Approval {
		t.Errorf("a reason for one request answered another: %v", *answers)
	}
}

// Every character of the command is on some row; rows that do not fit scroll.
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

// A command that did not fit to be drawn can't be approved.
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
	viewtest.WantRole(t, s, 'R', themes.Warning)
	viewtest.WantRole(t, s, '1', themes.Key)
	viewtest.WantRole(t, s, '─', themes.Focus)
	viewtest.WantRole(t, s, 'k', themes.Error) // the first k is in the word risk
}

// SetTheme applies to a drawn dialog (theme = auto decides after the first frame).
func TestApprovalSetTheme(t *testing.T) {
	light, err := themes.Load("", "light")
	if err != nil {
		t.Fatal(err)
	}
	d, _, _, _ := newTestApproval(t, viewtest.Ask("1", viewtest.Restart))
	viewtest.Screen(t, d, 66, 14)
	d.SetTheme(light)
	if got, want := viewtest.CellOf(t, viewtest.Screen(t, d, 66, 14), '1'), draw.CellStyle(light.Style(themes.Key)); got != want {
		t.Errorf("style %+v, want that of the light theme %+v", got, want)
	}
}
