package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"buddy/tmux/tmuxtest"
)

// bytesOf runs buddy's full screen on a terminal whose every byte the test writes. The editor leaves a file.
func bytesOf(t *testing.T, env ...string) *dialog {
	t.Helper()
	d := newDialog(t, "xterm-256color")
	d.cmd.Env = append(append(d.cmd.Env, "EDITOR=touch "+filepath.Join(d.work, "edited")+"; true", "VISUAL="), env...)
	d.start()
	d.want("Ask anything")
	return d
}

// prompts returns the prompts that the model got, without reminders.
func (d *dialog) prompts() (all []string) {
	for _, r := range d.server.Requests() {
		if r.Model == "test" {
			all = append(all, promptIn(unreminded(lastMessage(r).Content)))
		}
	}
	return all
}

// sends waits until the model has got one more prompt, and checks it.
func (d *dialog) sends(had int, want string) {
	d.t.Helper()
	tmuxtest.Until(d.t, fmt.Sprintf("prompt %d", had+1), func() bool { return len(d.prompts()) > had })
	if got := d.prompts()[had]; got != want {
		d.t.Errorf("sent %q, want %q", got, want)
	}
	if _, err := os.Stat(filepath.Join(d.work, "edited")); err == nil {
		d.t.Fatal("the editor was opened")
	}
}

// Bytes of the terminal become the prompt: text that nobody typed is not in it, and pasted text runs nothing.
func TestBytesOfTheTerminal(t *testing.T) {
	d := bytesOf(t)
	for i, tt := range []struct {
		name, want, shows string
		writes            []string // with pauses between them
	}{
		{"two colours", "AABB", "", []string{"AA", "\x1b]10;rgb:e4e4/e4e4/e4e4\x1b\\\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\", "BB"}},
		{"two colours with BEL", "AABB", "", []string{"AA", "\x1b]10;rgb:e4e4/e4e4/e4e4\a\x1b]11;rgb:1e1e/1e1e/1e1e\a", "BB"}},
		{"an answer in three reads", "AABB", "", []string{"AA", "\x1b]11;rgb:1e1e", "/1e1e/1e1e\x1b", "\\", "BB"}},
		{"the name of the terminal", "AABB", "", []string{"AA", "\x1bP>|iTerm2 3.5.0\x1b\\", "BB"}},
		{"graphics, a private message and a string", "AABB", "", []string{"AA", "\x1b_Gi=31;OK\x1b\\\x1b^private\x1b\\\x1bXstring\x1b\\", "BB"}},
		{"reports", "AABB", "", []string{"AA", "\x1b[?62;22;52c\x1b[12;40R\x1b[?2026;2$y\x1b[?2;0;800;600S", "BB"}},
		{"Esc is a key after them", "AABB", "", []string{"AA", "\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\\x1b", "BB"}},
		{"a backslash before Enter", "one\ntwo", "", []string{"one\\", "\r", "two"}},
		{"a paste without marks", "echo a\necho b\necho c", "echo c", []string{"echo a\recho b\recho c"}},
		{"a pasted !", " !touch ran", "touch ran", []string{"\x1b[200~!touch ran\x1b[201~"}},
		{"a pasted ! without marks", " !touch ran\n!touch ran", "touch ran", []string{"!touch ran\r!touch ran"}},
	} {
		for _, p := range tt.writes {
			d.types(p)
			time.Sleep(150 * time.Millisecond) // a person
		}
		if tt.shows != "" { // an Enter that arrives with a paste is part of it
			d.want(tt.shows)
		}
		d.types("\r")
		d.t.Log(tt.name)
		d.sends(i, tt.want)
		// A redraw may not write the answer: where the screen scrolls, an equal one was there before.
		tmuxtest.Until(t, "the answer is complete", func() bool { return strings.Count(d.journal(), `"task.finished"`) > i })
	}
	d.absent("ran")
}

// An hour, compressed to a few seconds, in a terminal that answers every query twice: at any moment, in any number of
// reads.
func TestTerminalThatAnswersTwice(t *testing.T) {
	answers := []string{
		"\x1b]10;rgb:e4e4/e4e4/e4e4\x1b\\", "\x1b]11;rgb:1e1e/1e1e/1e1e\a", "\x1b]4;1;rgb:cd/00/00\x1b\\", "\x1b]52;c;aGVsbG8=\a", "\x1b]lbash: ~/src\x1b\\",
		"\x1b[?62;22;52c", "\x1b[>41;354;0c", "\x1bP>|iTerm2 3.5.0\x1b\\", "\x1bP1+r544e=787465726d\x1b\\", "\x1bP1$r0m\x1b\\", "\x1b_Gi=31;OK\x1b\\",
		"\x1b[12;40R", "\x1b[0n", "\x1b[?997;1n", "\x1b[?1u", "\x1b[?2026;2$y", "\x1b[8;36;120t", "\x1b[?2;0;800;600S", "\x1b[M !!",
	}
	random := rand.New(rand.NewPCG(51, 2))
	d := bytesOf(t)
	for exchange := range 3 {
		typed := ""
		for range 40 {
			for range 25 {
				answer := answers[random.IntN(len(answers))]
				// The cut is never right after the ESC: with a pause that would be the Esc key. Testing it takes a fake
				// clock, because pauses on this machine are random.
				cut := 3 + random.IntN(len(answer)-2)
				d.types(answer + answer[:cut])
				if random.IntN(20) == 0 {
					time.Sleep(time.Duration(random.IntN(30)) * time.Millisecond)
				}
				d.types(answer[cut:])
			}
			key := string(rune('a' + random.IntN(26)))
			typed += key
			d.types(key)
		}
		time.Sleep(150 * time.Millisecond) // as long as a person takes
		d.types("\r")
		d.sends(exchange, typed)
		d.want("You said")
	}
}

// [ui] mouse = false leaves the mouse to the terminal, from the moment that it is written; COLORFGBG announces a light
// background to a theme that follows the terminal.
func TestMouseAndBackgroundOfTheTerminal(t *testing.T) {
	const mouseOn, lightText = "\x1b[?1002h", "38;2;106;115;125"
	d := bytesOf(t, "COLORTERM=truecolor", "COLORFGBG=15;0")
	if text := d.printed(); !strings.Contains(text, mouseOn) || strings.Contains(text, lightText) {
		t.Errorf("no mouse, or light colours: %q", text)
	}
	d = bytesOf(t, "COLORTERM=truecolor", "COLORFGBG=0;default;15")
	if text := d.printed(); !strings.Contains(text, lightText) {
		t.Errorf("no light colours: %q", text)
	}
	path := filepath.Join(d.work, "home/.config/buddy/buddy.toml")
	settings, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append([]byte("[ui]\nmouse = false\n"), settings...), 0o600); err != nil {
		t.Fatal(err)
	}
	d.want("\x1b[?1002l")
	other := d.another()
	other.want("Ask anything")
	if text := other.printed(); strings.Contains(text, mouseOn) {
		t.Errorf("the mouse is taken: %q", text)
	}
}
