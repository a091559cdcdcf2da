package file

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"buddy/tools/toolstest"
)

func TestLiteralsOf(t *testing.T) {
	tests := []struct{ expr, want string }{
		{"abc", "abc"},
		{"^func New[A-Z]", "func New"},
		{`\w+(Handler){2,}x?`, "Handler"},
		{"TODO|FIXME: .*", "TODO FIXME: "},
		{"TODO|TOFU", "TO"},
		{"a(read|write)File|open", "File open"},
		{"x[ab]|y", "x y"},
		{"(abc|d*)x", "x"},
		{"abc|d*", ""},
		{"a1|b2|c3|d4|e5|f6|g7|h8|i9|j10|k11", ""}, // too many
		{"(abc)*x", "x"},
		{"(?i)Copyright", "copyright/i"},
		{"(?i)session", "ion/i"}, // s is related to ſ
		{"(?i)ks", ""},
		{"(?i)grün", "gr/i"},
		{"(?i)123", "123"},
		{"grün+", "gr\u00fc"},
		{"a\ufffdbc", "bc"},
		{".*", ""},
		{"(", ""},
	}
	for _, tt := range tests {
		var got []string
		for _, l := range prefiltersOf(tt.expr) {
			text := string(l.text)
			if l.fold != nil {
				text += "/i"
			}
			got = append(got, text)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("prefiltersOf(%q) = %q, want %q", tt.expr, got, tt.want)
		}
	}
}

// Searches with and without the prefilter find the same lines.
func FuzzPrefilter(f *testing.F) {
	f.Add("(?i)ab+c", "xABBCx\nabc\nac")
	f.Add("(?i)\\bwork", "homework\nWORK\nwor\u212a")
	f.Add("x(yz|y)z{2}", "xyzzz\nxyzz")
	f.Add("ab|c(de|fg)+|(?i)XY", "ab\ncfg\nxy ab\nc\n")
	f.Add("a\ufffd", "a\xff\n")
	f.Fuzz(func(t *testing.T, expr, data string) {
		re, err := regexp.Compile(expr)
		if err != nil || len(expr) > 100 {
			return
		}
		fast := matcher{re: re, need: prefiltersOf(expr), most: grepLimit}
		slow := matcher{re: re, most: grepLimit}
		a, b := fast.spans([]byte(data)), slow.spans([]byte(data))
		if len(a) != len(b) {
			t.Fatalf("%q in %q: with %+v %v, without %v", expr, data, fast.need, a, b)
		}
		for i := range a {
			if a[i] != b[i] {
				t.Errorf("%q in %q: %v and %v", expr, data, a[i], b[i])
			}
		}
	})
}

// BenchmarkGrep searches the source of Go, and measures ripgrep with and without sorting.
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
		{"literal", "zzznowhere"}, {"prefix", `func New[A-Z]\w+Qq`}, {"middle", `\w+zqz\(`}, {"any case", "(?i)copyright zz"}, {"alternatives", "zzznowhere|qqqnobody|(?i)xxnothing"}, {"no literal", `[qz]{4}[0-9]`},
	} {
		b.Run(bm.name+"/ours", func(b *testing.B) {
			b.ReportAllocs()
			call := toolstest.CallOf("grep", args{"pattern": bm.expr})
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
