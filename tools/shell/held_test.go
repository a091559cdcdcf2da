package shell

import (
	"strings"
	"testing"

	"buddy/tmux"
	"buddy/tools"
)

// A cancelled command did not fail because of a sandbox.
func TestCancelledCommandIsNotExplained(t *testing.T) {
	for _, res := range []tmux.Result{{Confined: true}, {Fenced: true}} {
		res.Cancelled, res.ExitCode = true, 130
		if got := finished(res, nil, 100).Content; got != cancelled+"; exit code 130" {
			t.Errorf("%q", got)
		}
	}
}

// TestExplainConfined: the explanation of a failure in the sandbox has the sandbox's limits, the refused action, and
// how to run the command outside; a success has none.
func TestExplainConfined(t *testing.T) {
	for _, tt := range []struct {
		output string
		code   int
		want   []string
	}{
		{"fine", 0, nil},
		{"", 1, []string{"read-only sandbox", `"outside": true and why asks`}},
		{"a\ntouch: cannot touch 'x': Permission denied\nchmod: Operation not permitted", 1, []string{`"touch: cannot touch 'x': Permission denied", "chmod: Operation not permitted"`, "$TMPDIR"}},
		{"find: Permission denied", 0, []string{"find"}},
		{"a\ntouch: cannot touch 'x': Permission denied", 1, []string{"the read-only sandbox stopped it: it tried to write x:", `"outside": true and why asks`}},
		{"bash: line 1: cannot create temp file for here-document: Permission denied", 1, []string{"read-only sandbox"}},
		{"sed: couldn't open temporary file ./sedzX1: Permission denied", 4, []string{"it tried to write ./sedzX1:"}},
		{"sort: cannot create temporary file in '/work': Permission denied", 2, []string{"it tried to write /work:"}},
		{"rm: cannot remove 'a.go': Permission denied\nrm: cannot remove 'b.go': Permission denied", 1, []string{"it tried to write a.go, write b.go:"}},
		{"error: open(\".git/index.lock\"): Permission denied\nfatal: Unable to create '/w/.git/index.lock': Permission denied", 128, []string{"write /w/.git/index.lock"}},
		{"cat: .env: Permission denied", 1, []string{"it tried to read .env:"}},
		{"fatal: unable to access 'https://example.org/x/': Could not resolve host: example.org", 128, []string{"it tried to connect to example.org:"}},
		{"npm error request to https://r.example.org failed, reason: getaddrinfo EAI_AGAIN r.example.org", 1, []string{"it tried to connect to r.example.org:"}},
		{"curl: (7) Failed to connect: Network is unreachable", 7, []string{"it tried to connect to the network:"}},
		{"grep finds: getaddrinfo x", 0, nil},
	} {
		got := explainConfined(tt.output, tt.code)
		if len(tt.want) == 0 && got != "" {
			t.Errorf("%q: %q", tt.output, got)
		}
		for _, want := range tt.want {
			if !strings.Contains(got, want) {
				t.Errorf("%q, exit %d: %q lacks %q", tt.output, tt.code, got, want)
			}
		}
	}
	if got := explainConfined(strings.Repeat("x: Permission denied "+strings.Repeat("é", 500)+"\n", 50), 1); len(got) > 1500 || strings.Contains(got, "\ufffd") {
		t.Errorf("%d bytes", len(got))
	}
}

// TestOutside: the policy learns that a command runs outside the sandbox, by its argument or because it needs a
// terminal.
func TestOutside(t *testing.T) {
	shell := New(nil, nil, "local", "", nil)
	for extra, want := range map[string]bool{"": false, `,"outside":true`: true, `,"mode":"tty"`: true} {
		act, err := shell.Plan(tools.Call{Arguments: `{"command":"ls","why":"x","risk":"low","mutation":false,"privesc":false` + extra + `}`})
		if err != nil || act.Outside != want {
			t.Errorf("%s: %v, %v", extra, act.Outside, err)
		}
	}
}

// TestOutsideNeedsAReason: the person who is asked reads the reason. Without a sandbox no reason is needed.
func TestOutsideNeedsAReason(t *testing.T) {
	shell := New(nil, nil, "local", "", nil)
	plan := func(why string) error {
		_, err := shell.Plan(tools.Call{Arguments: `{"command":"ls","why":"` + why + `","outside":true}`})
		return err
	}
	if err := plan(""); err != nil {
		t.Errorf("without a fence: %v", err)
	}
	shell.Fence()
	if err := plan(" "); err == nil || !strings.Contains(err.Error(), "why:") {
		t.Errorf("without a reason: %v", err)
	}
	if err := plan("it publishes"); err != nil {
		t.Errorf("with a reason: %v", err)
	}
}

// TestExplainFenced: a failure in the sandbox is explained and quotes the likely messages; a success is not explained.
func TestExplainFenced(t *testing.T) {
	for output, want := range map[string]string{
		"curl: (6) Could not resolve host: example.com": "may be the reason for \"curl: (6) Could not resolve host",
		"touch: cannot touch '/x': Permission denied":   "may be the reason for \"touch:",
		"1 test failed": "If that is why it failed: the same call with \"outside\": true",
	} {
		if got := explainFenced(output, 1); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", output, got, want)
		}
		if got := explainFenced(output, 0); got != "" {
			t.Errorf("%s: success is explained: %q", output, got)
		}
	}
}
