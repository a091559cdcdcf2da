package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"buddy/agent/model"
	"buddy/agent/model/modeltest"
	"buddy/tmux/tmuxtest"
	dialogs "buddy/views/dialog"
)

// terminal runs the real program on the full screen, in the test's own tmux.
type terminal struct {
	t     *testing.T
	srv   *tmuxtest.Server
	work  string
	bytes string // a file with everything that the program wrote to the terminal
}

// newTerminal starts buddy with a model that answers by the script, in a terminal of 100 columns and 30 rows.
func newTerminal(t *testing.T, script modeltest.Script) *terminal {
	t.Helper()
	path, err := exec.LookPath("buddy")
	if err != nil {
		t.Fatal(err)
	}
	x := &terminal{t: t, srv: tmuxtest.New(t)}
	x.work = filepath.Join(x.srv.Dir, "work")
	x.bytes = filepath.Join(x.srv.Dir, "bytes")
	home := filepath.Join(x.srv.Dir, "home")
	for _, dir := range []string{x.work, home} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	conf := "[models.test]\napi_base_url = \"" + modeltest.Start(t, script).URL + "\"\napi_key = \"\"\nmodel = \"test\"\ncontext_limit = 100000\n"
	file := filepath.Join(x.srv.Dir, "buddy.toml")
	if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	inner := filepath.Join(x.srv.Dir, "inner")
	t.Cleanup(func() {
		endHosts(x.work) // first: a host would start another server
		kill := exec.Command("tmux", "-S", inner, "kill-server")
		kill.Env = x.srv.Env
		_ = kill.Run() // the program may have ended it
	})
	x.srv.Tmux("new-session", "-d", "-s", "t", "-x", "100", "-y", "30", "-c", x.work,
		"-e", "HOME="+home, "-e", "XDG_CONFIG_HOME="+home+"/.config", "-e", "XDG_STATE_HOME="+home+"/.local/state",
		"-e", "XDG_RUNTIME_DIR="+x.srv.Dir, "-e", "BUDDY_TMUX_SOCKET="+inner, "-e", "COLORTERM=truecolor",
		// The program waits for the pipe, and the screen stays visible after its end.
		"cat >/dev/null; env -u TMUX -u TMUX_PANE '"+path+"' --config '"+file+"'; echo ended $?; exec sleep 1000")
	x.srv.Tmux("set-option", "-s", "set-clipboard", "on")
	x.srv.Tmux("pipe-pane", "-o", "cat >"+x.bytes)
	x.keys("C-d")
	x.want("● test", "F1 help")
	return x
}

// endHosts kills the processes that run sessions in a folder, which a failed test leaves.
func endHosts(work string) {
	files, _ := filepath.Glob(filepath.Join(work, ".buddyx/sessions/*.pid"))
	for _, file := range files {
		text, _ := os.ReadFile(file)
		pid := strings.TrimSpace(string(text))
		argv, _ := os.ReadFile(filepath.Join("/proc", pid, "cmdline")) // the pid may be another process's by now
		if n, err := strconv.Atoi(pid); err == nil && bytes.Contains(argv, []byte("buddy\x00host\x00")) {
			_ = syscall.Kill(n, syscall.SIGKILL)
		}
	}
}

func (x *terminal) keys(keys ...string) {
	x.t.Helper()
	x.srv.Tmux(append([]string{"send-keys", "-t", "t"}, keys...)...)
}

// rests waits until nothing runs. First wait for a text that shows that the work has started.
func (x *terminal) rests() {
	x.t.Helper()
	x.gone(`Ctrl+\ detach`)
}

// quit ends the program. Nothing may run that it would ask about.
func (x *terminal) quit() {
	x.t.Helper()
	x.rests()
	x.keys("C-c")
	x.want("again to quit")
	x.keys("C-c")
	x.want("ended 0")
}

