package shell_test

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"buddy/agent/policy"
	"buddy/agent/policy/shell"
)

// env is the environment in which lines of the corpus are judged.
var env = shell.Env{Cwd: "/w", Home: "/home/ann", Secret: secretIn}

func secretIn(path string, glob bool) string {
	if glob {
		return policy.SecretPattern(path)
	}
	return policy.Secret(path)
}

// plainEnv returns env with a folder whose patterns match no critical names.
func plainEnv() shell.Env {
	e := env
	e.Match = func(string, string) ([]string, bool) { return nil, true }
	return e
}

// corpus returns the lines of a file. `\n`, `\r`, `\x00` and `\u…` stand for characters in
// lines that end with ` ## escaped`.
func corpus(tb testing.TB, file string) []string {
	tb.Helper()
	data, err := os.ReadFile("testdata/" + file)
	if err != nil {
		tb.Fatal(err)
	}
	var lines []string
	for l := range strings.SplitSeq(string(data), "\n") {
		if l == "" || strings.HasPrefix(l, "# ") {
			continue
		}
		if s, ok := strings.CutSuffix(l, " ## escaped"); ok {
			if l, err = strconv.Unquote(`"` + strings.ReplaceAll(s, `"`, `\"`) + `"`); err != nil {
				tb.Fatalf("%s: %q: %v", file, s, err)
			}
		}
		lines = append(lines, l)
	}
	return lines
}

// No command that changes something or reveals a secret is allowed.
func TestHostile(t *testing.T) {
	lines := corpus(t, "hostile.txt")
	for _, l := range lines {
		if r := shell.Analyse(l, env); r.ReadOnly || r.Reason == "" {
			t.Errorf("Analyse(%q) = read-only %v (%s), want not read-only with a reason", l, r.ReadOnly, r.Reason)
		}
	}
	if len(lines) < 400 {
		t.Errorf("%d lines", len(lines))
	}
}

// Commands whose changes the kernel prevents need no approval by the analysis; package confine runs these lines.
func TestKernelJudges(t *testing.T) {
	lines := corpus(t, "kernel.txt")
	for _, l := range lines {
		if r := shell.Analyse(l, env); !r.ReadOnly || r.Beyond == "" {
			t.Errorf("Analyse(%q) = read-only %v (%s), beyond %q; it belongs to hostile.txt", l, r.ReadOnly, r.Reason, r.Beyond)
		}
	}
	if len(lines) < 300 {
		t.Errorf("%d lines", len(lines))
	}
}

// Everyday commands need no approval.
func TestEveryday(t *testing.T) {
	lines := corpus(t, "everyday.txt")
	for _, l := range lines {
		if r := shell.Analyse(l, plainEnv()); !r.ReadOnly {
			t.Errorf("Analyse(%q) asks: %s", l, r.Reason)
		}
	}
	if len(lines) < 250 {
		t.Errorf("%d lines", len(lines))
	}
}

// Commands without a sane use are reported as harm, however they are wrapped; those that only
// look like it need approval.
func TestHarm(t *testing.T) {
	for _, l := range corpus(t, "harm.txt") {
		if r := shell.Analyse(l, env); r.Harm == "" || r.ReadOnly {
			t.Errorf("Analyse(%q) finds no harm: %s", l, r.Reason)
		}
	}
	for _, l := range []string{
		"rm -rf build", "rm -rf ./x", "rm -rf /tmp/x", "rm -rf ~/x", "rm -f /", "rm x", "dd if=/dev/sda of=img", "cp /dev/sda img", "systemctl restart nginx", "curl x | jq .",
		"curl x | python3 -m json.tool", "chmod -R 755 dist", "chmod 700 /", "shutdown -c", "find . -delete", "mkfs", "f() { ls; }; f", "echo 'rm -rf /'", "grep -r 'rm -rf /' .",
		"init 3", "systemctl status reboot.target", "man shutdown", "rm -rf /home/ann/w/build", "rm -rf $x", "tee x",
	} {
		if r := shell.Analyse(l, env); r.Harm != "" {
			t.Errorf("Analyse(%q) finds harm: %s", l, r.Harm)
		}
	}
}

// A read-only line is no longer read-only with something after, around or in it.
func TestMutations(t *testing.T) {
	mutations := []func(l string) string{
		func(l string) string { return l + "; touch x" },
		func(l string) string { return l + " | tee x" },
		func(l string) string { return l + " > x" },
		func(l string) string { return l + " >> x" },
		func(l string) string { return l + " 2> x" },
		func(l string) string { return l + " $(touch x)" },
		func(l string) string { return l + " \"$(touch x)\"" },
		func(l string) string { return l + " `touch x`" },
		func(l string) string { return l + "\ntouch x" },
		func(l string) string { return l + " & touch x" },
		func(l string) string { return l + " && touch x" },
		func(l string) string { return l + " || touch x" },
		func(l string) string { return l + " <(touch x)" },
		func(l string) string { return l + " >(touch x)" },
		func(l string) string { return l + "; env touch x" },
		func(l string) string { return l + " | xargs touch" },
		func(l string) string { return l + " | sh" },
		func(l string) string { return l + "\x00touch x" },
		func(l string) string { return l + "\rtouch x" },
		func(l string) string { return "env touch x; " + l },
		func(l string) string { return "touch x\n" + l },
		func(l string) string { return "$(touch x) " + l },
		func(l string) string { return "x=$(touch x) " + l },
		func(l string) string { return "LD_PRELOAD=./x " + l },
		func(l string) string { return "sudo " + l },
		func(l string) string { return "{ " + l + "\n}; touch x" },
		func(l string) string { return "(" + l + "\n) > x" },
		func(l string) string { return "if " + l + "\nthen touch x; fi" },
		func(l string) string { return "f() { " + l + "\n}; f" },
		func(l string) string { return "echo $(" + l + "\n touch x)" },
		func(l string) string { return l + "; " + l + "; rm -r x; " + l },
	}
	for _, l := range corpus(t, "everyday.txt") {
		if strings.Contains(l, "# ") || strings.Contains(l, "<< ") {
			continue // a comment or here-document absorbs the addition
		}
		for i, m := range mutations {
			if s := m(l); shell.Analyse(s, env).ReadOnly {
				t.Errorf("mutation %d: Analyse(%q) is read-only", i, s)
			}
		}
	}
}

