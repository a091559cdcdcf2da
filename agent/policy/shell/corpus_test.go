package shell_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"buddy/agent/policy"
	"buddy/agent/policy/shell"
)

// env is what the lines of the corpus are judged in.
var env = shell.Env{Cwd: "/w", Home: "/home/ann", Secret: policy.SecretIn}

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

// F05, F13: nothing that changes something or shows a secret is allowed.
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

// F05: what people run all day is not asked about.
func TestEveryday(t *testing.T) {
	lines := corpus(t, "everyday.txt")
	for _, l := range lines {
		if r := shell.Analyse(l, env); !r.ReadOnly {
			t.Errorf("Analyse(%q) asks: %s", l, r.Reason)
		}
	}
	if len(lines) < 250 {
		t.Errorf("%d lines", len(lines))
	}
}

// What is read-only is so no longer with something behind, around or in it.
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
			continue // a comment or a document takes what is added
		}
		for i, m := range mutations {
			if s := m(l); shell.Analyse(s, env).ReadOnly {
				t.Errorf("mutation %d: Analyse(%q) is read-only", i, s)
			}
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
		if took := time.Since(start); took > time.Second {
			t.Errorf("Analyse(%q) took %v", text, took)
		}
		if r.ReadOnly && shell.Analyse(text+"\ntouch x", env).ReadOnly && !strings.Contains(text, "<<") &&
			!strings.HasSuffix(text, `\`) && !strings.Contains(text, "#") {
			t.Errorf("Analyse(%q) misses what follows", text)
		}
	})
}

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
