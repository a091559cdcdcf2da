package gitfiles

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// formats are typical and unusual configurations.
var formats = []string{
	"", "\n", "# only\n; comments\n",
	"[user]\n\tname = Ann\n\temail = ann@example.org\n",
	"[user] name = Ann\n", "[user]name=Ann", "[USER]\nName = Ann",
	"[include]\n\tpath = ~/.gitconfig.local\n[include]\n\tpath = other\n",
	"[includeIf \"gitdir:~/Work/\"]\n\tpath = ~/w\n",
	"[includeIf \"gitdir/i:~/a \\\"b\\\" \\\\c\"]\npath=x",
	"[branch.Main]\nremote = origin\n", "[branch.\"x\"]\na = b", "[a.b \"C\"]\nd = e", "[a \"b.c\"]\nd = e", "[a \"\"]\nd = e", "[]\na = b", "[.x]\na = b",
	"[a]\nb\nc =\nd = \ne = true ; comment\nf = x#y\n",
	"[a]\nb = \"x # y\" z ; c\n", "[a]\nb = x\\\ny\n", "[a]\nb = x \\\n  y\n", "[a]\nb = \\tx\\n\\\"\\\\\\b\n", "[a]\nb = \\q\n", "[a]\nb = \"x\n", "[a]\nb = \"x\\\ny\"\n",
	"[a]\n  b   =   x   y   \n", "[a]\nb = \" x \"\n", "[a]\r\nb = c\r\nd = e\r\n", "\ufeff[a]\nb = c\n", "[a]\nb-2 = c\n", "[a]\n2b = c\n", "[a]\nb c\n", "[a]\nb_c = d\n",
	"[a\nb = c\n", "[a \"b]\nc = d\n", "[a b]\nc = d\n", "[a \"b\" ]\nc = d\n", "[ a ]\nb = c\n", "b = c\n", "[a] ; x\nb = c", "[a]\nb = c [d]\n", "[a]\nb\t=\tc\n", "[a]\nb = \\", "[a]\nb = c\\",
	"[a][b]\nc = d", "[a]\n[b]c", "[a]\nb = ;x", "[a]\nb = \"\"", "[a]\nb = x \"\" ", "[a]\nb \t\n", "[a]\nb#c\n", "[a]\n=b\n", "[a]\nb ==c\n", "[a]\nb = c\x00d\n", "[a]\nb = x\v\n", "[a.]\nb = c\n",
}

// TestParse: the parsed entries are those that git lists; a file that git refuses is refused.
func TestParse(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	file := filepath.Join(t.TempDir(), "config")
	for _, text := range formats {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		list, refused := exec.Command("git", "config", "--file", file, "--list", "-z").Output()
		var want []string
		for line := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
			if key, value, _ := strings.Cut(line, "\n"); key != "" {
				want = append(want, key+"="+value)
			}
		}
		all, err := parse(text)
		var got []string
		for _, e := range all {
			got = append(got, e.key+"="+e.value)
		}
		if (err != nil) != (refused != nil) || refused == nil && !slices.Equal(got, want) && !strings.Contains(text, "\x00") {
			t.Errorf("%q: %q, %v; git: %q, %v", text, got, err, want, refused)
		}
	}
}

// cutLast cuts a key at its last dot.
func cutLast(key string) (before, after string, found bool) {
	i := strings.LastIndexByte(key, '.')
	if i < 0 {
		return "", key, false
	}
	return key[:i], key[i+1:], true
}

// FuzzParse: writing the entries of a configuration and parsing them again gives the same entries.
func FuzzParse(f *testing.F) {
	for _, text := range formats {
		f.Add(text)
	}
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\b", `\b`)
	name := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	f.Fuzz(func(t *testing.T, text string) {
		all, err := parse(text)
		if err != nil {
			return
		}
		var b strings.Builder
		for _, e := range all {
			section, key, _ := cutLast(e.key)
			if strings.Contains(e.value, "\r") || strings.Contains(e.key, "\r\n") || section == "" {
				return // a line may not end that way
			}
			section, sub, ok := strings.Cut(section, ".")
			if ok {
				sub = " \"" + name.Replace(sub) + "\""
			}
			if section == "" {
				return
			}
			fmt.Fprintf(&b, "[%s%s]\n%s = \"%s\"\n", section, sub, key, escape.Replace(e.value))
		}
		again, err := parse(b.String())
		if err != nil || !slices.Equal(again, all) {
			t.Errorf("%q: %+v, then %+v, %v", text, all, again, err)
		}
	})
}
