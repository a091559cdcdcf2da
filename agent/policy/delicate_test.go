package policy

import (
	"strings"
	"testing"

	"buddy/agent/action"
	"buddy/agent/autorun"
)

// executedPaths maps paths below the workspace to the start of the reason for approval.
var executedPaths = map[string]string{
	".git/hooks/pre-commit": "git runs .git/hooks/pre-commit: hook", ".GIT/Hooks/post-checkout": "git runs .GIT/Hooks", ".git": "git", "sub/.git/info/attributes": "git",
	"mirror.git/hooks/update": "git", ".gitmodules": "git", ".gitattributes": "git", "doc/.gitattributes": "git", ".githooks/pre-push": "git", ".husky/pre-commit": "git",
	".husky/_/husky.sh": "git", ".pre-commit-config.yaml": "git", "lefthook.yml": "git", ".hg/hgrc": "hg", ".svn/hooks/x": "svn", ".jj/repo/config.toml": "jj",

	"Makefile": "make runs Makefile: build rules", "makefile": "make", "MAKEFILE": "make", "GNUmakefile": "make", "Makefile.am": "make", "rules.mk": "make", "a/b/Makefile": "make",
	"CMakeLists.txt": "cmake", "cmake/deps.cmake": "cmake", "CMakePresets.json": "cmake", "configure": "a build tool", "configure.ac": "a build tool", "meson.build": "a build tool",
	"BUILD.bazel": "bazel", "WORKSPACE": "bazel", "defs.bzl": "bazel", ".bazelrc": "bazel", "Justfile": "a task runner", ".justfile": "a task runner", "Taskfile.yml": "a task runner",
	"Taskfile.dist.yaml": "a task runner", "magefile.go": "a task runner", "Procfile": "a task runner", "noxfile.py": "a task runner", "build.ninja": "a build tool", "SConstruct": "a build tool",
	"package.json": "npm", "web/package.json": "npm", "package-lock.json": "npm", "yarn.lock": "npm", ".npmrc": "npm", ".yarnrc.yml": "npm", ".yarn/plugins/x.cjs": "npm", "node_modules/.bin/tsc": "npm",
	"vite.config.ts": "node", "webpack.config.js": "node", "eslint.config.mjs": "node", ".eslintrc.cjs": "node", "gulpfile.js": "node", ".babelrc": "node", "Gruntfile.js": "node",
	"setup.py": "python", "pyproject.toml": "python", "setup.cfg": "python", "requirements-dev.txt": "python", "Pipfile": "python", "sitecustomize.py": "python", "usercustomize.py": "python",
	"lib/x.pth": "python", ".venv/bin/python": "python", "pip.conf": "pip", ".pypirc": "pip",
	"build.gradle": "gradle", "app/build.gradle.kts": "gradle", "gradlew": "gradle", "gradle/wrapper/gradle-wrapper.properties": "gradle", "pom.xml": "maven", ".mvn/extensions.xml": "maven",
	"mvnw": "maven", "build.xml": "a Java", "build.sbt": "a Java", "Cargo.toml": "cargo", "crates/x/build.rs": "cargo", ".cargo/config.toml": "cargo", "rust-toolchain": "cargo",
	"rust-toolchain.toml": "cargo", "go.mod": "go", "go.work": "go", "Rakefile": "ruby", "Gemfile": "ruby", "x.gemspec": "ruby", "config.ru": "ruby", "App.csproj": "dotnet",
	"Directory.Build.props": "dotnet", "composer.json": "php", "Package.swift": "swift", "mix.exs": "a build tool", "build.zig": "a build tool", "flake.nix": "nix", "Makefile.PL": "make",

	"conftest.py": "a test runner", "tests/conftest.py": "a test runner", "pytest.ini": "a test runner", "jest.config.js": "node", "jest.config.json": "a test runner", "vitest.config.mts": "node",
	"karma.conf.js": "node", "phpunit.xml.dist": "", ".mocharc.yml": "a test runner", ".rspec": "a test runner", "spec/spec_helper.rb": "a test runner", "tox.ini": "python", ".pylintrc": "a linter",

	".github/workflows/ci.yml": "CI", ".GitHub/Workflows/ci.yml": "CI", ".gitlab-ci.yml": "CI", "Jenkinsfile": "CI", ".circleci/config.yml": "CI", ".travis.yml": "CI", "azure-pipelines.yml": "CI",
	"bitbucket-pipelines.yml": "CI", ".buildkite/pipeline.yml": "CI", "action.yml": "CI", ".woodpecker/x.yml": "CI", ".gitea/workflows/a.yaml": "CI",
	".vscode/tasks.json": "the editor", ".vscode/settings.json": "the editor", ".idea/workspace.xml": "the editor", "shop.code-workspace": "the editor", ".exrc": "the editor",
	".nvim.lua": "the editor", ".dir-locals.el": "the editor", ".zed/tasks.json": "the editor", ".gdbinit": "the debugger", ".lldbinit": "the debugger",
	".devcontainer/devcontainer.json": "the container", "Dockerfile": "the container", "Dockerfile.dev": "the container", "api.dockerfile": "the container", "compose.yaml": "the container",
	"docker-compose.override.yml": "the container", "Containerfile": "the container", "Vagrantfile": "the container", ".gitpod.yml": "the container",
	".envrc": "direnv", ".tool-versions": "a version manager", "mise.toml": "a version manager", ".mise.local.toml": "a version manager", ".python-version": "a version manager", ".nvmrc": "a version manager",
	".bashrc": "the shell", ".profile": "the shell", ".zshenv": "the shell", ".config/fish/config.fish": "the shell", ".xinitrc": "the desktop", ".config/systemd/user/a.service": "the desktop",
	".tmux.conf": "another", ".curlrc": "another", ".local/bin/ls": "the desktop", "Microsoft.PowerShell_profile.ps1": "the shell",
	"AGENTS.md": "an agent", "sub/CLAUDE.md": "an agent", ".claude/settings.json": "an agent", ".cursor/rules/a.mdc": "an agent", ".cursorrules": "an agent", ".mcp.json": "an agent",
	"GEMINI.md": "an agent", "opencode.json": "an agent", "buddy.toml": "buddy", "agent.toml": "buddy", ".buddyx/x": "buddy", ".buddy/agents/a.md": "buddy",
	"ma\u017fk/.cur\u017for/rules/x": "an agent", // ſ equals s on file systems that ignore case

	// Ordinary files of a project need no approval.
	"main.go": "", "main_test.go": "", "cmd/build/main.go": "", "internal/make/rules.go": "", "src/index.ts": "", "src/config.ts": "", "app.py": "", "tests/test_app.py": "", "models/tasks/list.py": "",
	"README.md": "", "docs/make.md": "", "docs/hooks.md": "", "hooks/useAuth.ts": "", "src/hooks/pre-commit.go": "", "build/output.txt": "", "makefiles.txt": "", "package.json.md": "",
	"src/package.ts": "", "data/config.json": "", "tsconfig.json": "", ".gitignore": "", ".editorconfig": "", "LICENSE": "", "CHANGELOG.md": "", "style.css": "", "index.html": "", "lib/git/hooks.go": "",
	"src/github/workflows.go": "", "github/workflows/ci.yml": "", "git/config": "", "main.c": "", "include/build.h": "", "Cargo.md": "", "src/main.rs": "", "App.java": "", "scripts/report.sql": "",
	"agents/policy.go": "", "templates/compose.html": "", "docker/notes.txt": "", "setup.md": "", "profile.md": "", "bashrc.md": "", "vscode/settings.json": "", "testdata/x.golden": "",
	"pkg/target/targets.go": "", "workspace/a.go": "", "configure.md": "", "conftest.txt": "", "sub/dir/notes.txt": "", "go.modx": "", "a.git/x": "",
}

