package frontmatter

import (
	"slices"
	"strings"
	"testing"
)

// TestParse checks files as people have them.
func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name, file       string
		description      string
		body             string
		line, warningAt  int
		warning, problem string
	}{
		{name: "plain", file: "---\nname: a\ndescription: b c\n---\nText\n", description: "b c", body: "Text\n", line: 5},
		{name: "none", file: "Text\n---\nmore\n", body: "Text\n---\nmore\n", line: 1},
		{name: "empty file", file: "", line: 1},
		{name: "empty block", file: "---\n---\nText", body: "Text", line: 3},
		{name: "only a block", file: "---\ndescription: b\n---", description: "b", line: 3},
		{name: "BOM and CRLF", file: "\ufeff---\r\ndescription: b\r\n---\r\nText\r\n", description: "b", body: "Text\n", line: 4},
		{name: "folded", file: "---\ndescription: >\n  one\n  two\n---\n", description: "one two", line: 6},
		{name: "rule in the text", file: "---\ndescription: b\n---\nText\n---\nmore", description: "b", body: "Text\n---\nmore", line: 4},
		{name: "a blank behind the fence", file: "--- \ndescription: b\n--- \nText", description: "b", body: "Text", line: 4},
		{name: "lines before the fence", file: "\n  \n---\ndescription: b\n---\nText", description: "b", body: "Text", line: 6},
		{name: "a mistake behind lines before the fence", file: "\n---\ndescription: a: b\n---\nText", description: "a: b", body: "Text", line: 5, warningAt: 3, warning: "not valid YAML"},
		{name: "colon", file: "---\nname: a\ndescription: Use when: tests fail\n---\nText", description: "Use when: tests fail", body: "Text", line: 5, warningAt: 3, warning: "not valid YAML"},
		{name: "colon, folded", file: "---\ndescription: Use when: tests\n  fail or hang\nother: [\n---\n", description: "Use when: tests fail or hang", line: 6, warningAt: 2, warning: "not valid YAML"},
		{name: "quotes without YAML", file: "---\ndescription: \"a b\"\nx: [\n---\n", description: "a b", line: 5, warningAt: 3, warning: "not valid YAML"},
		{name: "alias", file: "---\nx: &a 1\ndescription: b\ny: *a\n---\n", description: "b", line: 6, warningAt: 4, warning: "YAML alias"},
		{name: "list", file: "---\n- a\n---\n", line: 4, warningAt: 2, warning: "not a list of NAME"},
		{name: "a description that is there twice", file: "---\ndescription: a\nDescription: b\n---\nText", description: "a", body: "Text", line: 5, warningAt: 2, warning: "twice"},
		{name: "text with a rule", file: "Title\n---\ntools: Read\n", body: "Title\n---\ntools: Read\n", line: 1},
		{name: "a limit, and a text that goes on unindented", file: "---\nname: a\ndescription: b\nthat goes on\ntools: Read\n---\nText", problem: "line 4: the front matter is not valid YAML: could not find expected ':', so tools would have no effect"},
		{name: "a limit with a tab", file: "---\nname: a\ntools:\n\t- Read\n---\nText", problem: "so tools would have no effect"},
		{name: "a limit with an alias", file: "---\nx: &a 1\npermission-mode: *a\n---\n", problem: "so permission-mode would have no effect"},
		{name: "a limit that is there twice", file: "---\ntools: Read\nTools: Bash\n---\n", problem: "the front matter has a setting twice, so tools would have no effect"},
		{name: "a limit in JSON", file: "---\n{\"name\": \"a\",\n\"tools\": [\"Read\"\n}\n---\n", problem: "so tools would have no effect"},
		{name: "a limit behind a title", file: "# A\n\n---\nname: a\ndisable-model-invocation: true\n---\nText", problem: "line 3: the front matter must be at the start of the file"},
		{name: "a limit in TOML", file: "+++\nname = \"a\"\nsandbox_mode = \"read-only\"\n+++\nText", problem: "sandbox_mode would have no effect"},
		{name: "does not end", file: "---\ndescription: b\n", problem: "no closing line ---"},
		{name: "too long a block", file: "---\nx: " + strings.Repeat("a", MaxBlock) + "\n---\n", problem: "allowed: 65536"},
		{name: "too long a file", file: strings.Repeat("a", MaxFile+1), problem: "allowed: 262144"},
		{name: "NUL", file: "a\x00b", problem: "not UTF-8 text"},
		{name: "Latin-1", file: "caf\xe9", problem: "not UTF-8 text"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, err := Parse([]byte(tt.file))
			if tt.problem != "" {
				if err == nil || !strings.Contains(err.Error(), tt.problem) {
					t.Fatalf("error %v, want one with %q", err, tt.problem)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := b.Text("description"); got != tt.description || b.Body != tt.body || b.Line != tt.line {
				t.Errorf("description %q, body %q at line %d; want %q, %q, %d", got, b.Body, b.Line, tt.description, tt.body, tt.line)
			}
			var w Warning
			if b.Warning != nil {
				w = *b.Warning
			}
			if w.Line != tt.warningAt || !strings.Contains(w.Reason, tt.warning) || (w.Reason == "") != (tt.warning == "") {
				t.Errorf("warning %+v, want %q in line %d", w, tt.warning, tt.warningAt)
			}
		})
	}
}

