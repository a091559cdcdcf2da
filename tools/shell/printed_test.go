package shell

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"buddy/texts/ansi/ansitest"
	"buddy/tmux"
	"buddy/tmux/tmuxtest"
	"buddy/tools"
)

// TestTextIsWhatATerminalShows: the text of output with progress bars has the rows of a terminal's screen.
func TestTextIsWhatATerminalShows(t *testing.T) {
	const rows, runs = 190, 60
	srv := tmuxtest.New(t)
	r := rand.New(rand.NewPCG(3, 4))
	var sent [runs][]byte
	for i := range sent {
		sent[i] = ansitest.Progress(r, 10+r.IntN(rows-10))
		if err := os.WriteFile(filepath.Join(srv.Dir, fmt.Sprint(i)), sent[i], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	script := fmt.Sprintf(`stty -echo; i=0; while [ $i -lt %d ]; do printf '\033c'; cat '%s/'$i; printf '\033]2;shown-%%d\007' $i; read x; i=$((i+1)); done`, runs, srv.Dir)
	srv.Tmux("new-session", "-d", "-s", "t", "-x", "500", "-y", "200", script)
	for i := range sent {
		tmuxtest.Until(t, fmt.Sprintf("output %d is shown", i), func() bool {
			return srv.Tmux("display-message", "-p", "-t", "t:", "#{pane_title}") == fmt.Sprintf("shown-%d", i)
		})
		want := trimmed(srv.Tmux("capture-pane", "-p", "-t", "t:"))
		got, _ := printedOf(sent[i]).edges(1 << 20)
		if got = trimmed(expanded(got)); got != want {
			t.Fatalf("output %d:\n%s\nthe terminal shows:\n%s\nof %q", i, got, want, sent[i])
		}
		srv.Tmux("send-keys", "-t", "t:", "Enter")
	}
}

// printedOf returns the text of output.
func printedOf(sent []byte) *printed {
	p := newPrinted(1<<19, 1<<20)
	p.write(sent)
	p.screen.Close()
	return p
}

// expanded replaces tabs by the spaces that a terminal shows.
func expanded(text string) string {
	var out strings.Builder
	column := 0
	for _, r := range text {
		switch r {
		case '\t':
			n := 8 - column%8
			out.WriteString(strings.Repeat(" ", n))
			column += n
			continue
		case '\n':
			column = 0
		case '\u0301': // a mark
		default:
			column++
		}
		out.WriteRune(r)
	}
	return out.String()
}

// trimmed removes spaces at the end of lines, and empty lines at the end.
func trimmed(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// bars prints 600 states of two progress bars, with an error among them, and colours.
const bars = `i=0; printf 'a\nb\n'; while [ $i -lt 600 ]; do i=$((i+1)); printf '\033[2A\r\033[2K\033[32ma: %d/600 [##########          ]\033[0m\n\033[2K\033[33mb: %d/600\033[0m\n' $i $i
[ $i != 300 ] || printf 'npm error: no such package\na\nb\n'; done; echo done`

// TestFramesCollapse: of repeatedly drawn output the model and the screen get the last state, and all other output in
// between; the file has every byte.
func TestFramesCollapse(t *testing.T) {
	tool := shellTool(t, nil)
	want := "a: 300/600 [##########          ]\nb: 300/600\nnpm error: no such package\na: 600/600 [##########          ]\nb: 600/600\ndone\n"
	for _, tt := range []struct{ name, command, mode, stream string }{
		{"stdout", bars, "cap", "out"},
		{"stderr", "exec >&2; " + bars, "cap", "err"},
		{"both in one", "exec >&2; " + bars, "merge", "out"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			call := shellCall(t, tt.command, tt.mode)
			r := tool.Run(t.Context(), call)
			if r.Content != want || r.Tail != want {
				t.Errorf("result %q, for the screen %q", r.Content, r.Tail)
			}
			file := filepath.Join(call.Dir, tt.stream)
			raw, err := os.ReadFile(file)
			if err != nil || strings.Count(string(raw), "\x1b[2A") != 600 || strings.Count(string(raw), "\x1b[32m") != 600 {
				t.Errorf("the file has %d bytes, %v", len(raw), err)
			}
			if r.Full == nil || r.Full.Path != file || r.Full.Bytes != int64(len(raw)) || r.Full.Text != int64(len(want)) {
				t.Errorf("full %+v, want %d bytes", r.Full, len(raw))
			}
		})
	}
}

// TestFramesOfATask: the text of a running command is also what a terminal shows.
func TestFramesOfATask(t *testing.T) {
	out := newOutputTail(nil, 4000)
	for i := range 2000 {
		text := fmt.Sprintf("\r\x1b[K\x1b[32m%d of 2000 %s\x1b[0m", i, strings.Repeat("#", 40))
		if i == 7 {
			text += "\nwarning: slow\n"
		}
		out.write("stdout", []byte(text), 0)
	}
	if got, _ := out.text(4000); got != "7 of 2000 "+strings.Repeat("#", 40)+"\nwarning: slow\n1999 of 2000 "+strings.Repeat("#", 40) {
		t.Errorf("%q", got)
	}
}

// TestColoursDoNotCount: the limit applies to text without colours; on the screen colours are kept where nothing was
// overwritten.
func TestColoursDoNotCount(t *testing.T) {
	line := "\x1b[1;38;2;100;100;100mx\x1b[0m\x1b[K\n"
	c := tmux.Captured{Head: []byte(strings.Repeat(line, 1000)), Total: int64(1000 * len(line))}
	r := finished(tmux.Result{Stdout: c}, nil, 2000)
	if want := strings.Repeat("x\n", 1000); r.Content != want {
		t.Errorf("%d bytes: %.100q", len(r.Content), r.Content)
	}
	if r.Tail != tools.End(string(c.Head)) {
		t.Errorf("the screen gets %.100q", r.Tail)
	}
}
