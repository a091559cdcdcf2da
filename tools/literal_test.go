package tools

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestLiteralOf(t *testing.T) {
	tests := []struct {
		expr, want string
		fold       bool
	}{
		{"abc", "abc", false},
		{"^func New[A-Z]", "func New", false},
		{`\w+(Handler){2,}x?`, "Handler", false},
		{"a|b", "", false},
		{"(abc)*x", "x", false},
		{"(?i)Copyright", "copyright", true},
		{"(?i)session", "ion", true}, // s is related to ſ
		{"(?i)grün", "gr", true},
		{"(?i)123", "123", false},
		{"grün+", "gr\u00fc", false},
		{"a\ufffdbc", "bc", false},
		{".*", "", false},
		{"(", "", false},
	}
	for _, tt := range tests {
		if got := literalOf(tt.expr); string(got.text) != tt.want || got.fold != tt.fold {
			t.Errorf("literalOf(%q) = %q %v, want %q %v", tt.expr, got.text, got.fold, tt.want, tt.fold)
		}
	}
}

// Lines are found with the literal as they are without it.
func FuzzLiteral(f *testing.F) {
	f.Add("(?i)ab+c", "xABBCx\nabc\nac")
	f.Add("(?i)\\bwork", "homework\nWORK\nwor\u212a")
	f.Add("x(yz|y)z{2}", "xyzzz\nxyzz")
	f.Add("a\ufffd", "a\xff\n")
	f.Fuzz(func(t *testing.T, expr, data string) {
		re, err := regexp.Compile(expr)
		if err != nil || len(expr) > 100 {
			return
		}
		fast := matcher{re: re, need: literalOf(expr)}
		slow := matcher{re: re}
		a, b := fast.spans([]byte(data)), slow.spans([]byte(data))
		if len(a) != len(b) {
			t.Fatalf("%q in %q: with the literal %q %v, without %v", expr, data, fast.need.text, a, b)
		}
		for i := range a {
			if a[i] != b[i] {
				t.Errorf("%q in %q: %v and %v", expr, data, a[i], b[i])
			}
		}
	})
}

// BenchmarkGrep searches the source of Go beside ripgrep, which sorts as we do or not.
func BenchmarkGrep(b *testing.B) {
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Fatal(err)
	}
	root := filepath.Join(strings.TrimSpace(string(goroot)), "src")
	ws, err := NewWorkspace(root, func(string) string { return "" })
	if err != nil {
		b.Fatal(err)
	}
	tool := NewGrep(ws)
	rg, _ := exec.LookPath("rg")
	for _, bm := range []struct{ name, expr string }{
		{"literal", "zzznowhere"}, {"prefix", `func New[A-Z]\w+Qq`}, {"middle", `\w+zqz\(`}, {"any case", "(?i)copyright zz"}, {"no literal", `[qz]{4}[0-9]`},
	} {
		b.Run(bm.name+"/ours", func(b *testing.B) {
			b.ReportAllocs()
			call := callOf("grep", args{"pattern": bm.expr})
			if call.Planned, err = tool.Plan(call); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if res := tool.Run(b.Context(), call); res.IsError || !bytes.Contains([]byte(res.Content), []byte("no match")) {
					b.Fatalf("%.200s", res.Content)
				}
			}
		})
		for name, sort := range map[string]string{"rg sorted": "path", "rg": "none"} {
			b.Run(bm.name+"/"+name, func(b *testing.B) {
				if rg == "" {
					b.Skip("ripgrep is missing")
				}
				for b.Loop() {
					_ = exec.Command(rg, "--no-config", "--hidden", "--sort", sort, "-n", bm.expr, root).Run() // 1 = nothing found
				}
			})
		}
	}
}