// The report names every command, however it is run.
func TestReport(t *testing.T) {
	r := shell.Analyse(`ls a; sudo env timeout 9 sh -c 'git push "$x"' | xargs -n1 rm`, env)
	want := []string{"ls a via []", "sh -c git push \"$x\" via [sudo env timeout]", `git push "$x" via [sudo env timeout sh -c]`, "rm … via [xargs]"}
	var got []string
	for _, c := range r.Commands {
		got = append(got, fmt.Sprintf("%s via %v", c, c.Via))
	}
	if !slices.Equal(got, want) || !r.Dynamic {
		t.Errorf("commands %q, want %q", got, want)
	}
	if want := "sudo runs sh with elevated privileges"; r.Reason != want {
		t.Errorf("reason %q, want %q", r.Reason, want)
	}
}

// A link to a secret is treated as one, if links can be resolved.
func TestResolve(t *testing.T) {
	e := env
	e.Resolve = func(name string) string {
		if name = path.Clean(name); name == "/w/notes.txt" {
			return "/home/ann/.ssh/id_rsa"
		}
		return name
	}
	for line, want := range map[string]bool{"cat notes.txt": false, "cat ./x/../notes.txt": false, "cat < notes.txt": false, "cat a.txt": true} {
		if got := shell.Analyse(line, e).ReadOnly; got != want {
			t.Errorf("Analyse(%q).ReadOnly = %v, want %v", line, got, want)
		}
	}
}

func FuzzAnalyse(f *testing.F) {
	for _, l := range append(corpus(f, "everyday.txt"), corpus(f, "hostile.txt")...) {
		f.Add(l)
	}
	f.Fuzz(func(t *testing.T, text string) {
		start := time.Now()
		r := shell.Analyse(text, env)
		if r.Reason == "" {
			t.Errorf("Analyse(%q) has no reason", text)
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("Analyse(%q) took %v", text, took)
		}
		if r.ReadOnly && shell.Analyse(text+"\ntouch x", env).ReadOnly && !strings.Contains(text, "<<") &&
			!strings.HasSuffix(text, `\`) && !strings.Contains(text, "#") {
			t.Errorf("Analyse(%q) misses what follows", text)
		}
	})
}

// Programs that run others again and again end the analysis, not the session.
func TestNestedProgramsAreBounded(t *testing.T) {
	text := "rm x"
	for i := range 6 {
		run := strings.Repeat(`sh -c "$t"; `, 12)
		if i%2 == 1 {
			run = strings.Repeat(`echo "$t" > x; sh x; `, 12)
		}
		text = "t=" + quote(text) + "; " + run
	}
	start := time.Now()
	r := shell.Analyse(text, env)
	if took := time.Since(start); took > 5*time.Second || r.ReadOnly {
		t.Errorf("%d bytes took %v: read-only %v", len(text), took, r.ReadOnly)
	}
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func BenchmarkTypical(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		shell.Analyse(`grep -rn "func main" --include='*.go' . | head -20 && git log --oneline -5`, env)
	}
}

func BenchmarkMegabyte(b *testing.B) {
	text := strings.Repeat("ls; ", 1<<18)
	b.ReportAllocs()
	for b.Loop() {
		shell.Analyse(text, env)
	}
}

func BenchmarkLongest(b *testing.B) {
	text := strings.Repeat("ls -l x;", 490)
	b.ReportAllocs()
	for b.Loop() {
		shell.Analyse(text, env)
	}
}

// Lines that were once allowed by mistake need approval, for the right reason.
func TestMended(t *testing.T) {
	data, err := os.ReadFile("testdata/mended.txt")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for row := range strings.Lines(string(data)) {
		row = strings.TrimSuffix(row, "\n")
		if strings.HasPrefix(row, "# ") || row == "" {
			continue
		}
		line, why, ok := strings.Cut(row, "\t")
		if !ok || why == "" {
			t.Fatalf("no reason in %q", row)
		}
		if s, escaped := strings.CutSuffix(line, " ## escaped"); escaped {
			if line, err = strconv.Unquote(`"` + strings.ReplaceAll(s, `"`, `\"`) + `"`); err != nil {
				t.Fatalf("%q: %v", s, err)
			}
		}
		r := shell.Analyse(line, env)
		all := r.Reason + " " + strings.Join(r.Other, " ")
		if rows++; r.ReadOnly || !strings.Contains(all, why) {
			t.Errorf("Analyse(%q) = read-only %v (%s), want not read-only because of %q", line, r.ReadOnly, all, why)
		}
	}
	if rows < 60 {
		t.Errorf("%d rows", rows)
	}
}
