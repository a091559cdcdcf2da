package file

import (
	"os"
	"strings"
	"testing"
)

// leaving creates a workspace with files that searches leave out.
func leaving(t *testing.T) *bench {
	b := newBench(t)
	b.put(".gitignore", "node_modules\ndist/\n*.local\n", "node_modules/effect/package.json", "x\n", "dist/a.js", "x\n", "dist/deep/b.js", "x\n",
		"cfg.local", "x\n", "real/deep/m.md", "x\n", "real/own.local", "x\n", ".git/config", "x\n", ".ci/c.js", "x\n")
	b.link("real", "linked")
	b.link("dist/a.js", "a-link.js")
	return b
}

// TestGlobFindsWhatIsNamedAndSaysWhatIsNot: a pattern that begins with an ignored or linked folder searches that
// folder, an exact path is always found, and a note lists what is left out.
func TestGlobFindsWhatIsNamedAndSaysWhatIsNot(t *testing.T) {
	b := leaving(t)
	const hint = "; start the pattern with one to find it"
	for _, tt := range []struct{ pattern, want, note string }{
		{"node_modules/effect/package.json", "node_modules/effect/package.json", ""},
		{"node_modules/*/package.json", "node_modules/effect/package.json", ""},
		{"**/node_modules/effect/*", "", "no file matches; left out: 2 ignored by git (dist/, node_modules/), 2 linked (a-link.js, linked)" + hint},
		{"dist/**/b.js", "dist/deep/b.js", ""},
		{"cfg.local", "cfg.local", "left out: 2 ignored by git (dist/, node_modules/), 2 linked (a-link.js, linked)" + hint},
		{"own.local", "", "no file matches; left out: 3 ignored by git (dist/, node_modules/, real/own.local), 2 linked (a-link.js, linked)" + hint},
		{"*.local", "", "no file matches; left out: 4 ignored by git (cfg.local, dist/, node_modules/, …), 2 linked (a-link.js, linked)" + hint},
		{"real/own.local", "real/own.local", ""},
		{"linked/**/*.md", "real/deep/m.md", ""},
		{"linked/deep/m.md", "real/deep/m.md", ""},
		{"real/deep/m.md", "real/deep/m.md", ""},
		{"real/*/m.md", "real/deep/m.md", ""}, // ignored files there can't match
		{"real/*.md", "", "no file matches"},
		{"*/deep/*.md", "real/deep/m.md", "left out: 2 ignored by git (dist/, node_modules/), 2 linked (a-link.js, linked)" + hint},
		{".git/config", ".git/config", ""},
		{".ci/*.js", ".ci/c.js", ""},
		{"./a-link.js", "a-link.js", "left out: 2 ignored by git (dist/, node_modules/), 1 linked (linked)" + hint},
		{"none/**/*.js", "", "no file matches; there is no none"},
		{"real/none.md", "", "no file matches: there is no real/none.md"},
		{"real/deep/M.md", "", `no file matches: there is no real/deep/M.md; did you mean "real/deep/m.md", which differs in case?`},
		{"real/deep", "", "no file matches: it is a folder, which list_dir lists"},
	} {
		got := b.OK("glob", args{"pattern": tt.pattern})
		if strings.TrimSpace(got.Text) != tt.want || got.Note != tt.note {
			t.Errorf("glob(%s) = %q, note %q\nwant %q, note %q", tt.pattern, got.Text, got.Note, tt.want, tt.note)
		}
	}
	b.Fails("glob", args{"pattern": "real/../../x"}, "must be relative")
}

// TestGrepFindsWhatIsNamedAndSaysWhatIsNot checks the same for the files that grep searches.
func TestGrepFindsWhatIsNamedAndSaysWhatIsNot(t *testing.T) {
	b := leaving(t)
	const hint = "; give one as path to search it"
	for _, tt := range []struct {
		a          args
		want, note string
	}{
		{args{"glob": "*.js"}, ".ci/c.js:1:x", "left out: 2 ignored by git (dist/, node_modules/), 2 linked (a-link.js, linked)" + hint},
		{args{"glob": "dist/**/*.js"}, "dist/a.js:1:x dist/deep/b.js:1:x", ""},
		{args{"glob": "dist/a.js"}, "dist/a.js:1:x", ""},
		{args{"glob": "cfg.local"}, "cfg.local:1:x", "left out: 2 ignored by git (dist/, node_modules/), 2 linked (a-link.js, linked)" + hint},
		{args{"glob": "linked/deep/m.md"}, "real/deep/m.md:1:x", ""},
		{args{"glob": "real/deep"}, "real/deep/m.md:1:x", ""},
		{args{"path": "cfg.local"}, "cfg.local:1:x", ""},
		{args{"path": "a-link.js"}, "dist/a.js:1:x", ""},
		{args{"path": "linked"}, "real/deep/m.md:1:x", "left out: 1 ignored by git (own.local)" + hint},
		{args{"path": "node_modules"}, "node_modules/effect/package.json:1:x", ""},
		{args{"path": "cfg.local", "glob": "real/*.md"}, "cfg.local:1:x", ""}, // glob has no effect when path is a file
		{args{"glob": "none/*.js"}, "", "no match in 0 files; there is no none"},
	} {
		tt.a["pattern"] = "x"
		got := b.OK("grep", tt.a)
		if strings.ReplaceAll(strings.TrimSpace(got.Text), "\n", " ") != tt.want || got.Note != tt.note {
			t.Errorf("grep(%v) = %q, note %q\nwant %q, note %q", tt.a, got.Text, got.Note, tt.want, tt.note)
		}
	}
}

// TestSearchesThroughLinksAskAboutWhereTheyLead: a path behind a link that leaves the workspace is planned by its real
// path, which the policy judges.
func TestSearchesThroughLinksAskAboutWhereTheyLead(t *testing.T) {
	b := newBench(t)
	outside := b.outside()
	must(t, os.WriteFile(outside+"/o.go", []byte("x\n"), 0o644))
	b.link(outside, "out")
	for _, tt := range []struct {
		tool string
		a    args
		want string
	}{
		{"glob", args{"pattern": "out/*.go"}, outside},
		{"glob", args{"pattern": "out/o.go"}, outside},
		{"grep", args{"pattern": "x", "glob": "out/*.go"}, outside},
		{"grep", args{"pattern": "x", "glob": "out/o.go"}, outside + "/o.go"},
		{"glob", args{"pattern": "*.go"}, b.root},
	} {
		if call, err := b.Plan(tt.tool, tt.a); err != "" || call.Planned.Path != tt.want {
			t.Errorf("%s(%v) plans %q, want %q; %s", tt.tool, tt.a, call.Planned.Path, tt.want, err)
		}
	}
}
