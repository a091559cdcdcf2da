package lsp

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// counterpart is a real server in the folder BUDDY_LANGUAGE_SERVERS.
type counterpart struct {
	name    string
	program string // relative to that folder
	files   map[string]string
	file    string // the file to change
	good    string // a text without errors but the one from before
	bad     string
	want    string // expected in the diagnostics of bad
	not     string // from before the change
	symbol  string // a function in good
	uses    string // another file, whose last line calls the function behind an emoji
}

var counterparts = []counterpart{
	{
		name: "gopls", program: "bin/gopls", file: "tax.go",
		files: map[string]string{"go.mod": "module shop\n\ngo 1.26\n", "old.go": "package shop\n\nvar old = missing\n"},
		good:  "package shop\n\nfunc Tax(price int) int { return price * 19 / 100 }\n\nvar was = absent\n",
		bad:   "package shop\n\nfunc Tax(price int) int { return prize * 19 / 100 }\n\nvar was = absent\n", want: "tax.go:3:34 error: undefined: prize", not: "absent",
		symbol: "Tax", uses: "package shop\n\nvar _, _ = \"😀 日本\", Tax(3)\n",
	},
	{
		name: "pyright", program: "a/node_modules/.bin/pyright-langserver", file: "tax.py",
		files: map[string]string{"pyproject.toml": "", "old.py": "old = missing\n"},
		good:  "def tax(price: int) -> int:\n    return price * 19\n\nwas = absent\n",
		bad:   "def tax(price: int) -> int:\n    return prize * 19\n\nwas = absent\n", want: `tax.py:2:12 error: "prize" is not defined`, not: "absent",
		symbol: "tax", uses: "from tax import was\nimport tax as t\nx = (\"😀 日本\", t.tax(3))\n",
	},
	{
		name: "typescript", program: "a/node_modules/.bin/tsc", file: "tax.ts",
		files: map[string]string{"tsconfig.json": "{}", "old.ts": "export const old: number = 'x';\n"},
		good:  "export function tax(price: number): number { return price * 19 }\nexport const was: number = 'absent'\n",
		bad:   "export function tax(price: number): number { return prize * 19 }\nexport const was: number = 'absent'\n", want: "tax.ts:1:53 error: Cannot find name 'prize'", not: "tax.ts:2",
		symbol: "tax", uses: "import { tax } from './tax'\nexport const sums = ['😀 日本', tax(3)]\n",
	},
	{
		name: "typescript-language-server", program: "b/node_modules/.bin/typescript-language-server", file: "tax.ts",
		files: map[string]string{"tsconfig.json": "{}", "old.ts": "export const old: number = 'x';\n"},
		good:  "export function tax(price: number): number { return price * 19 }\nexport const was: number = 'absent'\n",
		bad:   "export function tax(price: number): number { return prize * 19 }\nexport const was: number = 'absent'\n", want: "tax.ts:1:53 error: Cannot find name 'prize'", not: "tax.ts:2",
		symbol: "tax", uses: "import { tax } from './tax'\nexport const sums = ['😀 日本', tax(3)]\n",
	},
}

// Each real server reports what a wrong edit broke, nothing older, and the end of the problem after the next edit. The
// test is not part of make test, because it depends on real time.
func TestRealServersReportAWrongEditAndItsEnd(t *testing.T) {
	programs := os.Getenv("BUDDY_LANGUAGE_SERVERS")
	if programs == "" {
		t.Skip("BUDDY_LANGUAGE_SERVERS does not name the folder of the servers; make counterparts ONLY=lsp does")
	}
	for _, c := range counterparts {
		t.Run(c.name, func(t *testing.T) { c.test(t, programs) })
	}
}

// use makes the server and its files the project's.
func (c counterpart) use(b *bench, programs string) {
	b.t.Helper()
	for _, def := range BuiltIn() {
		if def.Name == c.name {
			def.Command[0] = filepath.Join(programs, c.program)
			b.defs = []Server{def}
		}
	}
	for name, text := range c.files {
		b.write(name, text)
	}
	b.write(c.file, c.good)
}

func (c counterpart) test(t *testing.T, programs string) {
	b := newBench(t)
	c.use(b, programs)
	step := func(text string) string {
		began := time.Now()
		out := b.edit(c.file, text)
		elapsed := time.Since(began)
		for late := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
			s := b.all.running()[0]
			settled, _ := s.settling()
			select {
			case <-settled:
			default:
				if time.Now().After(late) {
					t.Fatal("the server is still busy")
				}
				continue
			}
			break
		}
		all := time.Since(began)
		out += b.all.Late()
		t.Logf("the call waited %v, the server was done after %v:\n%s", elapsed.Round(time.Millisecond), all.Round(time.Millisecond), out)
		return out
	}
	for round := range 3 {
		if out := step(c.bad); !strings.Contains(out, c.want) || strings.Contains(out, c.not) || strings.Contains(out, "old.") {
			t.Errorf("round %d: a wrong edit: %q, want %q", round, out, c.want)
		}
		if out := step(c.good); strings.Contains(out, "error") || !strings.Contains(out, "nothing is left") {
			t.Errorf("round %d: the edit that mends it: %q", round, out)
		}
	}
	size, err := b.all.running()[0].conn.link.Resident()
	t.Logf("it uses %d MiB (%v)", size>>20, err)
}

// Each real server finds a symbol behind an emoji, and computes a rename in two files.
func TestRealServersFindAndRenameSymbols(t *testing.T) {
	programs := os.Getenv("BUDDY_LANGUAGE_SERVERS")
	if programs == "" {
		t.Skip("BUDDY_LANGUAGE_SERVERS does not name the folder of the servers; make counterparts ONLY=lsp does")
	}
	for _, c := range counterparts {
		t.Run(c.name, func(t *testing.T) {
			if _, err := os.Stat(filepath.Join(programs, c.program)); err != nil {
				t.Skip(err)
			}
			b := newBench(t)
			c.use(b, programs)
			b.write("use"+filepath.Ext(c.file), c.uses)
			b.diagnose(c.file, c.good+"\n")
			first, _, _ := strings.Cut(c.good[strings.Index(c.good, c.symbol):], "(")
			line := strings.Count(c.good[:strings.Index(c.good, c.symbol)], "\n") + 1
			useLine := strings.Count(c.uses, "\n")
			useName := "use" + filepath.Ext(c.file)
			began := time.Now()
			want(t, "definition", b.code(codeCall("definition", useName, useLine, first)), fmt.Sprintf("%s:%d: ", c.file, line))
			t.Logf("the first answer took %v", time.Since(began).Round(time.Millisecond))
			want(t, "references", b.code(codeCall("references", c.file, line, first)), fmt.Sprintf("%s:%d: ", c.file, line), fmt.Sprintf("%s:%d: ", useName, useLine))
			want(t, "symbols", b.code(codeCall("symbols", c.file, 0, "")), fmt.Sprintf("%s:%d: ", c.file, line))
			want(t, "all symbols", b.code(codeCall("symbols", "", 0, first)), fmt.Sprintf("%s:%d: ", c.file, line))
			want(t, "hover", b.code(codeCall("hover", useName, useLine, first)), first)
			want(t, "rename", b.code(codeCall("rename", c.file, line, first, first+"2")), "in 2 files:\nedit "+c.file+"\nedit "+useName)
			if got := b.content(c.file) + b.content(useName); strings.Count(got, first+"2") < 2 || strings.Contains(got, first+"(") {
				t.Errorf("renamed: %s", got)
			}
		})
	}
}
