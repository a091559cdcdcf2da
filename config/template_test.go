package config

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/config.md")

const referenceFile = "../docs/config.md"

// TestTemplate: the template changes nothing, and uncommented it has the defaults and the example profiles.
func TestTemplate(t *testing.T) {
	h := newHome(t)
	want, _, _ := load(t, Options{})
	if created, err := WriteTemplate(h.user); err != nil || !created {
		t.Fatal(created, err)
	}
	cfg, _, notices := load(t, Options{})
	if cfg.Agent != want.Agent || cfg.UI != want.UI || len(cfg.Models) != 0 || cfg.Active != nil || len(notices) != 0 || cfg.MissingFile != "" {
		t.Errorf("the template changes the config: %+v %q", cfg, notices)
	}
	if strings.Contains(Template(), "\nmodel") {
		t.Error("[agent] model is set")
	}

	write(t, h.user, regexp.MustCompile(`(?m)^#([^\s:])`).ReplaceAllString(Template(), "$1"))
	cfg, index, _ := load(t, Options{})
	if cfg.Agent != want.Agent || cfg.UI != want.UI {
		t.Errorf("uncommented: %+v %+v", cfg.Agent, cfg.UI)
	}
	if len(cfg.Models) != len(examples) {
		t.Fatalf("models = %+v", cfg.Models)
	}
	for i, e := range examples {
		got := cfg.Models[i]
		got.keyPlace = ""
		if !reflect.DeepEqual(got, e.profile) {
			t.Errorf("%+v, want %+v", got, e.profile)
		}
	}
	for _, s := range sections {
		for _, f := range s.fields {
			if _, ok := index[Path(s.name, f.name)]; !ok && !s.named && !s.rules && !f.old {
				t.Errorf("%s.%s is not in the template", s.name, f.name)
			}
		}
	}
}

// TestWriteTemplate: exclusive create, 0600 in a folder of 0700.
func TestWriteTemplate(t *testing.T) {
	h := newHome(t)
	if created, err := WriteTemplate(h.user); !created || err != nil {
		t.Fatal(created, err)
	}
	for path, want := range map[string]os.FileMode{h.user: 0o600, filepath.Dir(h.user): 0o700 | os.ModeDir} {
		info, err := os.Stat(path)
		if err != nil || info.Mode() != want {
			t.Errorf("%s: mode %v, want %v (%v)", path, info.Mode(), want, err)
		}
	}
	write(t, h.user, "mine")
	if created, err := WriteTemplate(h.user); created || err != nil {
		t.Error(created, err)
	}
	if data, err := os.ReadFile(h.user); string(data) != "mine" || err != nil {
		t.Errorf("the file was replaced: %q %v", data, err)
	}
	if err := errors.Join(os.Remove(h.user), os.Symlink("nowhere", h.user)); err != nil {
		t.Fatal(err)
	}
	if created, err := WriteTemplate(h.user); created || err != nil {
		t.Error("a dangling link was followed", created, err)
	}
}

// TestWriteTemplateCannot: the error is one line with the file's name, for a notice.
func TestWriteTemplateCannot(t *testing.T) {
	newHome(t)
	write(t, "file", "")
	path := filepath.Join("file", "buddy", "buddy.toml")
	if created, err := WriteTemplate(path); created || err == nil || err.Error() != `config template "file/buddy/buddy.toml": not a directory` {
		t.Error(created, err)
	}
	// Nobody can create files in /proc, as in a read-only home folder.
	if _, err := os.Stat("/proc/self"); err == nil {
		if created, err := WriteTemplate("/proc/buddy/buddy.toml"); created || err == nil || strings.Contains(err.Error(), "\n") {
			t.Error(created, err)
		}
	}
}