// Edits mode asks about a file that another program executes and names the program; it asks about no other file of
// the workspace.
func TestModeEditsAsksAboutExecutedFiles(t *testing.T) {
	p := Policy{Workspace: "/w", Home: "/home/ann"}
	if len(executedPaths) < 200 {
		t.Errorf("the corpus has only %d paths", len(executedPaths))
	}
	for path, by := range executedPaths {
		got := p.Judge(write("/w/"+path), action.ModeEdits)
		switch {
		case by == "" && got.Decision != action.Allow:
			t.Errorf("%s: %+v, want it allowed", path, got)
		case by != "" && (got.Decision != action.Ask || !strings.HasPrefix(autorun.Reason("/w/"+path), by)):
			t.Errorf("%s: %+v, %q, want approval because %s …", path, got, autorun.Reason("/w/"+path), by)
		case by != "" && Secret("/w/"+path) == "" && (got.Rule != executedRule || !strings.HasPrefix(got.Reason, by)):
			t.Errorf("%s: %+v does not say that %s runs it", path, got, by)
		}
	}
}

// Every name of a change counts: both names of a rename, each file of a patch, and the links to a file.
func TestExecutedFilesByEveryName(t *testing.T) {
	p := Policy{Workspace: "/w", Home: "/home/ann"}
	patch := func(paths ...string) action.Action {
		return action.Action{Kind: action.FileWrite, Tool: "apply_patch", Path: paths[0], Paths: paths}
	}
	linked := write("/w/rules.txt")
	linked.Links = []string{"/w/Makefile"}
	away := write("/w/shared/pre-commit")
	away.Links = []string{"/w/.husky/pre-commit"}
	deleted := action.Action{Kind: action.FileDelete, Path: "/w/conftest.py"}
	tests := []struct {
		name string
		act  action.Action
		mode action.Mode
		want action.Decision
		why  string
	}{
		{"ordinary files of a patch", patch("/w/a.go", "/w/b.go"), action.ModeEdits, action.Allow, "edits mode"},
		{"one file of a patch", patch("/w/a.go", "/w/go.mod", "/w/b.go"), action.ModeEdits, action.Ask, "go runs go.mod"},
		{"renamed to", patch("/w/notes.txt", "/w/Makefile"), action.ModeEdits, action.Ask, "make runs Makefile"},
		{"renamed from", patch("/w/Makefile", "/w/notes.txt"), action.ModeEdits, action.Ask, "make runs Makefile"},
		{"mode ask says it, too", patch("/w/a.go", "/w/Makefile"), action.ModeAsk, action.Ask, "make runs Makefile"},
		{"a link", linked, action.ModeEdits, action.Ask, "make runs Makefile"},
		{"a linked folder", away, action.ModeEdits, action.Ask, "git runs .husky/pre-commit"},
		{"deleted", deleted, action.ModeEdits, action.Ask, "a test runner runs conftest.py"},
		{"mode all", linked, action.ModeAll, action.Allow, "all mode"},
		{"mode plan", linked, action.ModePlan, action.Deny, "plan mode"},
	}
	for _, tt := range tests {
		if got := p.Judge(tt.act, tt.mode); got.Decision != tt.want || !strings.HasPrefix(got.Reason, tt.why) {
			t.Errorf("%s: %+v, want %s, %s …", tt.name, got, tt.want, tt.why)
		}
	}
	if c := p.Context(linked, action.ModeEdits); !strings.HasPrefix(c.Why, "make runs Makefile") || c.Similar != "" {
		t.Errorf("the approval of a link says %+v, want its reason and no similar", c)
	}
	wide := p.With(action.Rule{Decision: action.Allow, Path: "**", Source: action.FromUser})
	if got := wide.Judge(linked, action.ModeAsk); got.Decision != action.Ask {
		t.Errorf("a rule with a wildcard covers an executed file: %+v", got)
	}
	exact := p.With(action.Rule{Decision: action.Allow, Path: "Makefile", Source: action.FromUser})
	if got := exact.Judge(write("/w/Makefile"), action.ModeAsk); got.Decision != action.Allow {
		t.Errorf("a rule that names the file: %+v, want it allowed", got)
	}
}