// send types a prompt and sends it.
func (x *terminal) send(text string) {
	x.t.Helper()
	x.srv.Tmux("send-keys", "-t", "t", "-l", text)
	x.want(text)
	x.keys("Enter")
}

func (x *terminal) screen() string {
	x.t.Helper()
	return x.srv.Tmux("capture-pane", "-p", "-t", "t")
}

// want waits until all of the texts are on the screen.
func (x *terminal) want(texts ...string) {
	x.t.Helper()
	x.until(texts, true)
}

// gone waits until none of the texts is on the screen.
func (x *terminal) gone(texts ...string) {
	x.t.Helper()
	x.until(texts, false)
}

func (x *terminal) until(texts []string, there bool) {
	x.t.Helper()
	var screen string
	for end := time.Now().Add(time.Minute); ; {
		screen = x.screen()
		wrong := ""
		for _, text := range texts {
			if strings.Contains(screen, text) != there {
				wrong = text
			}
		}
		if wrong == "" {
			return
		}
		if time.Now().After(end) {
			x.t.Fatalf("%q on the screen: want %v\n%s", wrong, there, screen)
		}
		<-time.After(5 * time.Millisecond)
	}
}

// wantText waits until the conversation, whose lines may be broken between any words, contains all of the texts.
func (x *terminal) wantText(texts ...string) {
	x.t.Helper()
	for end := time.Now().Add(time.Minute); ; <-time.After(5 * time.Millisecond) {
		screen := x.screen()
		var words []string
		for line := range strings.Lines(screen) {
			text, _, _ := strings.Cut(line, "│")
			words = append(words, strings.Fields(text)...)
		}
		said := strings.Join(words, " ")
		i := slices.IndexFunc(texts, func(text string) bool { return !strings.Contains(said, text) })
		if i < 0 {
			return
		}
		if time.Now().After(end) {
			x.t.Fatalf("%q is not said\n%s", texts[i], screen)
		}
	}
}

// written returns what the program wrote to the terminal.
func (x *terminal) written() []byte {
	x.t.Helper()
	b, err := os.ReadFile(x.bytes)
	if err != nil {
		x.t.Fatal(err)
	}
	return b
}

// clipboard waits until the terminal's clipboard holds a text.
func (x *terminal) clipboard(want string) {
	x.t.Helper()
	tmuxtest.Until(x.t, "the clipboard has "+want, func() bool {
		return strings.Contains(x.srv.Tmux("list-buffers", "-F", "#{buffer_sample}"), want)
	})
}

// shellCall returns a call of run_shell that needs approval.
func shellCall(id, command string) modeltest.Call {
	args, _ := json.Marshal(map[string]any{"command": command, "why": "to test", "risk": "medium", "mutation": true, "privesc": false})
	return modeltest.Call{ID: id, Name: "run_shell", Arguments: string(args)}
}

// lastOf returns the content of the newest message with a role.
func lastOf(req modeltest.Request, role model.Role) string {
	for _, m := range slices.Backward(req.Messages) {
		if m.Role == role && (role != model.User || promptIn(m.Content) != "") {
			return m.Content
		}
	}
	return ""
}