// TestReference: docs/config.md is current; -update writes it.
func TestReference(t *testing.T) {
	want := reference()
	if *update {
		if err := os.WriteFile(referenceFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(referenceFile)
	if err != nil || string(got) != want {
		t.Errorf("%s is stale: run make generate", referenceFile)
	}
}

// writeOldKeys documents the keys of files with an old name.
func writeOldKeys(b *strings.Builder) {
	b.WriteString("## Old keys\n\nbuddy reads these keys only in files named `agent.toml`, with a notice for each. In `buddy.toml` they are errors that name the new\n" +
		"key. If a file has both, the new key counts.\n\n| old key | new key |\n|---|---|\n")
	for _, old := range slices.Sorted(maps.Keys(oldKeys)) {
		now := "none: it has no effect"
		switch key := oldKeys[old]; {
		case strings.HasPrefix(key, "models.NAME."):
			now = "`" + key + "`, for each profile of the file"
		case key != "":
			now = "`" + key + "`"
		}
		fmt.Fprintf(b, "| `%s` | %s |\n", old, now)
	}
	b.WriteString("| `tools.TOOL_enabled`, `tools.TOOL` = `false` | `tools.off`; TOOL is a name in [tools.md](tools.md), a group, or an old name such as `fetch` |\n" +
		"| `tools.shell_confirm` | `agent.mode`: `true` is `ask`, `false` is `all` (also read in `buddy.toml`) |\n\n" +
		"An `[api]` without `base_url` means `" + oldBase + "`, and its `protocol` may also be `chat` or `messages`.\n\n")
}

// network documents the settings that buddy takes from the system.
const network = "buddy reaches models, logins, web pages and MCP servers through the proxy in `HTTPS_PROXY` or `HTTP_PROXY`, otherwise in `ALL_PROXY`:\n" +
	"a URL with `http`, `https`, `socks5` or `socks5h`. It uses no proxy for the hosts in `NO_PROXY` and for this machine. It trusts the\n" +
	"system's certificate authorities, or those in `SSL_CERT_FILE` and `SSL_CERT_DIR`; a profile's `ca_file` adds others.\n"

// reference writes docs/config.md from the tables in the code.
func reference() string {
	var b strings.Builder
	b.WriteString(`<!-- Generated from config/fields.go by: go test ./config -run Reference -update -->
# Settings

Settings are TOML. A file may be empty or missing. If it has a mistake (syntax, an unknown key, a wrong type), buddy does not
start, and one line names the file, the line, the key and the allowed values.

## Where they come from

Highest precedence first:

1. the command line: ` + "`--model`, `--base-url`" + `
2. the environment, see below
3. ` + "`./buddy.toml`" + `, the project's file. It comes with a checkout: until you trust the folder (` + "`/trust` or `buddy trust`" + `), it may only
   make limits stricter; a notice names its other settings, which buddy ignores. Even a trusted file never loosens a limit, changes
   one of your profiles or targets, or sets a key marked *never*. If the file changes, buddy asks again.
4. ` + "`$XDG_CONFIG_HOME/buddy/buddy.toml`, or `~/.config/buddy/buddy.toml`" + `, your file
5. the defaults

Files are merged key by key. ` + "`--config FILE` replaces both files and is trusted; `--config /dev/null` reads none." + `
The old names ` + "`./agent.toml`, `~/.config/agent/agent.toml`" + ` and the old variables below still work, with a notice, if the new
name is missing. A file with an old name may also have the old keys below. ` + "`buddy config migrate`" + ` writes the new file.

## Commands

| command | what it does |
|---|---|
| ` + "`buddy config path`" + ` | the possible settings files, highest precedence first, and whether each exists |
| ` + "`buddy config show`" + ` | every setting in effect, with its source: file and line, variable or option |
| ` + "`buddy config get KEY`" + ` | the value of one setting, for scripts |
| ` + "`buddy config check [FILE]`" + ` | every mistake as one line, ` + "`file:line:column: key: what is allowed`" + `; exits with 2 if there is one |
| ` + "`buddy config edit`" + ` | your file in ` + "`$VISUAL` or `$EDITOR`" + `, checked when you leave the editor |
| ` + "`buddy config set KEY VALUE…`" + ` | changes one setting in your file; comments, order and permissions stay, and a wrong value changes nothing. ` + "`--unset KEY`" + ` removes the setting. If VALUE is ` + "`-`" + `, it is read from stdin; use that for API keys |
| ` + "`buddy config migrate`" + ` | writes the new settings file from an old ` + "`agent.toml`" + `, with your comments where a line stays; it never replaces a file |
| ` + "`buddy config schema`" + ` | the JSON Schema |

` + "`path`, `show`, `get` and `check` take `--json`; `--config FILE`" + ` makes all commands use that file. Write a KEY as
in TOML: ` + "`ui.theme`, `models.work.model`, `models.\"gpt 5\".model`" + `. API keys are never shown. To change rules, use ` + "`edit`" + `.

## In an editor

[buddy.schema.json](buddy.schema.json) describes all settings for editors with [Taplo](https://taplo.tamasfe.dev) or an extension
based on it, such as VS Code's Even Better TOML: they complete names and underline mistakes. The first start writes the schema next to
your file, whose first line, ` + "`" + schemaLine + "`" + `, refers to it. For a project's file, do the same with
` + "`buddy config schema > buddy.schema.json`" + `.

## While buddy runs

The full screen applies ` + "`[ui] theme`, `[keys]`, `[[allow]]`, `[[ask]]`, `[[deny]]`" + ` and theme files as soon as you save them; a line in
the conversation lists what was applied and which changes take effect at the next start or ` + "`/session new`" + `. If a file
has a mistake, nothing changes, and buddy shows the mistake once, with its position. An open approval stays open, unless a new rule
denies it. Rules apply at once only from files named ` + "`buddy.toml`" + `, because the model needs your approval to change these.

## Environment

| variable | old name | meaning |
|---|---|---|
`)
	for _, v := range envVars {
		fmt.Fprintf(&b, "| `%s` | `%s` | %s |\n", v.name, v.legacy, v.doc)
	}
	b.WriteString("\nAn empty variable counts as unset.\n\n")
	writeOldKeys(&b)
	b.WriteString(network)
	writeProviders(&b)
	c := defaults()
	p := Profile{API: Completions}
	for _, s := range sections {
		title := s.name
		if s.named {
			title += ".NAME"
		}
		if s.rules {
			title = "[" + title + "]"
		}
		fmt.Fprintf(&b, "\n## [%s]\n\n%s\n\n| key | value | default | in a project's file | meaning |\n|---|---|---|---|---|\n", title, s.doc)
		for _, f := range s.fields {
			value := "`" + literal(f.pointer(&c, &p)) + "`"
			project := map[access]string{personal: "never", tightens: "lower only", adds: "adds", trusted: "if trusted"}[accessOf(entry{path: []string{s.name}}, &f)]
			if f.strict != nil {
				project = "stricter only"
			}
			if s.named && f.name == "enabled" {
				value = "`true`"
			}
			if s.rules || s.named && (value == "`\"\"`" || value == "`0`") {
				value = "–"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", f.name, f.short, value, project, f.doc)
		}
		if f := s.free; f != nil {
			fmt.Fprintf(&b, "| %s | %s | built-in keys | ignored | %s |\n", f.name, f.short, f.doc)
		}
	}
	b.WriteString("\n## Template\n\nA first start writes this file, if there is none:\n\n```toml\n" + Template() + "```\n")
	return b.String()
}