// TestValues checks all forms of booleans and lists.
func TestValues(t *testing.T) {
	b, err := Parse([]byte("---\nyes: yes\non: On\none: 1\nno: no\noff: off\nzero: 0\nodd: maybe\n" +
		"text: Bash(git add *), Read Edit(src/**)\nlist:\n  - Bash(git add *)\n  - Read\nempty:\nmap: {a: b}\n---\n"))
	if err != nil || b.Warning != nil {
		t.Fatal(err, b.Warning)
	}
	for name, want := range map[string]bool{"yes": true, "on": true, "one": true, "no": false, "off": false, "zero": false} {
		if b.Bool(name, !want) != want {
			t.Errorf("%s is not %v", name, want)
		}
	}
	if !b.Bool("odd", true) || b.Bool("odd", false) || !b.Bool("missing", true) {
		t.Error("what is no boolean is not the default")
	}
	for name, want := range map[string][]string{
		"text": {"Bash(git add *)", "Read", "Edit(src/**)"}, "list": {"Bash(git add *)", "Read"}, "empty": nil, "missing": nil, "map": nil,
	} {
		if got := b.List(name); !slices.Equal(got, want) {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	if !b.Has("empty") || b.Has("missing") || b.Text("map") != "" {
		t.Error("Has or Text is wrong")
	}
}

// TestPlainTexts checks that a setting without the quotes that YAML needs does not affect the others. Forms
// documented by other agents cause no warning.
func TestPlainTexts(t *testing.T) {
	for _, tt := range []struct {
		name, block string
		key, want   string
		warningAt   int
	}{
		{"a hint with two brackets", "argument-hint: [issue] [priority]", "argument-hint", "[issue] [priority]", 0},
		{"a pattern", "paths: **/*.{ts,tsx}", "paths", "**/*.{ts,tsx}", 0},
		{"a colon", "description: It's for: tests", "description", "It's for: tests", 4},
		{"both", "argument-hint: [a] [b]\ndescription: Use when: x", "description", "Use when: x", 5},
		{"one bracket is YAML", "argument-hint: [issue]", "argument-hint", "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, err := Parse([]byte("---\nallowed-tools: Read\ndisable-model-invocation: true\n" + tt.block + "\n---\nText"))
			if err != nil || b.Text(tt.key) != tt.want || !slices.Equal(b.List("allowed-tools"), []string{"Read"}) || !b.Bool("disable-model-invocation", false) {
				t.Errorf("%q, %v, %v", b.Text(tt.key), b.List("allowed-tools"), err)
			}
			if (b.Warning == nil) != (tt.warningAt == 0) {
				t.Errorf("%+v", b.Warning)
			}
		})
	}
}

// All spellings of a setting are the same, and settings with limits are recognized by their words.
func TestNamesOfSettings(t *testing.T) {
	b, err := Parse([]byte("---\nDisallowed_Tools: Bash\nwhenToUse: x\n---\nText"))
	if err != nil || !slices.Equal(b.List("disallowed-tools"), []string{"Bash"}) || b.Text("when_to_use") != "x" || !slices.Equal(b.Names(), []string{"Disallowed_Tools", "whenToUse"}) {
		t.Errorf("%v, %v: %v", b.Names(), b.List("disallowed-tools"), err)
	}
	for name, want := range map[string]bool{
		"tools": true, "allowed_tools": true, "permissionMode": true, "read-only": true, "sandbox_mode": true, "excludeTools": true, "Mode": true,
		"name": false, "description": false, "model": false, "license": false, "required-tools": false, "color": false, "metadata": false, "version": false,
	} {
		if Restricts(name) != want {
			t.Errorf("%s limits something: %v", name, !want)
		}
	}
	for moment, want := range map[string]bool{"preToolUse": true, "BeforeTool": true, "beforeShellExecution": true, "PermissionRequest": true, "PreCompact": false, "Stop": false, "PermissionDenied": false} {
		if Guards(moment) != want {
			t.Errorf("%s may refuse something: %v", moment, !want)
		}
	}
}

// A duplicate key of a JSON object is found, at any depth and in any spelling.
func TestNamesThatAreThereTwice(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": 1, "b": [{"a": 1}, {"a": "a"}], "c": {"a": "c"}}`: "",
		`{"a": 1, "b": 2, "a": 3}`:                               "a",
		`{"x": [1, {"a": {"b": []}, "A": 2}]}`:                   "A",
		`{"x": ["a", "a"], "y": "x"}`:                            "",
		`["a", "a"]`:                                             "",
		`{"a": `:                                                 "",
		``:                                                       "",
	} {
		if got := Twice([]byte(text)); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// FuzzParse checks that no file causes a panic, and that a body is part of its file.
func FuzzParse(f *testing.F) {
	f.Add("---\nname: a\ndescription: Use when: x\n---\nText")
	f.Add("---\na: &x [*x]\n---\n")
	f.Fuzz(func(t *testing.T, file string) {
		b, err := Parse([]byte(file))
		if err != nil {
			return
		}
		if !strings.Contains(strings.ReplaceAll(file, "\r\n", "\n"), b.Body) {
			t.Errorf("body %q is not in the file %q", b.Body, file)
		}
		b.List("name")
	})
}

// TestListOfRules checks that a list is split at commas and spaces outside of parentheses.
func TestListOfRules(t *testing.T) {
	for list, want := range map[string][]string{
		"Bash(git add *), Bash(git commit *),Read": {"Bash(git add *)", "Bash(git commit *)", "Read"},
		"Read Grep\tGlob":                          {"Read", "Grep", "Glob"},
		"Bash(echo (a, b)) Read":                   {"Bash(echo (a, b))", "Read"},
		"Bash(git add Read, Grep":                  {"Bash(git add Read, Grep"},
		"x) Read":                                  {"x)", "Read"},
		" , ":                                      nil,
	} {
		if got := split(list); !slices.Equal(got, want) {
			t.Errorf("%q has %q, want %q", list, got, want)
		}
	}
}
