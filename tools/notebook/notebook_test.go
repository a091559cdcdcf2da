package notebook

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// indented is a notebook as Jupyter writes it, with its own order of keys and escapes.
const indented = `{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "a1",
   "metadata": {"tags": [ "x" ]},
   "source": [
    "# Caf\u00e9\n",
    "text"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 5,
   "id": "b2",
   "metadata": {},
   "outputs": [
    {
     "name": "stdout",
     "output_type": "stream",
     "text": [
      "one\n",
      "=== cell 7, code ===\n"
     ]
    },
    {
     "data": {
      "image/png": "aGVsbG8=",
      "text/plain": [
       "<Figure>"
      ]
     },
     "metadata": {},
     "output_type": "display_data"
    },
    {
     "ename": "ValueError",
     "evalue": "no",
     "output_type": "error",
     "traceback": [
      "\u001b[31mTraceback\u001b[0m",
      "line 1"
     ]
    }
   ],
   "source": [
    "import os\n",
    "x = 1  # <b>\n",
    "print(x)"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": null,
   "id": "c3",
   "metadata": {},
   "outputs": [],
   "source": []
  }
 ],
 "metadata": {
  "b": 1,
  "a": 2.50
 },
 "nbformat": 4,
 "nbformat_minor": 5
}
`

const indentedText = `=== cell 1, markdown ===
# Café
text
=== cell 2, code ===
import os
x = 1  # <b>
print(x)
=== output of cell 2 ===
  one
  === cell 7, code ===
  <Figure>
  (image/png, 8 bytes, not shown)
  ValueError: no
  Traceback
  line 1
=== cell 3, code ===
`

const compact = `{"cells":[{"cell_type":"code","source":"a = 1\nb = 2","metadata":{},"outputs":[],"execution_count":1},{"cell_type":"raw","source":"r","metadata":{}}],"metadata":{},"nbformat":4,"nbformat_minor":4}`

const spaced = `{"cells": [{"cell_type": "code", "execution_count": 1, "metadata": {}, "source": ["print(1)\n"], "outputs": []}], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}`

func TestText(t *testing.T) {
	for data, want := range map[string]string{
		indented:                       indentedText,
		compact:                        "=== cell 1, code ===\na = 1\nb = 2\n=== cell 2, raw ===\nr\n",
		spaced:                         "=== cell 1, code ===\nprint(1)\n",
		`{"cells": [], "nbformat": 4}`: "",
	} {
		n, ok := Read(data)
		if !ok {
			t.Fatalf("not read: %s", data)
		}
		if got := n.Text(); got != want {
			t.Errorf("text:\n%s\nwant:\n%s", got, want)
		}
		if same, err := n.Become(n.Text()); err != nil || same != data {
			t.Errorf("the same text: %v\n%s", err, same)
		}
		if got := n.Sources(); len(got) != len(want) || strings.Contains(got, "Traceback") || strings.Contains(want, "import") != strings.Contains(got, "import os\n") {
			t.Errorf("sources: %q", got)
		}
	}
}

