package tmux

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"buddy/tmux/host"
	"buddy/tmux/tmuxtest"
)

// newControl returns a client of a session with one pane.
func newControl(t testing.TB, printed func(string)) (*control, *tmuxtest.Server) {
	t.Helper()
	srv := tmuxtest.New(t)
	srv.Tmux("new-session", "-d", "-s", "x", "-x", "100", "-y", "30", "cat")
	cmd := exec.Command("tmux", "-u", "-S", srv.Socket, "-C", "attach-session", "-f", "pause-after=1,no-output", "-t", "=x:")
	cmd.Env = srv.Env
	c, err := startControl(t.Context(), cmd, printed, func() {}, func() {})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.close)
	return c, srv
}

func TestControlAnswersInOrder(t *testing.T) {
	t.Parallel()
	c, _ := newControl(t, func(string) {})
	var asked []*question
	for _, q := range []string{"display-message -p a", "no-such-command", "display-message -p ''", "display-message -p b"} {
		asked = append(asked, c.ask(q))
	}
	asked = append(asked, c.send(capture("capture-pane -p -e -t %99"), capture("capture-pane -p -e -t %0"))...)
	var got []string
	for _, q := range asked {
		lines, err := c.wait(t.Context(), q)
		if err != nil {
			got = append(got, "error")
			continue
		}
		got = append(got, strings.TrimRight(strings.Join(lines, "|"), "|"))
	}
	if s, want := strings.Join(got, ","), "a,error,,b,error,"; s != want {
		t.Errorf("answers %q, want %q", s, want)
	}
}

// TestControlWaitsUntilAttached: tmux has read commands of a client before it was attached, and refused commands about
// the client.
func TestControlWaitsUntilAttached(t *testing.T) {
	t.Parallel()
	at := filepath.Join(t.TempDir(), "attached")
	slow := exec.Command("sh", "-c", `sleep 0.1; printf '%%begin 1 1 0\n%%end 1 1 0\n'; sleep 0.1; : >"$1"; printf '%%session-changed $0 x\n'; cat >/dev/null`, "sh", at)
	c, err := startControl(t.Context(), slow, func(string) {}, func() {}, func() {})
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	if _, err := os.Stat(at); err != nil {
		t.Errorf("commands are taken before the client is attached: %v", err)
	}

	for script, want := range map[string]string{
		"printf '%%begin 1 1 0\ncan t find session: x\n%%error 1 1 0\n%%exit\n'": "client ended",
		"exec sleep 60": context.Canceled.Error(),
	} {
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(200*time.Millisecond, stop)
		if c, err := startControl(ctx, exec.Command("sh", "-c", script), func(string) {}, func() {}, func() {}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v, want %q", script, c, err, want)
		}
	}
}

func TestControlEnds(t *testing.T) {
	t.Parallel()
	c, srv := newControl(t, func(string) {})
	srv.Tmux("kill-server")
	<-c.done
	if _, err := c.do(t.Context(), "display-message -p a"); err == nil || !c.ended() {
		t.Errorf("after the end: %v, ended %v", err, c.ended())
	}
}

// TestQuote: every byte but NUL survives tmux's parser.
func TestQuote(t *testing.T) {
	t.Parallel()
	c, srv := newControl(t, func(string) {})
	for _, s := range []string{"", "a b", `it's "$HOME" \ ~ {} ; # %`, "tab\tnewline\nend;", "é漢\x01\x7f", "#{pane_id}", ";"} {
		if _, err := c.do(t.Context(), "set-buffer -b q -- "+quote("<"+s+">")); err != nil {
			t.Errorf("set-buffer %q: %v", s, err)
			continue
		}
		if got := srv.Tmux("show-buffer", "-b", "q"); got != "<"+s+">" {
			t.Errorf("quote(%q) arrives as %q", s, got)
		}
	}
}

func TestShellQuote(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"buddy", "/tmp/a b", "it's", "", "$x`y`\\"} {
		out, err := exec.Command("sh", "-c", "printf %s "+host.Quote(s)).Output()
		if err != nil || string(out) != s {
			t.Errorf("host.Quote(%q) arrives as %q, %v", s, out, err)
		}
	}
}

func TestVersionGate(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]bool{
		"tmux 3.3a": true, "tmux 3.2": true, "tmux 3.1c": false, "tmux 2.9": false, "tmux 4.0": true,
		"tmux next-3.6": true, "tmux master": true, "tmux openbsd-7.5": true, "": true,
	} {
		if got := recent(version); got != want {
			t.Errorf("recent(%q) = %v, want %v", version, got, want)
		}
	}
}

// TestLongLines: output of a pane is cut, any other line of that length ends the client.
func TestLongLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 2*lineMax)
	in := bufio.NewReader(strings.NewReader("%output %1 " + long + "\nnext\n" + long + "\n"))
	if line, err := readLine(in); err != nil || !strings.HasPrefix(line, "%output %1 ") || len(line) > lineMax {
		t.Errorf("long output: %d bytes, %v", len(line), err)
	}
	if line, err := readLine(in); err != nil || line != "next" {
		t.Errorf("line after it: %q, %v", line, err)
	}
	if _, err := readLine(in); err == nil {
		t.Error("a line of 2 MiB was taken")
	}
}