// TestTerminal goes through a first session with the real program in a real terminal: start, stream, approve, deny,
// search, copy, resize, sessions, quit.
func TestTerminal(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	x := newTerminal(t, func(req modeltest.Request) modeltest.Answer {
		if last := lastMessage(req); last.Role == model.Tool {
			return modeltest.Answer{modeltest.Text("The tool said: " + strings.Join(strings.Fields(last.Content), " "))}
		}
		id := "c" + string(rune('0'+calls.Add(1)))
		switch prompt := lastOf(req, model.User); {
		case strings.Contains(prompt, "stream"):
			return modeltest.Answer{
				modeltest.Chunks{Bytes: 4, Every: 2 * time.Millisecond},
				modeltest.Text("# The plan\n\nFirst the **needle**, then\n\n```go\nfunc main() { println(\"copy me\") }\n```\n\n" + manyLines(30) + "and the last word."),
			}
		case strings.Contains(prompt, "write"):
			return modeltest.Answer{modeltest.Text("I will."), shellCall(id, "mkdir made && echo it is made")}
		case strings.Contains(prompt, "remove"):
			return modeltest.Answer{modeltest.Text("I would."), shellCall(id, "rm -r made")}
		}
		return modeltest.Answer{modeltest.Text("Yes?")}
	})

	x.send("stream an answer")
	x.want("and the last word.")
	x.send("write a folder")
	x.want("mkdir made && echo it is made", "Run this command?")
	if _, err := os.Stat(filepath.Join(x.work, "made")); err == nil {
		t.Fatal("the command ran before it was approved")
	}
	<-time.After(approvalGrace)
	x.keys("y")
	x.want("The tool said:", "it is made")
	if _, err := os.Stat(filepath.Join(x.work, "made")); err != nil {
		t.Error(err)
	}
	x.send("remove it")
	x.want("rm -r made", "Run this command?")
	<-time.After(approvalGrace)
	x.keys("n")
	x.want("denied")
	x.gone("Run this command?")
	if _, err := os.Stat(filepath.Join(x.work, "made")); err != nil {
		t.Errorf("the denied command ran: %v", err)
	}

	// Search and copy, with the keys of the conversation.
	x.send("/find needle")
	x.want("First the needle", "1 of 1")
	x.keys("Escape") // ends the search, and returns to the prompt
	x.gone("1 of 1") // a key right after Esc would count as an Alt key
	x.want("Enter send")
	x.send("/copy")
	x.clipboard("The tool said:")

	// A smaller terminal and back, many times.
	for range 10 {
		x.srv.Tmux("resize-window", "-t", "t", "-x", "42", "-y", "12")
		x.srv.Tmux("resize-window", "-t", "t", "-x", "100", "-y", "30")
	}
	x.want("F1 help")
	x.keys("F1")
	x.want("Alt+Enter", "Esc closes")
	x.keys("F1")
	x.gone("Esc closes")

	// A new conversation, and the end.
	x.send("/clear")
	x.gone("The tool said:")
	x.send("hello")
	x.want("Yes?")
	x.rests()
	x.quit()
	back := func() int { return bytes.Count(x.written(), []byte("\x1b[?1049l")) }
	tmuxtest.Until(t, "the end is in the file", func() bool { return back() > 0 })
	if n := back(); n != 1 {
		t.Errorf("the terminal was given back %d times: the screen flickers between sessions", n)
	}
}

// approvalGrace exceeds the time without a key after which a dialog accepts keys.
const approvalGrace = dialogs.Pause + 500*time.Millisecond

// hostile is text with escape sequences that would affect an unprotected terminal.
const hostile = "before\x1b]52;c;SE9TVElMRQ==\x07\x1b]0;HOSTILE\x07\x1b]2;HOSTILE\x1b\\\x1bPqHOSTILE\x1b\\\x1b_GHOSTILE\x1b\\" +
	"\x1b[31337;1H\x1b[?31337h\x1b[31337t\x1bc\x1b(0\u009d0;HOSTILE\u009c\u009b31337m\x05\x07\x0e\u202eHOSTILE\u2066\r\b\x7fafter"

