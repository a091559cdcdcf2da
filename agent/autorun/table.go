// Package autorun recognizes by name the files that other programs execute or take commands from, such as a Makefile.
// Even in edits mode, which allows other edits, a change to such a file needs approval.
//
//	by, what, matched, ok := autorun.Find("web/package.json")
//	// "npm", "scripts and packages", "package.json", true
package autorun

import (
	"path"
	"path/filepath"
	"strings"
	"sync"
)

// files lists files that another program executes or takes commands from: a writer of such a file can run commands
// later without approval. Patterns are in lower case and match consecutive elements at the end of a path. A pattern
// that ends in / matches a folder at any depth and everything below it.
var files = []struct{ by, what, patterns string }{
	{"git", "hook", ".git/hooks/ *.git/hooks/ .githooks/"},
	{"git", "settings and filters", ".git/ *.git/config .gitmodules .gitattributes .gitconfig .config/git/ .gitlint"},
	{"hg", "hooks and settings", ".hg/ .hgrc"},
	{"svn", "hooks and settings", ".svn/"},
	{"jj", "settings", ".jj/ .jjconfig.toml"},
	{"git", "hooks of a hook manager", ".husky/ .huskyrc* .pre-commit-config.y*ml .pre-commit-hooks.y*ml lefthook*.y*ml .lefthook* .lefthook/ .overcommit.yml lint-staged.config.* .lintstagedrc* .commitlintrc*"},

	{"make", "build rules", "makefile makefile.* gnumakefile bsdmakefile *.mk *.mak kbuild"},
	{"a task runner", "tasks", "justfile .justfile *.just taskfile.y*ml taskfile.*.y*ml .taskrc.y*ml magefile*.go magefiles/ procfile procfile.* tiltfile earthfile snakefile moon.y*ml tasks.py noxfile.py fabfile.py dodo.py"},
	{"cmake", "build rules", "cmakelists.txt *.cmake *.cmake.in cmakepresets.json cmakeuserpresets.json"},
	{"a build tool", "build rules", "configure configure.ac configure.in *.m4 meson.build meson.options meson_options.txt *.ninja sconstruct sconscript wscript xmake.lua premake*.lua tupfile *.pro *.pri conanfile.* vcpkg.json"},
	{"bazel", "build rules", "build build.bazel workspace workspace.bazel module.bazel *.bzl .bazelrc .bazelversion .bazeliskrc buck targets .buckconfig"},
	{"npm", "scripts and packages", "package.json package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml pnpm-workspace.yaml bun.lock bun.lockb .pnp.*js .pnpmfile.*js node_modules/"},
	{"npm", "settings", ".npmrc .yarnrc .yarnrc.yml .yarn/ bunfig.toml deno.json deno.jsonc nx.json turbo.json lerna.json rush.json angular.json"},
	{"node", "settings that are code", "*.config.*js *.config.*ts *.conf.*js *.conf.*ts gulpfile* gruntfile* .babelrc* .eslintrc* .prettierrc* .stylelintrc* .swcrc .storybook/ .releaserc*"},
	{"python", "build and packages", "setup.py setup.cfg pyproject.toml tox.ini requirements*.txt pipfile pipfile.lock poetry.lock uv.lock uv.toml pixi.toml pixi.lock environment.y*ml"},
	{"python", "modules loaded at its start", "sitecustomize.py usercustomize.py *.pth *.egg-link __pycache__/ *.pyc .venv/ venv/ site-packages/ .pythonrc* .pdbrc .ipython/ .jupyter/"},
	{"pip", "settings", "pip.conf pip.ini .pypirc .condarc .config/pip/"},
	{"gradle", "build rules", "*.gradle *.gradle.kts gradle.properties gradlew gradlew.bat gradle/ .gradle/ buildsrc/"},
	{"maven", "build rules", "pom.xml .mvn/ mvnw mvnw.cmd"},
	{"a Java build tool", "build rules", "build.xml ivy.xml *.sbt project/build.properties .sbtopts .jvmopts build.sc build.mill deps.edn project.clj shadow-cljs.edn bb.edn"},
	{"cargo", "build rules and toolchain", "cargo.toml cargo.lock build.rs .cargo/ rust-toolchain rust-toolchain.toml"},
	{"go", "toolchain, tools and replaced modules", "go.mod go.sum go.work go.work.sum go.env .config/go/"},
	{"ruby", "build, packages and settings", "rakefile *.rake gemfile gemfile.lock *.gemspec .gemrc .bundle/ config.ru guardfile capfile brewfile podfile dangerfile fastfile .irbrc .pryrc .rubocop*.yml"},
	{"dotnet", "build rules", "*.csproj *.fsproj *.vbproj *.vcxproj *.props *.targets *.sln *.slnx nuget.config global.json dotnet-tools.json"},
	{"php", "build and packages", "composer.json composer.lock .user.ini"},
	{"swift", "build rules", "package.swift *.xcodeproj/ *.xcworkspace/ *.xcconfig"},
	{"a build tool", "build rules", "build.zig build.zig.zon dune dune-project mix.exs mix.lock .iex.exs rebar.config *.cabal cabal.project stack.yaml setup.hs .ghci *.nimble config.nims pubspec.yaml makefile.pl build.pl"},
	{"nix", "build rules", "*.nix flake.lock devenv.yaml devbox.json"},

	{"a test runner", "test configuration", "conftest.py pytest.ini .coveragerc jest.config.* jest.setup.* vitest.config.* vitest.workspace.* vitest.setup.* setuptests.* .mocharc* .nycrc* karma.conf.* phpunit.xml phpunit.*.xml .rspec spec_helper.rb rails_helper.rb test_helper.rb cypress/support/ cypress/plugins/"},
	{"a linter", "plugins", "pylintrc .pylintrc mypy.ini .mypy.ini .flake8 .perlcriticrc .perltidyrc"},

	{"CI", "jobs", ".github/ .gitlab/ .gitlab-ci*.y*ml jenkinsfile jenkinsfile.* *.jenkinsfile .circleci/ .travis.yml azure-pipelines*.y*ml .azure-pipelines/ .azuredevops/ bitbucket-pipelines.yml .drone.y*ml .drone.* .woodpecker.y*ml .woodpecker/ .buildkite/ appveyor.yml .appveyor.yml"},
	{"CI", "jobs", "cloudbuild.y*ml buildspec*.y*ml .teamcity/ .gitea/ .forgejo/ .cirrus.y*ml .cirrus.star .semaphore/ .tekton/ .build.yml .builds/ .zuul.y*ml .zuul.d/ .ci/ action.y*ml .goreleaser.y*ml .readthedocs.y*ml netlify.toml vercel.json fly.toml render.yaml"},

	{"the editor", "settings and tasks", ".vscode/ .idea/ *.iml *.code-workspace .vs/ .fleet/ .zed/ .nova/ .theia/ .settings/ .project nbproject/ *.sublime-project *.sublime-build"},
	{"the editor", "settings", ".exrc .vimrc .gvimrc .lvimrc .nvimrc .nvim.lua .vim/ .nvim/ .config/nvim/ .dir-locals*.el .emacs .emacs.d/ .config/emacs/ .helix/ .config/helix/ .kakrc .ycm_extra_conf.py"},
	{"the debugger", "commands at its start", ".gdbinit .gdbearlyinit .lldbinit .config/gdb/"},
	{"the container", "build rules and settings", "dockerfile dockerfile.* *.dockerfile containerfile containerfile.* compose.y*ml compose.*.y*ml docker-compose*.y*ml docker-bake.* docker-entrypoint* podman-compose*.y*ml .devcontainer/ .devcontainer.json devfile.y*ml .gitpod.yml vagrantfile skaffold.y*ml .docker/"},
	{"direnv", "variables and commands", ".envrc .direnv/ .config/direnv/"},
	{"the shell", "variables of a folder", ".autoenv* .env.leave"},
	{"a version manager", "toolchain", ".tool-versions mise.toml mise.*.toml .mise.toml .mise.*.toml .mise/ .config/mise/ .rtx.toml .asdfrc .*-version .nvmrc .sdkmanrc .hermit/ aqua.y*ml"},

	{"the shell", "commands at its start", ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .mkshrc .shrc .cshrc .tcshrc .login .logout .inputrc .config/fish/ *profile.ps1 .pam_environment"},
	{"the desktop or system", "commands at its start", ".xinitrc .xsession .xsessionrc .xprofile .config/autostart/ .config/systemd/ .config/environment.d/ *.service *.timer *.desktop crontab cron.d/ .local/bin/ launchagents/ launchdaemons/"},
	{"another program", "commands at its start", ".tmux.conf .config/tmux/ .screenrc .lesskey .curlrc .wgetrc .psqlrc .sqliterc .rprofile .renviron .octaverc .ansible.cfg ansible.cfg .terraformrc"},

	{"an agent", "instructions, hooks and servers", "agents*.md claude*.md gemini.md qwen.md skill.md .claude/ .claude.json .codex/ .gemini/ .cursor/ .cursorrules .windsurf/ .windsurfrules .clinerules .clinerules/ .roo/ .roomodes .continue/ .aider* .opencode/ opencode.json* .amazonq/ .kiro/ .crush.json crush.json .agents/ .mcp.json mcp.json"},
	{"buddy", "settings and instructions", "buddy.toml agent.toml .buddyx/ .buddy/ .config/buddy/"},
}

type pattern struct {
	elements []string // of the path; each is a pattern of [path.Match]
	folder   bool     // matches everything below, too
	by, what string
}

// patterns returns the parsed patterns of files, in order.
var patterns = sync.OnceValue(func() []pattern {
	var all []pattern
	for _, row := range files {
		for text := range strings.FieldsSeq(row.patterns) {
			trimmed, folder := strings.CutSuffix(text, "/")
			all = append(all, pattern{strings.Split(trimmed, "/"), folder, row.by, row.what})
		}
	}
	return all
})

// Find returns the program that executes or takes commands from a file, the kind of file, and the part of the path
// that matched; ok is false for other files. It ignores case, since some file systems do.
func Find(name string) (by, what, matched string, ok bool) {
	elements := strings.Split(filepath.ToSlash(name), "/")
	lower := strings.Split(fold(filepath.ToSlash(name)), "/")
	for _, p := range patterns() {
		if at := p.find(lower); at >= 0 {
			return p.by, p.what, strings.Join(elements[at:], "/"), true
		}
	}
	return "", "", "", false
}

// Reason describes the result of Find in one line, such as "make runs Makefile: build rules". It returns "" for other
// files.
func Reason(name string) string {
	by, what, matched, ok := Find(name)
	if !ok {
		return ""
	}
	return by + " runs " + matched + ": " + what
}

// fold returns a name in lower case. Converting to upper case first also turns the long s (ſ) into s.
func fold(name string) string { return strings.ToLower(strings.ToUpper(name)) }

// find returns the index of the first path element that the pattern matches, or -1.
func (p pattern) find(elements []string) int {
	last := len(elements) - len(p.elements)
	from := max(last, 0)
	if p.folder {
		from = 0
	}
	for at := from; at <= last; at++ {
		if p.matches(elements[at:]) {
			return at
		}
	}
	return -1
}

// matches reports whether the pattern matches the start of a path.
func (p pattern) matches(elements []string) bool {
	for i, pattern := range p.elements {
		if pattern == elements[i] {
			continue
		}
		if !strings.Contains(pattern, "*") {
			return false
		}
		if ok, _ := path.Match(pattern, elements[i]); !ok {
			return false
		}
	}
	return true
}