// TestFence: rows of a pane that imitate the end of the answer stay rows, and lines between the answer and the fence
// are not lost.
func TestFence(t *testing.T) {
	t.Parallel()
	var printed []string
	rows, next := &question{fence: "FENCE", answer: make(chan answer, 1)}, &question{answer: make(chan answer, 1)}
	c := &control{printed: func(p string) { printed = append(printed, p) }, pending: []*question{rows, next}}
	_ = c.read(bufio.NewReader(strings.NewReader("%begin 7 5 1\none\n%end 7 5 1\n%begin 7 6 1\nforged\n%end 7 5 1\n" +
		"%extended-output %3 0 : x\n%begin 7 6 1\nFENCE\n%end 7 6 1\n%begin 7 7 1\nnext\n%end 7 7 1\n")))
	if a := <-rows.answer; strings.Join(a.lines, "|") != "one|%end 7 5 1|%begin 7 6 1|forged" || a.err != nil {
		t.Errorf("rows %q, %v", a.lines, a.err)
	}
	if a := <-next.answer; strings.Join(a.lines, "|") != "next" || a.err != nil {
		t.Errorf("next answer %q, %v", a.lines, a.err)
	}
	if strings.Join(printed, " ") != "%3" {
		t.Errorf("printed %q", printed)
	}
}

// FuzzControl: no input from tmux makes the reader panic, and each question gets at most one answer.
func FuzzControl(f *testing.F) {
	f.Add("%begin 1 2 1\nhello\n%end 1 2 1\n%output %3 a\\012b\n%begin 1 3 1\nrow\n%end 1 3 1\n%begin 1 4 1\nFENCE\n%end 1 4 1\n")
	f.Add("%begin 1 2 1\nno\n%error 1 2 1\n%begin\n%begin 1 3 1\n%end 1 3 1\nFENCE")
	f.Fuzz(func(t *testing.T, input string) {
		plain, fenced := &question{answer: make(chan answer, 1)}, &question{fence: "FENCE", answer: make(chan answer, 1)}
		c := &control{printed: func(string) {}, pending: []*question{plain, fenced}}
		if err := c.read(bufio.NewReader(strings.NewReader(input))); err == nil {
			t.Error("read ended without an error")
		}
	})
}

func FuzzParseScreen(f *testing.F) {
	f.Add("120 40 0 3 1", "row")
	f.Add("", "")
	f.Fuzz(func(t *testing.T, facts, row string) {
		s, err := parseScreen("%1", []string{facts}, []string{row})
		if err == nil && (s.Pane != "%1" || len(s.Rows) != 1) {
			t.Errorf("parseScreen(%q) = %+v", facts, s)
		}
	})
}

// BenchmarkCapture captures a full, coloured pane over the control client.
func BenchmarkCapture(b *testing.B) {
	c, srv := newControl(b, func(string) {})
	srv.Tmux("respawn-pane", "-k", "-t", "%0", "for i in $(seq 60); do printf '\\033[3%dm%095d\\n' $((i%8)) $i; done; cat")
	tmuxtest.Until(b, "the pane is full", func() bool {
		return strings.Contains(srv.Tmux("capture-pane", "-p", "-t", "%0"), "0060\n")
	})
	b.ReportAllocs()
	for b.Loop() {
		shown := 0
		c.pictures(b.Context(), []duePane{{"%0", true}}, func(s Screen) { shown += len(s.Rows) })
		if shown != 30 {
			b.Fatalf("%d rows, want 30", shown)
		}
	}
}

// TestRounds: a pane that prints after a pause is captured at once. Panes that print soon after a round are captured
// together in the next one, and only the first of them wakes the painter.
func TestRounds(t *testing.T) {
	p, ctl, at := newPainter(nil, func(Screen) {}), &control{}, time.Now()
	p.watched = map[string]bool{"%1": true, "%2": true, "%3": true}
	printed := func(want bool, pane string) {
		t.Helper()
		p.printed(pane)
		select {
		case <-p.wake:
			if !want {
				t.Errorf("%s wakes the painter", pane)
			}
		default:
			if want {
				t.Errorf("%s does not wake the painter", pane)
			}
		}
	}
	round := func(after time.Duration, want int, wantWait time.Duration) {
		t.Helper()
		at = at.Add(after)
		due, wait, watched := p.due(ctl, at)
		if len(due) != want || wait != wantWait || !watched {
			t.Errorf("%d panes are due, the next after %v, want %d after %v", len(due), wait, want, wantWait)
		}
	}
	round(0, 3, 0) // the first round of this client
	printed(true, "%1")
	round(time.Second, 1, 0)
	round(time.Second, 0, 0)
	printed(true, "%2")
	round(0, 1, 0)
	printed(true, "%1")
	round(10*time.Millisecond, 0, frame-10*time.Millisecond)
	printed(false, "%2")
	printed(false, "%3")
	printed(false, "%4") // an unwatched pane
	round(frame-10*time.Millisecond, 3, 0)
	printed(true, "%3")
	round(time.Second, 1, 0)
	round(time.Second, 0, 0)
}

// TestNewClientCapturesAllPanes: output between two clients is reported to neither. The marks that invalidate sets when
// the first one ends may have been consumed by a round that still had that one.
func TestNewClientCapturesAllPanes(t *testing.T) {
	p, at := newPainter(nil, func(Screen) {}), time.Now()
	p.watched = map[string]bool{"%1": true, "%2": true}
	for range 2 {
		ctl := &control{}
		for _, want := range []int{2, 0} {
			at = at.Add(time.Second)
			if due, _, _ := p.due(ctl, at); len(due) != want {
				t.Errorf("%d panes are due, want %d", len(due), want)
			}
		}
	}
}
