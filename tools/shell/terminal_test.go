package shell

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"buddy/tmux"
	"buddy/tools"
)

// asked stands for a person who can answer.
func asked(context.Context, tools.Question) (string, error) { return "", nil }

func TestTerminalText(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, sent, want string
		full             bool
	}{
		{"plain", "one\r\ntwo\r\n", "one\ntwo\n", false},
		{"colours", "\x1b[1;31mred\x1b[m \x1b[38:2::1:2:3mx\x1b(B\r\n", "red x\n", false},
		{"a progress bar", " 10%\r 50%\r100%\r\n", "100%\n", false},
		{"a shorter line over a longer", "installing\rdone\x1b[K\r\n", "done\n", false},
		{"erased keys", "passx\b \bword\r\n", "password\n", false},
		{"an erased wide character", "a漢\b \b\r\nb", "a\nb", false},
		{"titles and links", "\x1b]0;title\aa\x1b]8;;http://x\x1b\\b\r\n", "ab\n", false},
		{"a full screen", "before\r\n\x1b[?1049h\x1b[2J\x1b[Hmenu\r\nline\x1b[?1049lafter\r\n", "before\nafter\n", true},
		{"bell and controls", "a\a\x00\x0fb\x7f\tc", "ab\tc", false},
		{"cut sequences", "a\x1b[", "a", false},
		{"an open title ends with its line", "\x1b]0;no end\nb", "\nb", false},
		{"no UTF-8", "a\xffb", "a\uFFFDb", false},
	}
	for _, tt := range tests {
		if got, full := TerminalText([]byte(tt.sent)); got != tt.want || full != tt.full {
			t.Errorf("%s: TerminalText(%q) = %q, %v, want %q, %v", tt.name, tt.sent, got, full, tt.want, tt.full)
		}
	}
}

func FuzzTerminalText(f *testing.F) {
	f.Add([]byte("a\x1b[31mb\x1b]0;t\x07\r\n\b\x1b[?1049hx"))
	f.Fuzz(func(t *testing.T, p []byte) {
		got, _ := TerminalText(p)
		if strings.ContainsAny(got, "\x1b\r\a\b\x00") || !utf8.ValidString(got) {
			t.Errorf("TerminalText(%q) = %q", p, got)
		}
	})
}

// TestRunShellOnTheTerminal: modes captty and tty, by a person who types.
func TestRunShellOnTheTerminal(t *testing.T) {
	tool := shellTool(t, nil)
	answer := func(text string) {
		t.Helper()
		deadline := time.Now().Add(time.Minute)
		for {
			_, screen, err := tool.panes.Capture(t.Context(), "", tmux.View{})
			if err == nil && strings.HasSuffix(screen, "Name?") {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("no prompt within a minute: %v, screen %q", err, screen)
			}
			<-time.After(5 * time.Millisecond)
		}
		if _, err := tool.panes.Keys(t.Context(), "", text, []string{"Enter"}); err != nil {
			t.Fatal(err)
		}
	}
	for mode, want := range map[string]string{"captty": "hello Ann\n", "tty": "Name?Ann\nhello Ann\n"} {
		call := shellCall(t, "printf Name'?' >/dev/tty; read x; echo hello $x; exit 3", mode)
		act, err := tool.Plan(call)
		if err != nil || act.Preview == "" {
			t.Errorf("plan: %+v, %v", act, err)
		}
		ended := make(chan tools.Result)
		call.Ask = asked
		go func() { ended <- tool.Run(t.Context(), call) }()
		answer("Ann")
		r := <-ended
		if got := payload(t, r); got.Stdout != want || got.ExitCode != 3 || got.Stderr != "" {
			t.Errorf("%s: %+v, want stdout %q", mode, got, want)
		}
	}
	call := shellCall(t, `printf '\033[?1049h\033[Hpicture\033[?1049l'; echo '\033[1mafter'`, "tty")
	call.Ask = asked
	if got := payload(t, tool.Run(t.Context(), call)); !strings.Contains(got.Note, "full screen") || strings.Contains(got.Stdout, "picture") {
		t.Errorf("a full-screen program: %+v", got)
	}
	if _, err := tool.Plan(shellCall(t, "true", "other")); err == nil || !strings.Contains(err.Error(), "cap, merge, captty, tty") {
		t.Errorf("an unknown mode: %v", err)
	}
}

// TestTerminalUnattended: where nobody can type, a command that reads keys is left running
// after some time, in a pane of its own.
func TestTerminalUnattended(t *testing.T) {
	tool := shellTool(t, nil)
	call := shellCall(t, "read x; echo got $x", "captty")
	old := unattended
	unattended = 100 * time.Millisecond
	t.Cleanup(func() { unattended = old })
	r := tool.Run(t.Context(), call)
	if r.IsError || !strings.Contains(r.Content, "it still runs as task 1 in pane") {
		t.Fatalf("%+v", r)
	}
	job, err := tool.jobs.find(1, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tool.panes.Keys(t.Context(), job.pane, "it", []string{"Enter"}); err != nil {
		t.Fatal(err)
	}
	<-job.run.Done()
	if got := payload(t, job.result("", DefaultLimits.Output)); got.Stdout != "got it\n" {
		t.Errorf("%+v", got)
	}
}

// TestTerminalWithoutPanes: nothing runs, and the model is told why.
func TestTerminalWithoutPanes(t *testing.T) {
	tool := shellTool(t, func(string) {})
	tool.noPanes.Store(true)
	mark := filepath.Join(t.TempDir(), "ran")
	call := shellCall(t, "touch "+mark, "tty")
	call.Ask = asked
	if r := tool.Run(t.Context(), call); !r.IsError || !strings.Contains(r.Content, "needs a terminal") {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("it ran")
	}
}