func TestOutputsAreShortened(t *testing.T) {
	long := strings.Repeat("line\n", 100)
	data, err := json.Marshal(map[string]any{"nbformat": 4, "cells": []any{map[string]any{
		"cell_type": "code", "source": "x", "outputs": []any{map[string]any{"text": long}, map[string]any{"text": strings.Repeat("é", 5000)}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	n, ok := Read(string(data))
	if !ok {
		t.Fatal("not read")
	}
	if text := n.Text(); strings.Count(text, "  line\n") != outputLines || !strings.Contains(text, "  (300 more bytes in 60 lines)\n") ||
		!strings.Contains(text, "  (6001 more bytes in 1 line)\n") || len(text) > 5000 {
		t.Errorf("%d bytes: %s", len(text), text)
	}
}

func TestWhatIsNoNotebook(t *testing.T) {
	for what, data := range map[string]string{
		"no JSON":                     `{"cells": [`,
		"no object":                   `[]`,
		"format 3":                    `{"worksheets": [], "nbformat": 3}`,
		"no format":                   `{"cells": []}`,
		"no list":                     `{"cells": {}, "nbformat": 4}`,
		"no source":                   `{"cells": [{"cell_type": "code"}], "nbformat": 4}`,
		"another kind":                `{"cells": [{"cell_type": "video", "source": ""}], "nbformat": 4}`,
		"a source of numbers":         `{"cells": [{"cell_type": "code", "source": [1]}], "nbformat": 4}`,
		"a source of null":            `{"cells": [{"cell_type": "code", "source": null}], "nbformat": 4}`,
		"two sources":                 `{"cells": [{"cell_type": "code", "source": "a", "source": "b"}], "nbformat": 4}`,
		"cells twice":                 `{"cells": [], "cells": [], "nbformat": 4}`,
		"a line like ours":            `{"cells": [{"cell_type": "code", "source": "=== cell 1, code ===\n"}], "nbformat": 4}`,
		"lines that are none":         `{"cells": [{"cell_type": "code", "source": ["a", "b\nc"]}], "nbformat": 4}`,
		"an empty line":               `{"cells": [{"cell_type": "code", "source": ["a\n", ""]}], "nbformat": 4}`,
		"half of a pair":              `{"cells": [{"cell_type": "code", "source": "\ud800"}], "nbformat": 4}`,
		"a NUL":                       `{"cells": [{"cell_type": "code", "source": "\u0000"}], "nbformat": 4}`,
		"outputs that are none":       `{"cells": [{"cell_type": "code", "source": "", "outputs": 1}], "nbformat": 4}`,
		"more behind it":              `{"cells": [], "nbformat": 4} {}`,
		"a byte order mark before it": "\ufeff" + `{"cells": [], "nbformat": 4}`,
	} {
		if _, ok := Read(data); ok {
			t.Errorf("%s is read", what)
		}
	}
}

func TestBecome(t *testing.T) {
	cell := func(source string) string {
		return fmt.Sprintf("  {\n   \"cell_type\": \"markdown\",\n   \"id\": \"ID\",\n   \"metadata\": {},\n   \"source\": %s\n  }", source)
	}
	tests := []struct {
		name, data, old, text string
		from, to              string // the replacement in the JSON
	}{
		{"a line", indented, "x = 1  # <b>", "x = \"ü\"  # <i>", `"x = 1  # <b>\n"`, `"x = \"ü\"  # <i>\n"`},
		{"the last line", indented, "print(x)", "print(y)", `"print(x)"`, `"print(y)"`},
		{"a line more", indented, "import os\n", "import os\nimport re\n", `"import os\n",`, "\"import os\\n\",\n    \"import re\\n\","},
		{"a line behind the last", indented, "print(x)\n", "print(x)\nmore\n", `"print(x)"`, "\"print(x)\\n\",\n    \"more\""},
		{"a line less", indented, "import os\n", "", "\"import os\\n\",\n    ", ""},
		{"the last line less", indented, "x = 1  # <b>\nprint(x)\n", "x = 1  # <b>\n", "\"x = 1  # <b>\\n\",\n    \"print(x)\"", `"x = 1  # <b>"`},
		{"an escape stays", indented, "text\n", "more\n", "\"text\"\n   ]", "\"more\"\n   ]"},
		{"no source any more", indented, "# Café\ntext\n", "", "[\n    \"# Caf\\u00e9\\n\",\n    \"text\"\n   ]", "[]"},
		{"an empty cell", indented, "=== cell 3, code ===\n", "=== cell 3, code ===\na\nb\n", `"source": []`, "\"source\": [\n    \"a\\n\",\n    \"b\"\n   ]"},
		{"one text", compact, "a = 1", "a = 3", `a = 1\nb = 2`, `a = 3\nb = 2`},
		{"an empty line alone", `{"cells": [{"cell_type": "raw", "source": [""]}], "nbformat": 4}`, "=== cell 1, raw ===\n", "=== cell 1, raw ===\na\n", `[""]`, `["a"]`},
		{"a line end at the end", spaced, "print(1)", "print(2)", `"print(1)\n"`, `"print(2)\n"`},
		{"a line more on one line", spaced, "print(1)\n", "print(1)\nprint(2)\n", `["print(1)\n"]`, `["print(1)\n", "print(2)\n"]`},
		{"a cell less", indented, "=== cell 1, markdown ===\n# Café\ntext\n", "", indented[strings.Index(indented, "  {\n   \"cell_type\": \"markdown\""):strings.Index(indented, "  {\n   \"cell_type\": \"code\"")], ""},
		{"the last cell less", indented, "=== cell 3, code ===\n", "", indented[strings.Index(indented, ",\n  {\n   \"cell_type\": \"code\",\n   \"execution_count\": null"):strings.Index(indented, "\n ],\n \"metadata\"")], ""},
		{"a new cell", indented, "=== cell 3, code ===\n", "=== cell, markdown ===\n# New\nline\n=== cell 3, code ===\n", ",\n  {\n   \"cell_type\": \"code\",\n   \"execution_count\": null", ",\n" + cell("[\n    \"# New\\n\",\n    \"line\"\n   ]") + ",\n  {\n   \"cell_type\": \"code\",\n   \"execution_count\": null"},
		{"a new cell above an output", indented, "print(x)\n", "print(x)\n=== cell, markdown ===\nline\n", ",\n  {\n   \"cell_type\": \"code\",\n   \"execution_count\": null", ",\n" + cell("[\n    \"line\"\n   ]") + ",\n  {\n   \"cell_type\": \"code\",\n   \"execution_count\": null"},
		{"a new cell at the end", spaced, "print(1)\n", "print(1)\n=== cell, code ===\nx\n", "}], \"metadata\"", `},{"cell_type": "code", "execution_count": null, "metadata": {}, "outputs": [], "source": ["x"]}], "metadata"`},
		{"a first cell", `{"cells": [], "nbformat": 4}`, "", "=== cell, raw ===\nx\n", "[]", `[{"cell_type": "raw", "metadata": {}, "source": ["x"]}]`},
		{"all cells less", compact, "=== cell 1, code ===\na = 1\nb = 2\n=== cell 2, raw ===\nr\n", "", compact[strings.Index(compact, `[{"cell`):strings.Index(compact, `,"metadata":{},"nbformat"`)], "[]"},
		{
			"cells in another order", compact, "=== cell 1, code ===\na = 1\nb = 2\n=== cell 2, raw ===\nr\n", "=== cell 2, raw ===\nr\n=== cell 1, code ===\na = 1\nb = 2\n",
			`{"cell_type":"code","source":"a = 1\nb = 2","metadata":{},"outputs":[],"execution_count":1},{"cell_type":"raw","source":"r","metadata":{}}`,
			`{"cell_type":"raw","source":"r","metadata":{}},{"cell_type":"code","source":"a = 1\nb = 2","metadata":{},"outputs":[],"execution_count":1}`,
		},
		{"another kind", compact, "=== cell 2, raw ===", "=== cell 2, markdown ===", `{"cell_type":"raw","source":"r","metadata":{}}`, `{"cell_type": "markdown", "metadata": {}, "source": ["r"]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n, ok := Read(tt.data)
			if !ok || strings.Count(n.Text(), tt.old) != 1 && tt.old != "" || strings.Count(tt.data, tt.from) != 1 {
				t.Fatalf("%v, %d, %d", ok, strings.Count(n.Text(), tt.old), strings.Count(tt.data, tt.from))
			}
			got, err := n.Become(strings.Replace(n.Text(), tt.old, tt.text, 1))
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Replace(tt.data, tt.from, tt.to, 1)
			if at := strings.Index(want, `"ID"`); at >= 0 { // of the new cell
				want = want[:at] + got[at:at+10] + want[at+4:]
			}
			if got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if _, ok := Read(got); !ok {
				t.Errorf("it can't be read:\n%s", got)
			}
		})
	}
}

func TestLineEndsOfTheJSONStay(t *testing.T) {
	n, ok := Read(strings.ReplaceAll(indented, "\n", "\r\n"))
	if !ok {
		t.Fatal("not read")
	}
	got, err := n.Become(strings.Replace(n.Text(), "print(x)\n", "print(x)\nmore\n", 1) + "=== cell, code ===\na\nb\n")
	if err != nil || strings.Count(got, "\n") != strings.Count(got, "\r\n") || strings.Count(got, "\n") != strings.Count(indented, "\n")+12 {
		t.Errorf("%v: %q", err, got)
	}
}

func TestBecomeRefuses(t *testing.T) {
	for _, tt := range []struct{ old, text, want string }{
		{"  one\n", "  two\n", "=== output of cell 2 ===: outputs can't be changed; they change when the notebook runs"},
		{"=== cell 3, code ===\n", "=== cell 3, code ===\n=== output of cell 3 ===\n  x\n", "outputs can't be changed"},
		{"=== cell 3, code ===\n", "=== cell 2, code ===\n", "cell 2 is there twice, or the notebook has no such cell; begin a new one with \"=== cell, code ===\""},
		{"=== cell 3, code ===\n", "=== cell 4, code ===\n", "cell 4 is there twice, or the notebook has no such cell"},
		{"=== cell 1, markdown ===\n", "", "the text of a notebook begins with a line such as \"=== cell 1, code ===\", not with \"# Café\""},
	} {
		n, _ := Read(indented)
		if got, err := n.Become(strings.Replace(n.Text(), tt.old, tt.text, 1)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q → %q: %v, %s", tt.old, tt.text, err, got)
		}
	}
}

// lastLines matches empty lines at the end of a source, which the text can't express.
var lastLines = regexp.MustCompile(`\n+===`)

// FuzzBecome: a replaced line of a source is changed, and everything else stays the same.
func FuzzBecome(f *testing.F) {
	f.Add(indented, 1, "x")
	f.Add(compact, 3, "é\"\\")
	f.Add(spaced, 1, "\t<&>\u2028")
	f.Fuzz(func(t *testing.T, data string, line int, text string) {
		n, ok := Read(data)
		if !ok || strings.ContainsAny(text, "\r\n\x00\ufffd") || strings.ToValidUTF8(text, "") != text || header.MatchString(text) {
			return
		}
		if same, err := n.Become(n.Text()); err != nil || same != data {
			t.Fatalf("the same text: %v, %q", err, same)
		}
		lines := strings.SplitAfter(n.Text(), "\n")
		if line < 0 || line >= len(lines)-1 || header.MatchString(strings.TrimRight(lines[line], "\r\n")) {
			return
		}
		lines[line] = text + "\n"
		want := strings.Join(lines, "")
		got, err := n.Become(want)
		if err != nil {
			return // an output
		}
		again, ok := Read(got)
		if !ok || len(again.cells) != len(n.cells) {
			t.Fatalf("%q with %q is %q", data, text, got)
		}
		changed := 0
		for i, c := range again.cells {
			if n.json(n.cells[i].whole) != again.json(c.whole) {
				changed++
			}
		}
		if changed > 1 || lastLines.ReplaceAllString(again.Text()+"===", "") != lastLines.ReplaceAllString(want+"===", "") {
			t.Errorf("%d cells changed; %q, want %q", changed, again.Text(), want)
		}
	})
}
