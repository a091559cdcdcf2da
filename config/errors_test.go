package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode"
)

const oneURL = "[models.a]\napi_base_url = \"http://localhost/v1\"\n"

// TestErrors has the exact line of every mistake.
func TestErrors(t *testing.T) {
	const urls = "(allowed: http://HOST/… or https://HOST/…)"
	var keys []string // of [ui]
	for _, f := range uiSection.fields {
		keys = append(keys, f.name)
	}
	tests := []struct{ name, text, want string }{
		{"syntax", "[agent]\nmodel = one\n", `c.toml:2: unexpected character U+006F 'o' at start of value (text is written "in quotes", true and false in small letters)`},
		{"syntax, no value", "[agent]\n\nmodel =", `c.toml:3: expected value, not end of input`},
		{"syntax, open table", "[agent\n", `c.toml:1: expected ']' to close table name`},
		{"key twice", "[agent]\nmodel = \"a\"\nmodel = \"b\"\n", `c.toml:3: key model is already defined (a setting may appear only once in its section)`},
		{"table twice", "[agent]\n[ui]\n[agent]\n", `c.toml:3: table agent already exists (a section may appear only once in a file; put its settings below the first one)`},
		{"bytes that are no text", "[agent]\nmodel = \"\xff\"\n", `c.toml:2: invalid UTF-8 character in basic string (allowed: UTF-8)`},
		{"NUL", "\x00", `c.toml:1: `},

		{"unknown section", "[agnet]\nmodel = \"a\"\n", `c.toml:1: agnet: unknown key (have: agent, context, agents, tools, sandbox, reminders, hooks, plugins, sessions, host, ui, keys, 12 more; nearest: agent)`},
		{"unknown section, nothing near", "[monitor]\n", `c.toml:1: monitor: unknown key (have: agent, context, agents, tools, sandbox, reminders, hooks, plugins, sessions, host, ui, keys, 12 more)`},
		{"old section", "[display]\ncolor = false\n", `c.toml:1: display: an old name: write [ui]`},
		{"old section of a profile", "[api]\n", `c.toml:1: api: an old name: write [models.NAME]`},
		{"old dotted key", "api.base_url = \"x\"\n", `c.toml:1: api.base_url: an old name: write models.api.api_base_url`},
		{"old key of the agent", "[agent]\ntop_p = 0.5\n", `c.toml:2: agent.top_p: an old name: write models.NAME.top_p`},
		{"old key without a use", "[agent]\nname = \"otto\"\n", `c.toml:2: agent.name: an old name: it has no effect any more: remove it`},
		{"old switch of a tool", "[tools]\nfetch_enabled = false\n", `c.toml:2: tools.fetch_enabled: an old name: write off = ["fetch_url"] in [tools] to switch it off`},
		{"unknown top key", "theme = \"dark\"\n", `c.toml:1: theme: unknown key (have: agent, context, agents, tools, sandbox, reminders, hooks, plugins, sessions, host, ui, keys, 12 more)`},
		{"unknown key", "[agent]\nmax_iteration = 3\n", `c.toml:2: agent.max_iteration: unknown key (have: model, system_prompt, append_system_prompt, mode, max_iterations, max_repeats, max_cost, warn_at, fallback_model, small_model, style, on_stall; nearest: max_iterations)`},
		{"unknown key, dotted", "\nagent.mdel = 3\n", `c.toml:2: agent.mdel: unknown key (have: model, system_prompt, append_system_prompt, mode, max_iterations, max_repeats, max_cost, warn_at, fallback_model, small_model, style, on_stall; nearest: model)`},
		{"unknown key, inline", "ui = { blink = true }\n", `c.toml:1: ui.blink: unknown key ` + list(keys, "blink")},
		{"unknown key of a profile", oneURL + "api_key_evn = \"X\"\n", `c.toml:3: models.a.api_key_evn: unknown key (have: api_base_url, api, model, api_key, api_key_env, api_key_file, reasoning_effort, calls, temperature, top_p, context_limit, max_tokens, 15 more; nearest: api_key_env)`},
		{"hostile key", "\"\x1b[31m\n\" = 1", `c.toml:1: `},
		{"hostile quoted key", `"\u001b[31m\n\u202e" = 1`, `c.toml:1: "\x1b[31m\n\u202e": unknown key (have: agent, context, agents, tools, sandbox, reminders, hooks, plugins, sessions, host, ui, keys, 12 more)`},

		{"string for integer", "[agent]\nmax_iterations = \"3\"\n", `c.toml:2: agent.max_iterations: must be an integer, not a string`},
		{"float for integer", "[agent]\nmax_iterations = 3.5\n", `c.toml:2: agent.max_iterations: must be an integer, not a float`},
		{"boolean for string", "[ui]\ntheme = true\n", `c.toml:2: ui.theme: must be a string, not a boolean`},
		{"integer for a key", oneURL + "api_key = 12345\n", `c.toml:3: models.a.api_key: must be a string, not an integer`},
		{"array for string", "[ui]\ntheme = [\n\"dark\"]\n", `c.toml:2: ui.theme: must be a string, not an array`},
		{"date for string", "[ui]\ntheme = 2026-01-01\n", `c.toml:2: ui.theme: must be a string, not a date or time`},
		{"table for string", "[ui.theme]\n", `c.toml:1: ui.theme: must be a string, not a table`},
		{"deep table for string", "[ui.theme.x]\n", `c.toml:1: ui.theme.x: theme is not a table`},
		{"string for table", "agent = \"one\"\n", `c.toml:1: agent: must be a table, not a string`},
		{"array of tables", "[[models]]\n", `c.toml:1: models: must be a table, not an array of tables`},
		{"string for profile", "[models]\na = \"b\"\n", `c.toml:2: models.a: must be a table, not a string`},
		{"string for boolean", "[ui]\ntitle = \"yes\"\n", `c.toml:2: ui.title: must be true or false, not a string`},
		{"unknown way to notify", "[ui]\nnotify = \"bel\"\n", `c.toml:2: ui.notify: unknown value "bel" (have: bell, osc9, osc777, off; nearest: bell)`},
		{"string for keys", "[keys]\nsend = \"Enter\"\n", `c.toml:2: keys.send: must be an array of strings, not a string`},
		{"number among keys", "[keys]\nsend = [\"Enter\", 2]\n", `c.toml:2: keys.send: must be an array of strings only`},
		{"table for keys", "[keys.send]\n", `c.toml:1: keys.send: must be an array of strings, not a table`},
		{"deep table for keys", "[keys]\nsend.x = []\n", `c.toml:2: keys.send.x: send is not a table`},
		{"negative turns", "[agent]\nmax_iterations = -1\n", `c.toml:2: agent.max_iterations: -1 is negative (allowed: 0 or more)`},
		{"negative tokens", oneURL + "context_limit = -5\n", `c.toml:3: models.a.context_limit: -5 is negative (allowed: 0 or more)`},
		{"rule as a table", "[allow]\ntool = \"x\"\n", `c.toml:1: allow: must be an array of tables: write [[allow]]`},
		{"rule as a value", "deny = 1\n", `c.toml:1: deny: must be an array of tables: write [[deny]]`},
		{"rule inline", "deny = [{tool=\"x\"}]\n", `c.toml:1: deny: must be an array of tables: write [[deny]]`},
		{"unknown key of a rule", "[[ask]]\ncommand = \"x\"\n", `c.toml:2: ask.command: unknown key (have: tool, prefix, path, host, target)`},
		{"prefix is no list", "[[ask]]\nprefix = \"go test\"\n", `c.toml:2: ask.prefix: must be an array of strings, not a string`},
		{"percent", "[context]\ncompact_at = 101\n", `c.toml:2: context.compact_at: 101 is out of range (allowed: 1 to 100)`},
		{"no percent", "[context]\nkeep = 0\n", `c.toml:2: context.keep: 0 is out of range (allowed: 1 to 100)`},
		{"unknown strategy", "[context]\nstrategy = \"digests\"\n", `c.toml:2: context.strategy: unknown value "digests" (have: summary, digest, window, keep; nearest: digest)`},
		{"thresholds in a wrong order", "[context]\ncompact_at = 96\n", `c.toml:2: context.compact_at: compact_at is too high for hard_at (95)`},
		{"thresholds, the other one set", "[context]\nwarn_at = 60\n", `c.toml:2: context.warn_at: hint_at is too high for warn_at (60)`},
		{"too large", "[agent]\nmax_iterations = 9223372036854775808\n", `c.toml:2: `},

		{"two key sources", oneURL + "api_key = \"k\"\n\napi_key_env = \"K\"\n", `c.toml:5: models.a.api_key_env: a second key source, the first is at c.toml:3 (allowed: one of api_key, api_key_env, api_key_file)`},
		{"two key sources, file", oneURL + "api_key_file = \"k\"\napi_key = \"\"\n", `c.toml:4: models.a.api_key: a second key source, the first is at c.toml:3 (allowed: one of api_key, api_key_env, api_key_file)`},
		{"key with a line break", oneURL + "api_key = \"SECRET\\n\"\n", `c.toml:3: models.a.api_key: has a space, a line break or another character that is not allowed in a key`},
		{"a key as variable", oneURL + "api_key_env = \"sk-SECRET\"\n", `c.toml:3: models.a.api_key_env: is not an environment variable name (allowed: letters, digits and _); a key itself belongs to api_key`},
		{"empty key file", oneURL + "api_key_file = \"\"\n", `c.toml:3: models.a.api_key_file: is not a path`},

		{"no URL", "\n[models.a]\nmodel = \"x\"\n", `c.toml:2: models.a: api_base_url is missing ` + urls},
		{"no URL, dotted", "\n\nmodels.a.model = \"x\"\n", `c.toml:3: models.a: api_base_url is missing ` + urls},
		{"empty URL", "[models.a]\napi_base_url = \" \"\n", `c.toml:2: models.a.api_base_url: is empty ` + urls},
		{"scheme", "[models.a]\napi_base_url = \"ftp://x/v1\"\n", `c.toml:2: models.a.api_base_url: "ftp://x/v1" has no http or https scheme ` + urls},
		{"scheme forgotten", "[models.a]\napi_base_url = \"localhost:8080/v1\"\n", `c.toml:2: models.a.api_base_url: "localhost:8080/v1" has no http or https scheme ` + urls},
		{"host", "[models.a]\napi_base_url = \"http:///v1\"\n", `c.toml:2: models.a.api_base_url: "http:///v1" has no host ` + urls},
		{"not a URL", "[models.a]\napi_base_url = \"http://x y\\u001b/\"\n", `c.toml:2: models.a.api_base_url: "http://x y\x1b/" is not a URL ` + urls},
		{"fragment", "[models.a]\napi_base_url = \"http://x/v1#b\"\n", `c.toml:2: models.a.api_base_url: "http://x/v1#b" has a fragment ` + urls},
		{"header with a key", oneURL + "headers = [\"Authorization: Bearer SECRET\"]\n", `c.toml:3: models.a.headers: Authorization can't be set here; a key belongs to api_key, api_key_env or api_key_file, its header to api_key_header`},
		{"password", "[models.a]\napi_base_url = \"http://u:SECRET@x/v1\"\n", `c.toml:2: models.a.api_base_url: has an @, as in a URL with a password (allowed: a plain URL; keys go to api_key, api_key_env or api_key_file)`},
		{"unknown api", oneURL + "api = \"completion\"\n", `c.toml:3: models.a.api: unknown API "completion" (have: completions, responses, anthropic; nearest: completions)`},
		{"empty model", oneURL + "model = \"\"\n", `c.toml:3: models.a.model: "" is empty or begins or ends with a space`},
		{"hostile model", oneURL + "model = \"a\\u001b\"\n", `c.toml:3: models.a.model: "a\x1b" has unprintable characters`},
		{"hostile profile", "[models.\"\\u0007\"]\n", `c.toml:1: models."\a": the profile's name "\a" has unprintable characters`},
		{"long profile", "[models." + strings.Repeat("x", 201) + "]\n", `c.toml:1: models.` + strings.Repeat("x", 193) + `…: the profile's name has 201 bytes (allowed: 200)`},

		{"missing profile", oneURL + "[agent]\nmodel = \"b\"\n", `c.toml:4: agent.model: no profile "b" (have: a)`},
		{"missing profile, near", "[models.work]\napi_base_url = \"http://x\"\n[agent]\nmodel = \"worq\"\n", `c.toml:4: agent.model: no profile "worq" (have: work; nearest: work)`},
		{"missing profile, none", "[agent]\nmodel = \"b\"\n", `c.toml:2: agent.model: no profile "b": none is defined`},

		{"missing fallback", oneURL + "[agent]\nfallback_model = \"b\"\n", `c.toml:4: agent.fallback_model: no profile "b" (have: a)`},
		{"the demo as fallback", oneURL + "[agent]\nfallback_model = \"demo\"\n", `c.toml:4: agent.fallback_model: no profile "demo" (have: a)`},
		{"unknown way to recover", "[agent]\non_stall = \"retri\"\n", `c.toml:2: agent.on_stall: unknown way to recover "retri" (have: retry, fallback, abort, wait; nearest: retry)`},
		{"string for dollars", "[agent]\nmax_cost = \"1\"\n", `c.toml:2: agent.max_cost: must be an amount in dollars, not a string`},
		{"negative dollars", "[agent]\nmax_cost = -0.5\n", `c.toml:2: agent.max_cost: -0.5 is out of range (allowed: 0 to 1000000)`},
		{"negative whole dollars", "[agent]\nmax_cost = -1\n", `c.toml:2: agent.max_cost: -1 is negative (allowed: 0 or more)`},
		{"no number of dollars", "[agent]\nmax_cost = nan\n", `c.toml:2: agent.max_cost: nan is out of range (allowed: 0 to 1000000)`},
		{"infinite dollars", "[agent]\nmax_cost = inf\n", `c.toml:2: agent.max_cost: inf is out of range (allowed: 0 to 1000000)`},
		{"too few dollars", "[agent]\nmax_cost = 1e-9\n", `c.toml:2: agent.max_cost: 1e-9 is less than a millionth of a dollar`},
		{"price of output missing", oneURL + "price_input = 3\n", `c.toml:1: models.a: price_output is missing, although other prices are set`},
		{"price of input missing", oneURL + "price_cached = 0.3\n", `c.toml:1: models.a: price_input is missing, although other prices are set`},

		{"deep key", strings.Repeat("a.", 100) + "a = 1", `c.toml:1: a key has more than 8 parts`},
		{"deep value", "ui = " + strings.Repeat("[", 100_000), `c.toml:1: arrays and inline tables are nested more than the maximum of 10000 levels deep`},
		{"many keys", "models = {}\n" + strings.Repeat("[x]\n", 5000), `c.toml:4001: more than 4000 keys`},
		{"huge", strings.Repeat("# comment\n", 1<<20/10+1), `--config: "c.toml": is over 1024 KiB`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			newHome(t)
			write(t, "c.toml", tt.text)
			cfg, index, _, err := Load(Options{Config: "c.toml"})
			wantError(t, err, tt.want)
			if cfg.Models != nil || cfg.Agent != (Agent{}) || index != nil {
				t.Errorf("values came with the error: %+v %v", cfg, index)
			}
		})
	}
}