// TestTerminalBytes: no control sequence of a model or a command reaches the terminal: each written one is on the list
// of ours.
func TestTerminalBytes(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	x := newTerminal(t, func(req modeltest.Request) modeltest.Answer {
		if lastMessage(req).Role == model.Tool {
			return modeltest.Answer{modeltest.Text("That was " + hostile + " [link " + hostile + "](http://x/" + hostile + ") `" + hostile + "`\n\n```" + hostile + "\n" + hostile + "\n```\n\nall seen")}
		}
		if calls.Add(1) == 1 {
			return modeltest.Answer{modeltest.Reasoning{Text: hostile}, modeltest.Text(hostile), shellCall("c1", "cat hostile; touch '"+hostile+"'; ls; printf '"+hostile+"' >&2")}
		}
		return modeltest.Answer{modeltest.Text("done")}
	})
	if err := os.WriteFile(filepath.Join(x.work, "hostile"), []byte(hostile+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	x.send("do your worst")
	x.want("Run this command?")
	<-time.After(approvalGrace)
	x.keys("y")
	x.want("all seen")
	<-time.After(approvalGrace)
	x.keys("Tab", "Tab") // through the panes, which redraws each
	x.want("Enter open")
	x.keys("C-l")
	x.keys("Escape")
	x.want("Enter send") // a key right after Esc would count as an Alt key
	x.rests()
	x.send("/ps")
	x.want("Nothing is running.")
	x.keys("C-c") // closes the list
	x.quit()
	written := x.written()
	if n := len(written); n < 10_000 {
		t.Errorf("only %d bytes were written: the pipe did not see the program", n)
	}
	for _, odd := range oddSequences(written) {
		t.Errorf("%q reached the terminal", odd)
	}
	if got := x.srv.Tmux("list-buffers"); got != "" {
		t.Errorf("somebody else wrote to the clipboard: %s", got)
	}
}

// ours matches the sequences that the program writes.
var ours = regexp.MustCompile(`^(?:` + strings.Join([]string{
	`\x1b\[[0-9;:]*m`,                   // colours
	`\x1b\[[0-9]{0,3}(?:;[0-9]{1,3})?H`, // the cursor
	`\x1b\[[0-9]{0,3}[ABCDGdJKLMPSTX@]`, // small moves, erasing
	`\x1b\[(?:[0-9]{1,3};[0-9]{1,3})?r`, // the scroll region
	`\x1b\[\?(?:1|7|12|25|47|1000|1002|1003|1004|1006|1049|2004|2026|2031|9001)[hl]`, // modes
	`\x1b\[(?:[0-6] q|34[hl])`,                  // the cursor's shape
	`\x1b\[[<>=?]?[0-9;]*[uc]`,                  // the keyboard's protocol, the terminal's type
	`\x1b\[[?>][0-9;]*[mnp]`,                    // key modifiers, queries
	`\x1b\[\?[0-9]+\$p`,                         // queries
	`\x1b\[(?:2[23](?:;[0-2])*|>2)t`,            // saves and restores the title
	`\x1b[=>78]`,                                // the keypad, the cursor
	`\x1b[()][B0]`,                              // character sets, which we reset
	`\x1b\]8;[^\x07\x1b]*(?:\x07|\x1b\\)`,       // links
	`\x1b\]0?[0-2];[^\x07\x1b]*(?:\x07|\x1b\\)`, // the title
	`\x1b\](?:9|777|11|10|110|111|112|12);[^\x07\x1b]*(?:\x07|\x1b\\)`,
	`[\r\n\t\x08\x0f\x07]`,
}, `|`) + `)`)

// oddSequences returns the sequences that are not on the list, and listed ones with contents of the hostile text.
func oddSequences(b []byte) []string {
	var odd []string
	for len(b) > 0 && len(odd) < 10 {
		if b[0] >= 0x20 && b[0] != 0x7f {
			n := 1
			if b[0] == 0xc2 && len(b) > 1 && b[1] >= 0x80 && b[1] < 0xa0 { // C1 as UTF-8
				odd = append(odd, string(b[:min(len(b), 30)]))
			}
			b = b[n:]
			continue
		}
		seq := ours.Find(b)
		if len(seq) == 0 {
			odd = append(odd, string(b[:min(len(b), 30)]))
			b = b[1:]
			continue
		}
		if s := string(seq); strings.Contains(s, "HOSTILE") || strings.Contains(s, "31337") {
			odd = append(odd, s)
		}
		b = b[len(seq):]
	}
	return odd
}

// manyLines returns n different paragraphs, because an answer that repeats itself is cut off.
func manyLines(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "line %d of the answer\n\n", i)
	}
	return text.String()
}
