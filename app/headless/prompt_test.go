package headless

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/app/input"
)

// Piped input belongs to the prompt; other stdin is not read.
func TestReadPrompt(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for _, tt := range []struct {
		name  string
		args  []string
		piped string // "none" is /dev/null
		want  string
		fault string
	}{
		{"argument alone", []string{"hello"}, "none", "hello", ""},
		{"argument and pipe", []string{"hello"}, "text\n", "hello\n\n<stdin>\ntext\n</stdin>", ""},
		{"an empty pipe", []string{"hello"}, " \n", "hello", ""},
		{"pipe alone", nil, "text\n", "text\n", ""},
		{"a dash", []string{"-"}, "text\n", "text\n", ""},
		{"not UTF-8", nil, "a\xffb", "a\uFFFDb", ""},
		{"nothing", nil, "none", "", "exec needs a PROMPT"},
		{"a dash and nothing", []string{"-"}, "none", "", "the prompt is empty"},
		{"an empty argument", []string{" "}, "text", "", "the prompt is empty"},
		{"too much", nil, strings.Repeat("x", input.MaxPrompt+1), "", "larger than 4 MiB"},
	} {
		stdin := null
		if tt.piped != "none" {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				_, _ = w.WriteString(tt.piped)
				_ = w.Close()
			}()
			defer r.Close()
			stdin = r
		}
		got, err := ReadPrompt(tt.args, stdin, nil, Options{}, os.Stderr)
		if got.text != tt.want && tt.fault == "" || (err == nil) != (tt.fault == "") || err != nil && !strings.Contains(err.Error(), tt.fault) {
			t.Errorf("%s: %q, %v, want %q, %q", tt.name, got.text, err, tt.want, tt.fault)
		}
	}
}

// A silent open pipe in addition to a prompt is not waited for; one that has started is, and so is one that is the
// prompt.
func TestSilentStdin(t *testing.T) {
	for _, tt := range []struct {
		name   string
		first  time.Duration // the delay of the first byte; 0 for never
		beside bool          // there is a prompt already
		want   string
		fault  error
	}{
		{"silent beside a prompt", 0, true, "", errSilent},
		{"begins in time and ends late", silence / 2, true, "text", nil},
		{"begins late beside a prompt", 2 * silence, true, "", errSilent},
		{"begins late and is the prompt", 100 * silence, false, "text", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, w := io.Pipe()
				defer time.Sleep(200 * silence) // of the test's clock: the writer ends
				defer r.Close()
				if tt.first > 0 {
					go func() {
						time.Sleep(tt.first)
						_, _ = io.WriteString(w, "te")
						time.Sleep(10 * silence)
						_, _ = io.WriteString(w, "xt")
						_ = w.Close()
					}()
				}
				var silent <-chan time.Time
				if tt.beside {
					silent = time.After(silence)
				}
				got, err := readStdin(r, nil, silent, io.Discard)
				if got != tt.want || !errors.Is(err, tt.fault) {
					t.Errorf("%q, %v, want %q, %v", got, err, tt.want, tt.fault)
				}
			})
		})
	}
}

// The message about a pipe that is not waited for is printed with --quiet, too: the pipe's text is lost.
func TestSilentStdinIsSaid(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	var said strings.Builder
	got, err := ReadPrompt([]string{"hello"}, r, nil, Options{Quiet: true}, &said)
	if got.text != "hello" || err != nil || !strings.Contains(said.String(), "no input on stdin within 1s: answering without it") {
		t.Errorf("%q, %v, said %q", got.text, err, said.String())
	}
}