// wantError checks an exact line, or the start of one that ends with a library's text.
func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %q", want)
	}
	if _, ok := errors.AsType[*Error](err); !ok {
		t.Errorf("%T is not an *Error", err)
	}
	got := err.Error()
	begins := strings.HasSuffix(strings.TrimSpace(want), ":") && strings.HasPrefix(got, want)
	if got != want && !begins {
		t.Errorf("%s\nwant:\n%s", got, want)
	}
	if strings.IndexFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }) >= 0 || len(got) > 1500 {
		t.Errorf("not one printable line: %q", got)
	}
	if strings.Contains(got, "SECRET") {
		t.Errorf("the error holds a secret: %s", got)
	}
}

// TestOptionErrors: wrong values of options and variables name the option or variable.
func TestOptionErrors(t *testing.T) {
	tests := []struct {
		name, text string
		env        map[string]string
		opts       Options
		want       string
	}{
		{"missing --config", "", nil, Options{Config: "no.toml"}, `--config: "no.toml": no such file or directory`},
		{"--config names a folder", "", nil, Options{Config: "/"}, `--config: "/": is a directory, not a file`},
		{"--model", "", nil, Options{Model: "zz"}, `--model: no profile "zz": none is defined; for a raw model id give --base-url too`},
		{"BUDDY_MODEL", "", map[string]string{"BUDDY_MODEL": "zz"}, Options{}, `BUDDY_MODEL: no profile "zz": none is defined; for a raw model id give --base-url too`},
		{"hostile --model", twoProfiles, nil, Options{Model: "\x1b"}, `--model: "\x1b" has unprintable characters`},
		{"--base-url", twoProfiles, nil, Options{BaseURL: "x"}, `--base-url: "x" has no http or https scheme (allowed: http://HOST/… or https://HOST/…)`},
		{"AGENT_BASE_URL", twoProfiles, map[string]string{"AGENT_BASE_URL": " "}, Options{}, `AGENT_BASE_URL: is empty (allowed: http://HOST/… or https://HOST/…)`},
		{"--base-url without a model", "", nil, Options{BaseURL: "http://x"}, `--base-url: needs a model: name one with --model or BUDDY_MODEL`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newHome(t)
			write(t, h.user, tt.text)
			for k, v := range tt.env {
				t.Setenv(k, v)
			}
			_, _, _, err := Load(tt.opts)
			wantError(t, err, tt.want)
		})
	}
}

