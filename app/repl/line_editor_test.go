package repl

import (
	"errors"
	"io"
	"strings"
	"testing"

	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/slash"
	"buddy/extensions/workflow"
	"buddy/views/edit"
)

// typeAll applies a terminal's bytes until the line is done.
func typeAll(t *lineEditor, keys string) (done bool, err error) {
	for p := []byte(keys); ; {
		k, n := decode(p)
		if p = p[n:]; n == 0 {
			return false, nil
		}
		if k.paste != "" {
			t.editor.Paste(k.paste)
		}
		if k.key == nil {
			continue
		}
		if done, _, err = t.key(k.key); done {
			return true, err
		}
	}
}

func TestTyping(t *testing.T) {
	for _, tt := range []struct {
		name, keys, want string
		done             bool
		err              error
	}{
		{"a line", "hello\r", "hello", true, nil},
		{"wide characters", "日本語\x7f\x1b[DX", "日X本", false, nil},
		{"arrows of both kinds", "abc\x1b[D\x1bODx\x1b[Hy\x1b[Fz", "yaxbcz", false, nil},
		{"control keys", "one two\x17three\x01_\x05!", "_one three!", false, nil},
		{"words", "one two\x1b[1;5Dx\x1bby", "one yxtwo", false, nil},
		{"delete", "abc\x1b[D\x1b[3~", "ab", false, nil},
		{"cut and insert", "abc\x15\x19\x19", "abcabc", false, nil},
		{"a new line", "a\x1b\rb\nc\r", "a\nb\nc", true, nil},
		{"pasted", "\x1b[200~a\r\nb\tc\x03\x1b[201~d\r", "a\nb\tc\x03d", true, nil},
		{"pasted, and not all here", "\x1b[200~abc", "", false, nil},
		{"earlier", "\x1b[A\x1b[A", "first", false, nil},
		{"earlier and back", "dra\x1b[A\x1b[A\x1b[A\x1b[B\x1b[Bft", "draft", false, nil},
		{"interrupt", "abc\x03", "abc", true, errInterrupt},
		{"the end", "\x04", "", true, io.EOF},
		{"not the end", "a\x04", "a", false, nil},
		{"half a character", "a\xe6\x97", "a", false, nil},
		{"not a character", "a\xffb", "ab", false, nil},
		{"unknown sequences", "a\x1b[15~\x1b[?1;2c\x1b[Zb\x1b\x1b[Dc", "acb", false, nil},
		{"answers of the terminal", "a\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\b\x1b]10;rgb:0/0/0\a\x1bP>|xterm\x1b\\\x1b_Gi=1;OK\x1b\\c\x1b[?62;22cd", "abcd", false, nil},
		{"half an answer", "a\x1b]11;rgb:0\r", "a", true, nil},
		{"a key in place of one", "a\x1b]b\x1b_c", "abc", false, nil},
		{"complete", "/stat\t", "/status ", false, nil},
		{"complete nothing", "x\t", "x", false, nil},
		{"complete a workflow", "/workflow dep\tver\t", "/workflow deploy version=", false, nil},
		{"complete an input that is left", "/workflow run deploy version=1 \t", "/workflow run deploy version=1 to=", false, nil},
		{"complete a verb", "/workflow resu\t", "/workflow resume ", false, nil},
		{"no workflow elsewhere", "say dep\t", "say dep", false, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := &lineEditor{keys: keymap.Default(), editor: edit.New(), prompt: "> ", earlier: []string{"first", "second"}}
			w := workflow.Workflow{Inputs: []workflow.Input{{Name: "version"}, {Name: "to"}}}
			w.Name = "deploy"
			from := completions{custom: func() []event.CustomCommand { return nil }, offers: slash.Offers{Workflows: func() []workflow.Workflow { return []workflow.Workflow{w} }}}
			l.complete = func(word, before string) (string, []string) { return completeWord(from, word, before) }
			done, err := typeAll(l, tt.keys)
			if got := l.editor.Text(); got != tt.want || done != tt.done || !errors.Is(err, tt.err) {
				t.Errorf("text %q, done %v, %v; want %q, %v, %v", got, done, err, tt.want, tt.done, tt.err)
			}
		})
	}
}

func TestTypingRow(t *testing.T) {
	l := &lineEditor{keys: keymap.Default(), editor: edit.New(), prompt: "> "}
	_, _ = typeAll(l, "日本\x1b[D")
	if got, want := l.row(20), "\r> 日本\x1b[K\r\x1b[4C"; got != want {
		t.Errorf("row = %q, want %q", got, want)
	}
	if got, want := l.finished(20), "\r\x1b[K> 日本\r\n"; got != want {
		t.Errorf("finished = %q, want %q", got, want)
	}
}

// Whatever a terminal sends, decoding makes progress and uses only existing bytes.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{"a\r", "\x1b[1;5D", "\x1b[200~x\x1b[201~", "\x1bOA", "\x1b\x1b", "日", "\xff"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		for len(p) > 0 {
			_, n := decode(p)
			if n < 0 || n > len(p) {
				t.Fatalf("decode(%q) took %d of %d bytes", p, n, len(p))
			}
			if n == 0 {
				if len(p) > maxAnswer && !strings.HasPrefix(string(p), string(pasteBegin)) {
					t.Fatalf("decode(%q) waits", p)
				}
				return
			}
			p = p[n:]
		}
	})
}
