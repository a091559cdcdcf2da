package blocks

import (
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// scan reads an answer in pieces of n bytes.
func scan(answer string, n int) (prose, shown string, call *block) {
	s := scanner{quoted: func(text string) bool { return text == "buy rope" }}
	for rest := answer; rest != ""; {
		piece := rest[:min(n, len(rest))]
		rest = rest[len(piece):]
		shown += s.write(piece)
	}
	shown += s.end()
	return s.prose.String(), shown, s.call
}

// TestFirstCall: the first block that is a command or the text of a file is a call, whatever the pieces of the answer.
func TestFirstCall(t *testing.T) {
	command := func(text string) *block { return &block{text: text} }
	for _, tt := range []struct {
		name, answer, prose string
		call                *block
	}{
		{"no block", "It is 42.", "It is 42.", nil},
		{"a command", "I look:\n```sh\nls -l\n```\nand then", "I look:\n", command("ls -l")},
		{"a sentence in it", "```sh\nThe task is done.\n```", "The task is done.", nil},
		{"a program in upper case", "```sh\nXvfb :1\n```", "", command("Xvfb :1")},
		{"a sentence and a command", "```sh\nThe task is done.\nls\n```", "", command("The task is done.\nls")},
		{"bash", "```bash\nls\n```", "", command("ls")},
		{"upper case, more words", "```Bash title\nls\n```", "", command("ls")},
		{"no language, nothing before", "```\nmv a b\n```\n", "", command("mv a b")},
		{"no language, what the model has read", "```\nbuy rope\n```\n", "```\nbuy rope\n```\n", nil},
		{"no language, no command", "```\nBuy rope.\n```\n", "```\nBuy rope.\n```\n", nil},
		{"no language, quoted", "The file has:\n```\nrm -rf x\n```\nThat is all.", "The file has:\n```\nrm -rf x\n```\nThat is all.", nil},
		{"another language", "So:\n```python\nprint(1)\n```\n", "So:\n```python\nprint(1)\n```\n", nil},
		{"the second one", "```python\nx\n```\n```sh\nls\n```\n", "```python\nx\n```\n", command("ls")},
		{"two commands", "```sh\nfirst\n```\n```sh\nsecond\n```\n", "", command("first")},
		{"several lines", "```sh\ncat > f <<'X'\n  a\n\nX\n```", "", command("cat > f <<'X'\n  a\n\nX")},
		{"nothing in it", "```sh\n\n```\n```sh\nls\n```", "```sh\n\n```\n", command("ls")},
		{"prompts and output", "```console\n$ ls\na.txt\n$ cat a.txt\n```", "", command("ls\ncat a.txt")},

		{"tildes", "~~~sh\nls\n~~~", "", command("ls")},
		{"tildes around backticks", "~~~sh\necho '```'\n~~~", "", command("echo '```'")},
		{"a longer fence around a shorter one", "````sh\ncat <<X\n```sh\nls\n```\nX\n````", "", command("cat <<X\n```sh\nls\n```\nX")},
		{"an example in a longer fence", "````markdown\n```sh\nrm x\n```\n````\n", "````markdown\n```sh\nrm x\n```\n````\n", nil},
		{"a longer end", "```sh\nls\n`````", "", command("ls")},
		{"a shorter end", "````sh\nls\n```\n````", "", command("ls\n```")},
		{"another end", "```sh\nls\n~~~\n```", "", command("ls\n~~~")},
		{"an end with words", "```sh\nls\n``` x\n```", "", command("ls\n``` x")},
		{"never closed", "```sh\nls\n", "", command("ls")},
		{"never closed, no line end", "```sh\nls", "", command("ls")},
		{"CRLF", "a\r\n```sh\r\nls\r\n```\r\n", "a\r\n", command("ls")},
		{"indented by three", "   ```sh\n   ls\n     -l\n   ```", "", command("ls\n  -l")},
		{"indented by four", "    ```sh\n    ls\n    ```\n", "    ```sh\n    ls\n    ```\n", nil},
		{"an end indented by four", "```sh\nls\n    ```\n```", "", command("ls\n    ```")},
		{"in a list", "1. Look:\n   ```sh\n   ls\n   ```\n2. Then", "1. Look:\n", command("ls")},
		{"deep in a list", "10. Look:\n\n    ```sh\n    ls\n    ```\n", "10. Look:\n\n", command("ls")},
		{"after the mark of a list", "- ```sh\n  ls\n  ```\n", "- ", command("ls")},
		{"after a list", "- a\n\nb\n    ```sh\n    ls\n    ```\n", "- a\n\nb\n    ```sh\n    ls\n    ```\n", nil},
		{"in a quotation", "> ```sh\n> rm x\n> ```\n", "> ```sh\n> rm x\n> ```\n", nil},
		{"in a line", "Run ```sh rm x``` now", "Run ```sh rm x``` now", nil},
		{"backticks in the info", "```sh `x`\nls\n```\n", "```sh `x`\nls\n```\n", nil},
		{"two backticks", "``sh\nls\n``\n", "``sh\nls\n``\n", nil},

		{"a file before the fence", "a.txt\n```\none\ntwo\n```\n", "a.txt\n", &block{"a.txt", "one\ntwo\n"}},
		{"a file in the info", "```python src/app.py\nx\n```", "", &block{"src/app.py", "x\n"}},
		{"a file alone in the info", "```config.ini\nx\n```", "", &block{"config.ini", "x\n"}},
		{"a file by title", "```ini title=\"config.ini\"\nx\n```", "", &block{"config.ini", "x\n"}},
		{"a file behind a colon", "```python:app.py\nx\n```", "", &block{"app.py", "x\n"}},
		{"a file in bold", "**`a/b.py`**:\n```python\nx\n```", "**`a/b.py`**:\n", &block{"a/b.py", "x\n"}},
		{"a heading", "### File: Makefile\n```make\nx:\n```", "### File: Makefile\n", &block{"Makefile", "x:\n"}},
		{"blank lines between", "a.txt:\n\n```\nx\n```", "a.txt:\n\n", &block{"a.txt", "x\n"}},
		{"a sentence", "Create `hello.txt` with this content:\n```\nhi\n```", "Create `hello.txt` with this content:\n", &block{"hello.txt", "hi\n"}},
		{"a script", "Change add.sh to:\n```sh\necho 1\n```", "Change add.sh to:\n", &block{"add.sh", "echo 1\n"}},
		{"a command that makes a file", "Create hello.txt:\n```sh\necho hi >hello.txt\n```", "Create hello.txt:\n", command("echo hi >hello.txt")},
		{"a verb in a name", "The file add.sh has:\n```ini\nx\n```\n", "The file add.sh has:\n```ini\nx\n```\n", nil},
		{"a new text", "Here is the corrected `add.sh`:\n```sh\necho 1\n```", "Here is the corrected `add.sh`:\n", &block{"add.sh", "echo 1\n"}},
		{"a script that runs", "Make sure that you run test.sh:\n```sh\nsh test.sh\n```", "Make sure that you run test.sh:\n", command("sh test.sh")},
		{"what a file has", "The file note.txt says:\n```\nhi\n```\n", "The file note.txt says:\n```\nhi\n```\n", nil},
		{"two files", "Update a.txt from b.txt:\n```\nx\n```\n", "Update a.txt from b.txt:\n```\nx\n```\n", nil},
		{"a diff", "config.ini:\n```diff\n-a\n+b\n```\n", "config.ini:\n```diff\n-a\n+b\n```\n", nil},
		{"a version", "Python 3.5:\n```python\nx\n```\n", "Python 3.5:\n```python\nx\n```\n", nil},
		{"an empty file", "empty.txt\n```\n```\n", "empty.txt\n", &block{"empty.txt", ""}},
		{"above the folder", "../../x.txt\n```\nx\n```", "../../x.txt\n", &block{"../../x.txt", "x\n"}},
		{"an absolute name", "/etc/cron.d/x.conf\n```\nx\n```", "/etc/cron.d/x.conf\n", &block{"/etc/cron.d/x.conf", "x\n"}},
	} {
		for _, n := range []int{1, 2, 5, 1000} {
			prose, shown, call := scan(tt.answer, n)
			if prose != tt.prose || shown != prose {
				t.Errorf("%s, in pieces of %d: the prose is %q, shown was %q, want %q", tt.name, n, prose, shown, tt.prose)
			}
			switch {
			case call == nil || tt.call == nil:
				if call != tt.call {
					t.Errorf("%s, in pieces of %d: the call is %+v, want %+v", tt.name, n, call, tt.call)
				}
			case *call != *tt.call:
				t.Errorf("%s, in pieces of %d: the call is %+v, want %+v", tt.name, n, *call, *tt.call)
			}
		}
	}
}

// FuzzScanner: pieces make no difference, the shown text is the prose, and outside of lists, quotations and HTML the
// first command is the one that goldmark finds.
func FuzzScanner(f *testing.F) {
	for _, seed := range []string{
		"a\n```sh\nls\n```\nb", "~~~~ sh\nx\n~~~\n~~~~", "```sh\n\n```\n   ```bash\n  y\n    ```\n```", "```\nls\n```", "````\n```sh\nx\n```\n````\n```sh\nz",
		"```sh `\nls\n```", "1. a\n   ```sh\n   ls\n   ```", "a.txt:\n```\nx\n```", "\n\n    ```sh\nls", "x\r\n```sh\r\nls\r\n```\r\n",
	} {
		f.Add(seed, 3)
	}
	f.Fuzz(func(t *testing.T, answer string, n int) {
		if n < 1 {
			t.Skip()
		}
		prose, shown, call := scan(answer, n)
		whole, _, same := scan(answer, len(answer)+1)
		if prose != whole || shown != prose || (call == nil) != (same == nil) || call != nil && *call != *same {
			t.Fatalf("in pieces of %d: %q, shown %q, %+v; whole: %q, %+v", n, prose, shown, call, whole, same)
		}
		if !strings.HasPrefix(answer, prose) {
			t.Fatalf("the prose %q is not how it begins", prose)
		}
		if strings.ContainsAny(answer, "<>.-+*)\t\x00[&\\\r\v\f\u0085\u00a0") || !isASCII(answer) || strings.Contains(answer, "file") {
			return
		}
		if want, ok := commandBy(answer); ok != (call != nil) || ok && want != call.text {
			t.Errorf("the call is %+v, goldmark finds %q, %v", call, want, ok)
		}
	})
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > 126 || r < 32 && r != '\n' })
}

// commandBy returns the first command in an answer according to goldmark.
func commandBy(answer string) (command string, ok bool) {
	source := []byte(answer)
	_ = ast.Walk(goldmark.DefaultParser().Parse(text.NewReader(source)), func(n ast.Node, enter bool) (ast.WalkStatus, error) {
		f, fenced := n.(*ast.FencedCodeBlock)
		if !fenced || !enter {
			return ast.WalkContinue, nil
		}
		info, first := "", true
		if f.Info != nil {
			info = string(f.Info.Segment.Value(source))
		}
		if before := n.PreviousSibling(); before != nil {
			first = false
		}
		if _, call := meaning(info, "", first); !call {
			return ast.WalkContinue, nil
		}
		if command = commandIn(string(f.Lines().Value(source))); command != "" && (info != "" || looksLikeCommand(command) && command != "buy rope") {
			ok = true
			return ast.WalkStop, nil
		}
		return ast.WalkContinue, nil
	})
	return command, ok
}
