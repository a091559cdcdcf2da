package project

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"buddy/config"
	"buddy/features/lsp"
)

// languagePrograms makes a folder with empty programs and other files, and makes it the PATH.
func languagePrograms(t *testing.T, files ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		name, text, _ := strings.Cut(name, "=")
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", filepath.Join(dir, "bin"))
	return dir
}

// described returns servers as one text.
func described(all []lsp.Server) string {
	var lines []string
	for _, s := range all {
		line := s.Name + ": " + strings.Join(s.Command, " ")
		if s.Off {
			line += " off"
		}
		if s.Problem != "" {
			line += " (" + s.Problem + ")"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// executable makes files of a project executable.
func executable(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := os.Chmod(name, 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

func TestKnownLanguageServersAreThoseOnThePath(t *testing.T) {
	s := sourceOf(t, nil)
	languagePrograms(t)
	if got := described(s.LanguageServers()); got != "" {
		t.Errorf("without programs: %s", got)
	}
	dir := languagePrograms(t, "bin/gopls", "bin/pyright-langserver", "bin/zls")
	s.Config.LSP = []config.LanguageServer{
		{Name: "zls", Command: []string{"zls", "--x"}, Languages: []string{".zig=zig"}, Roots: []string{"build.zig"}, Init: `{"a":1}`, Enabled: true},
		{Name: "gopls", Settings: `{"gopls":{}}`, Enabled: true},
		{Name: "clangd"},
		{Name: "gone", Command: []string{"gone"}, Languages: []string{".x=x"}, Enabled: true},
		{Name: "empty", Enabled: true},
	}
	all := s.LanguageServers()
	want := strings.ReplaceAll(`zls: DIR/bin/zls --x
gopls: DIR/bin/gopls
clangd: clangd off
gone:  (its program "gone" does not exist)
empty:  (it has no command)
pyright: DIR/bin/pyright-langserver --stdio`, "DIR", dir)
	if got := described(all); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if zls, gopls := all[0], all[1]; zls.Languages[".zig"] != "zig" || string(zls.Init) != `{"a":1}` || gopls.Languages[".go"] != "go" || string(gopls.Settings) != `{"gopls":{}}` {
		t.Errorf("zls %+v, gopls %+v", zls, gopls)
	}
	s.Away = "web-02"
	if got := s.LanguageServers(); len(got) != 0 {
		t.Errorf("for another machine: %s", described(got))
	}
}

// Only TypeScript 7 has a language server; the one for older versions must not run the project's compiler.
func TestTypeScriptThatFitsIsTaken(t *testing.T) {
	s := sourceOf(t, nil)
	for version, want := range map[string]string{"7.0.2": "typescript: ", "5.9.3": "", "": ""} {
		dir := languagePrograms(t, "lib/typescript/bin/tsc", `lib/typescript/package.json={"version": "`+version+`"}`, "bin/x")
		if err := os.Symlink("../lib/typescript/bin/tsc", filepath.Join(dir, "bin/tsc")); err != nil {
			t.Fatal(err)
		}
		if got := described(s.LanguageServers()); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("with version %q: %s", version, got)
		}
	}
	for _, beside := range []string{"lib/typescript/lib/tsserver.js", "lib/other"} {
		dir := languagePrograms(t, "lib/typescript-language-server/lib/cli.mjs", beside, "bin/x")
		if err := os.Symlink("../lib/typescript-language-server/lib/cli.mjs", filepath.Join(dir, "bin/typescript-language-server")); err != nil {
			t.Fatal(err)
		}
		all := s.LanguageServers()
		if beside == "lib/other" {
			if len(all) != 0 {
				t.Errorf("without a TypeScript of its own: %s", described(all))
			}
			continue
		}
		if len(all) != 1 || !strings.Contains(string(all[0].Init), filepath.Join(dir, beside)) {
			t.Errorf("with one: %s", described(all))
		}
	}
}

// trustLanguages trusts the current language servers of a project.
func trustLanguages(t *testing.T, s *Source) {
	t.Helper()
	checks, _, err := s.check()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range checks {
		if err := TrustStore().TrustParts(c.Dir, c.Part.Part); err != nil {
			t.Fatal(err)
		}
	}
}

// A program of the project runs only once its current form is trusted, wherever it is found.
func TestLanguageServersOfAProjectNeedTrust(t *testing.T) {
	for name, one := range map[string]struct {
		file string
		path string // added in front of the PATH
		set  []config.LanguageServer
		args string
	}{
		"a package":            {file: "node_modules/.bin/pyright-langserver", args: " --stdio"},
		"on the path":          {file: "bin/pyright-langserver", path: "bin", args: " --stdio"},
		"on the path, by link": {file: "bin/pyright-langserver", path: "link", args: " --stdio"},
		"by the settings":      {file: "tools/py", set: []config.LanguageServer{{Name: "pyright", Command: []string{"./tools/py"}, Enabled: true}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := sourceOf(t, map[string]string{one.file: "#!/bin/sh\n"})
			dir := s.Config.Project.Dir
			executable(t, one.file)
			languagePrograms(t)
			if one.path == "link" {
				link := filepath.Join(t.TempDir(), "link")
				if err := os.Symlink(filepath.Join(dir, "bin"), link); err != nil {
					t.Fatal(err)
				}
				t.Setenv("PATH", link)
			} else if one.path != "" {
				t.Setenv("PATH", filepath.Join(dir, one.path))
			}
			s.Config.LSP = one.set
			runs := "pyright: " + filepath.Join(dir, one.file) + one.args
			if got := described(s.LanguageServers()); got != runs+" (not trusted (/trust, or run: buddy trust))" {
				t.Errorf("before: %s", got)
			}
			trustLanguages(t, s)
			if got := described(s.LanguageServers()); got != runs {
				t.Errorf("trusted: %s", got)
			}
			if err := os.WriteFile(one.file, []byte("#!/bin/sh\nrm -rf ~\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			if got := described(s.LanguageServers()); !strings.Contains(got, "it changed since you trusted it") {
				t.Errorf("changed: %s", got)
			}
		})
	}
}

// The user's own program has priority over that of the project, which then is no part.
func TestThePersonsOwnLanguageServerComesFirst(t *testing.T) {
	s := sourceOf(t, map[string]string{"node_modules/.bin/pyright-langserver": "#!/bin/sh\n"})
	executable(t, "node_modules/.bin/pyright-langserver")
	dir := languagePrograms(t, "bin/pyright-langserver")
	if got := described(s.LanguageServers()); got != "pyright: "+dir+"/bin/pyright-langserver --stdio" {
		t.Errorf("got %s", got)
	}
	if checks, _, err := s.check(); len(checks) != 0 || err != nil {
		t.Errorf("parts %+v, %v", checks, err)
	}
}

// A server that runs the project's own code needs trust, wherever its own program is.
func TestALanguageServerThatRunsTheProjectNeedsTrust(t *testing.T) {
	s := sourceOf(t, map[string]string{"Cargo.toml": "[package]\n"})
	dir := languagePrograms(t, "bin/rust-analyzer")
	runs := "rust-analyzer: " + dir + "/bin/rust-analyzer"
	if got := described(s.LanguageServers()); got != runs+" (not trusted (/trust, or run: buddy trust))" {
		t.Errorf("before: %s", got)
	}
	checks, _, err := s.check()
	if err != nil || len(checks) != 1 || !strings.Contains(strings.Join(checks[0].Lines(), "\n"), "runs the project's own code (build scripts, macros)\nruns: "+dir+"/bin/rust-analyzer\nfrom: "+dir+"/bin/rust-analyzer\n") {
		t.Errorf("parts %+v, %v", checks, err)
	}
	trustLanguages(t, s)
	if got := described(s.LanguageServers()); got != runs {
		t.Errorf("trusted: %s", got)
	}
}

// A server that runs the project's own code starts only in trusted folders: not in one below the working directory, in
// another workspace folder, or without a root file. Trust applies below the folder, up to the next repository. Without
// such files nothing needs trust.
func TestALanguageServerThatRunsTheProjectNeedsTrustWhereItStarts(t *testing.T) {
	s := sourceOf(t, map[string]string{
		"crate/Cargo.toml": "", "crate/deep/Cargo.toml": "", "crate/other/.git/x": "", "crate/other/Cargo.toml": "", "beside/Cargo.toml": "",
	})
	dir, programs := s.Config.Project.Dir, languagePrograms(t, "bin/rust-analyzer", "bin/gopls")
	for name, set := range map[string][]config.LanguageServer{
		"by its name": nil,
		"by its path": {{Name: "rust-analyzer", Command: []string{filepath.Join(programs, "bin/rust-analyzer")}, Enabled: true}},
	} {
		t.Run(name, func(t *testing.T) {
			s.Config.LSP = set
			refused := func(name string) string {
				t.Helper()
				all := s.LanguageServers()
				rust, gopls := all[slices.IndexFunc(all, func(d lsp.Server) bool { return d.Name == "rust-analyzer" })], all[slices.IndexFunc(all, func(d lsp.Server) bool { return d.Name == "gopls" })]
				if rust.Problem != "" || gopls.Problem != "" || gopls.Refuses != nil {
					t.Fatalf("%s", described(all))
				}
				return rust.Refuses(filepath.Join(dir, name))
			}
			if checks, _, err := s.check(); len(checks) > 0 || err != nil || noticesOf(s) != "" {
				t.Errorf("what needs trust without such files: %+v, %v", checks, err)
			}
			crate := filepath.Join(dir, "crate")
			if got := refused("crate"); got != "not trusted (run: buddy trust --part lsp:rust-analyzer "+crate+")" {
				t.Errorf("before: %s", got)
			}
			checks, _, err := CheckParts(crate, s.Config)
			if err != nil || len(checks) != 1 || checks[0].String() != "lsp:rust-analyzer" {
				t.Fatalf("parts %+v, %v", checks, err)
			}
			if err := TrustStore().TrustParts(checks[0].Dir, checks[0].Part.Part); err != nil {
				t.Fatal(err)
			}
			defer TrustStore().ForgetParts(checks[0].Dir, checks[0].Part.Part) //nolint:errcheck // the next case would show an error
			for name, want := range map[string]string{
				"crate": "", "crate/deep": "", "crate/other": "not trusted", "beside": "not trusted", ".": "it starts only in a folder that you trusted and that has Cargo.toml",
			} {
				if got := refused(name); !strings.HasPrefix(got, want) || want == "" && got != "" {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			}
		})
	}
}

func TestLanguageServersOfPlugins(t *testing.T) {
	files := tidy(".buddy/plugins/tidy")
	files[".buddy/plugins/tidy/.lsp.json"] = `{
		"own": {"command": "${CLAUDE_PLUGIN_ROOT}/check", "args": ["--data", "${CLAUDE_PLUGIN_DATA}"], "extensionToLanguage": {".x": "x"},
			"env": {"LEVEL": "${LSP_TEST_UNSET:-high}"}, "initializationOptions": {"a": 1}, "settings": {"b": 2}, "startupTimeout": 1500},
		"quiet": {"command": "quiet", "extensionToLanguage": {".y": "y"}, "diagnostics": false},
		"unset": {"command": "${LSP_TEST_UNSET}", "extensionToLanguage": {".z": "z"}},
		"wrong": {"command": ["x"]}
	}`
	s := sourceOf(t, files)
	languagePrograms(t, "bin/gopls")
	all := s.LanguageServers()
	if len(all) != 5 || all[0].Name != "tidy:own" || all[4].Name != "gopls" || !strings.Contains(all[0].Problem, "not trusted") {
		t.Fatalf("before: %s", described(all))
	}
	trustPlugins(t, s)
	all = s.LanguageServers()
	root := filepath.Join(s.Config.Project.Dir, ".buddy/plugins/tidy")
	own := all[0]
	if own.Problem != "" || own.Command[0] != root+"/check" || own.Languages[".x"] != "x" || string(own.Init) != `{"a": 1}` || string(own.Settings) != `{"b": 2}` ||
		own.Env[0] != "LEVEL=high" || own.Start.Milliseconds() != 1500 {
		t.Errorf("trusted: %+v", own)
	}
	if !all[1].Off || !strings.Contains(all[2].Problem, "LSP_TEST_UNSET is not set") || !strings.Contains(all[3].Problem, "cannot unmarshal") {
		t.Errorf("the others: %s", described(all))
	}
	found, _, err := s.plugins()
	if err != nil || !strings.Contains(found[0].part.Runs, root+"/check --data") {
		t.Errorf("the part says %q, %v", found[0].part.Runs, err)
	}
}

// A session finds its servers in the settings of the manual.
func TestLanguageServerOfTheManual(t *testing.T) {
	page, err := os.ReadFile("../../docs/extensions.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(page), "```toml home/.config/buddy/buddy.toml\n")
	text, _, closed := strings.Cut(text, "```")
	if !ok || !closed {
		t.Fatal("the example is not there")
	}
	file := filepath.Join(t.TempDir(), "c.toml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _, _, err := config.Load(config.Options{Config: file})
	if err != nil {
		t.Fatal(err)
	}
	def := languageServers(c)[0]
	if def.Name != "checker" || def.Problem != "" || def.Languages[".x"] != "x" || def.Roots[0] != "project.x" {
		t.Errorf("%+v", def)
	}
}