// TestNotAFile: the error names the kind of file, and a FIFO does not hang the start.
func TestNotAFile(t *testing.T) {
	kinds := map[string]struct {
		make func(path string) error
		want string
	}{
		"directory": {func(path string) error { return os.MkdirAll(path, 0o700) }, "is a directory, not a file"},
		"fifo":      {func(path string) error { return syscall.Mkfifo(path, 0o600) }, "is not a regular file"},
		"huge": {func(path string) error {
			return os.WriteFile(path, make([]byte, maxFile+1), 0o600)
		}, "is over 1024 KiB"},
		"loop": {func(path string) error { return os.Symlink(path, path) }, "too many levels of symbolic links"},
	}
	for kind, k := range kinds {
		t.Run(kind, func(t *testing.T) {
			h := newHome(t)
			for _, path := range []string{h.user, h.legacyUser, h.project, h.legacyProject} {
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := k.make(path); err != nil {
					t.Fatal(err)
				}
				shown := path
				if filepath.Dir(path) == filepath.Dir(h.project) {
					shown = filepath.Base(path)
				}
				_, _, _, err := Load(Options{})
				wantError(t, err, shown+": "+k.want)
				_, _, _, err = Load(Options{Config: path})
				wantError(t, err, `--config: "`+path+`": `+k.want)
				if err := os.RemoveAll(path); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	t.Run("unreadable", func(t *testing.T) { // a link to itself, which not even root can read
		h := newHome(t)
		write(t, h.user, "")
		if err := os.Remove(h.user); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(h.user, h.user); err != nil {
			t.Fatal(err)
		}
		_, _, _, err := Load(Options{})
		wantError(t, err, h.user+": too many levels of symbolic links")
	})
}

// TestErrorWritesNothing
func TestErrorWritesNothing(t *testing.T) {
	h := newHome(t)
	write(t, h.project, "nonsense = 1\n")
	if _, _, _, err := Load(Options{}); err == nil {
		t.Fatal("no error")
	}
	if _, err := os.Stat(filepath.Dir(h.user)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the user's folder: %v", err)
	}
	entries, err := os.ReadDir(".")
	if err != nil || len(entries) != 1 {
		t.Errorf("working directory: %v %v", entries, err)
	}
}

func TestNearest(t *testing.T) {
	names := []string{"model", "system_prompt", "max_iterations", "ui"}
	for wrong, want := range map[string]string{
		"mdel": "model", "models": "model", "maxiterations": "max_iterations", "sysem_prompt": "system_prompt",
		"x": "", "": "", "completely_different": "", "uii": "ui",
	} {
		if got := nearest(wrong, names); got != want {
			t.Errorf("nearest(%q) = %q, want %q", wrong, got, want)
		}
	}
}

func TestPath(t *testing.T) {
	for want, parts := range map[string][]string{
		`models.a-b_1`:       {"models", "a-b_1"},
		`models."gpt 5".api`: {"models", "gpt 5", "api"},
		`""."a.b"`:           {"", "a.b"},
		`"\x1b\u202e\n"`:     {"\x1b\u202e\n"},
	} {
		if got := Path(parts...); got != want {
			t.Errorf("Path(%q) = %s, want %s", parts, got, want)
		}
	}
}
