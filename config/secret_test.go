package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

// TestKeySources: at most one source, BUDDY_API_KEY before all.
func TestKeySources(t *testing.T) {
	tests := []struct {
		name, source, file string // source: a line of the profile; file: what key.txt holds
		env                map[string]string
		key, from, err     string
	}{
		{"none", "", "", nil, "", "", ""},
		{"literal", `api_key = "lit"`, "", nil, "lit", "models.a.api_key", ""},
		{"variable", `api_key_env = "A_KEY"`, "", map[string]string{"A_KEY": "var"}, "var", "A_KEY", ""},
		{"unset variable is empty", `api_key_env = "A_KEY"`, "", nil, "", "A_KEY", ""},
		{"file", `api_key_file = "key.txt"`, "fil\n", nil, "fil", "DIR/key.txt", ""},
		{"file, CRLF", `api_key_file = "key.txt"`, "fil\r\n", nil, "fil", "DIR/key.txt", ""},
		{"file, no newline", `api_key_file = "./key.txt"`, "fil", nil, "fil", "DIR/key.txt", ""},
		{"file in the home", `api_key_file = "~/src/key.txt"`, "fil", nil, "fil", "DIR/key.txt", ""},
		{"BUDDY over literal", `api_key = "lit"`, "", map[string]string{"BUDDY_API_KEY": "bud"}, "bud", "BUDDY_API_KEY", ""},
		{"BUDDY over variable", `api_key_env = "A_KEY"`, "", map[string]string{"A_KEY": "var", "BUDDY_API_KEY": "bud"}, "bud", "BUDDY_API_KEY", ""},
		{"BUDDY over file", `api_key_file = "key.txt"`, "fil", map[string]string{"BUDDY_API_KEY": "bud"}, "bud", "BUDDY_API_KEY", ""},
		{"BUDDY over AGENT", ``, "", map[string]string{"AGENT_API_KEY": "age", "BUDDY_API_KEY": "bud"}, "bud", "BUDDY_API_KEY", ""},
		{"AGENT over literal", `api_key = "lit"`, "", map[string]string{"AGENT_API_KEY": "age"}, "age", "AGENT_API_KEY", ""},

		{"missing file", `api_key_file = "no.txt"`, "", nil, "", "DIR/no.txt", `c.toml:3: models.a.api_key_file: "DIR/no.txt": no such file or directory`},
		{"file is a folder", `api_key_file = "/"`, "", nil, "", "/", `c.toml:3: models.a.api_key_file: "/": is a directory, not a file`},
		{"file with spaces", `api_key_file = "key.txt"`, " fil \n\n", nil, "fil", "DIR/key.txt", ""},
		{"file is empty", `api_key_file = "key.txt"`, "\n", nil, "", "DIR/key.txt", `c.toml:3: models.a.api_key_file: "DIR/key.txt": is empty`},
		{"file of two lines", `api_key_file = "key.txt"`, "SECRET\nSECRET\n", nil, "", "DIR/key.txt", `c.toml:3: models.a.api_key_file: DIR/key.txt: the key has a space, a line break or another character that is not allowed in a key`},
		{"huge file", `api_key_file = "key.txt"`, strings.Repeat("SECRET", 4000), nil, "", "DIR/key.txt", `c.toml:3: models.a.api_key_file: "DIR/key.txt": is over 16 KiB`},
		{"broken variable", `api_key_env = "A_KEY"`, "", map[string]string{"A_KEY": "SEC RET"}, "", "A_KEY", `c.toml:3: models.a.api_key_env: A_KEY: the key has a space, a line break or another character that is not allowed in a key`},
		{"broken BUDDY", `api_key = "lit"`, "", map[string]string{"BUDDY_API_KEY": "SECRET\x1b"}, "", "BUDDY_API_KEY", `BUDDY_API_KEY: the key has a space, a line break or another character that is not allowed in a key`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newHome(t)
			dir := filepath.Dir(h.project)
			write(t, "c.toml", oneURL+tt.source+"\n")
			if tt.file != "" {
				write(t, "key.txt", tt.file)
			}
			for k, v := range tt.env {
				t.Setenv(k, v)
			}
			cfg, _, _ := load(t, Options{Config: "c.toml"})
			key, from, err := cfg.Active.Key()
			if want := strings.ReplaceAll(tt.from, "DIR", dir); key != tt.key || from != want {
				t.Errorf("Key() = %q, %q, want %q, %q", key, from, tt.key, want)
			}
			if tt.err != "" {
				wantError(t, err, strings.ReplaceAll(tt.err, "DIR", dir))
				if cfg.Problem != err.Error() {
					t.Errorf("problem %q, want the error", cfg.Problem)
				}
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestKeyPlace: the place of a key, and the right way to change it there.
func TestKeyPlace(t *testing.T) {
	for _, tt := range []struct {
		name, settings string
		env            map[string]string
		elsewhere      bool // the settings are not in the person's own file
		want           string
	}{
		{"setting", oneURL + `api_key = "lit"`, nil, false, "api_key in ~/.config/buddy/buddy.toml:3 · /config edit changes it"},
		{"setting of another file", oneURL + `api_key = "lit"`, nil, true, "api_key in c.toml:3"},
		{"file", oneURL + `api_key_file = "~/key.txt"`, nil, false, "~/key.txt · change the key in that file, then start buddy again"},
		{"variable", oneURL + `api_key_env = "A_KEY"`, map[string]string{"A_KEY": "var"}, false, "A_KEY in the environment · change it there, then start buddy again"},
		{"variable that counts before all", oneURL + `api_key = "lit"`, map[string]string{"BUDDY_API_KEY": "bud"}, false, "BUDDY_API_KEY in the environment · change it there, then start buddy again"},
		{"variable of the provider", `agent.model = "groq"`, map[string]string{"GROQ_API_KEY": "var"}, false, "GROQ_API_KEY in the environment · change it there, then start buddy again"},
		{"login", `agent.model = "openai"`, nil, false, "~/.config/buddy/auth.json · /login openai replaces it"},
		{"none", oneURL, nil, false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHome(t)
			write(t, filepath.Join(os.Getenv("HOME"), "key.txt"), "fil")
			for k, v := range tt.env {
				t.Setenv(k, v)
			}
			if _, err := Auth().SetKey(t.Context(), "openai", "kept"); err != nil {
				t.Fatal(err)
			}
			path, o := h.user, Options{}
			if tt.elsewhere {
				path, o.Config = "c.toml", "c.toml"
			}
			write(t, path, tt.settings+"\n")
			cfg, _, _ := load(t, o)
			key, source, err := cfg.Active.Key()
			if got := cfg.Active.KeyPlace(source); err != nil || (key == "") != (tt.want == "") || got != tt.want {
				t.Errorf("key %q, %v: %q, want %q", key, err, got, tt.want)
			}
		})
	}
}

// TestKeyFileIsAFIFO: a FIFO is refused at once, without waiting for a writer.
func TestKeyFileIsAFIFO(t *testing.T) {
	newHome(t)
	if err := syscall.Mkfifo("key", 0o600); err != nil {
		t.Fatal(err)
	}
	write(t, "c.toml", oneURL+"api_key_file = \"key\"\n")
	cfg, _, _ := load(t, Options{Config: "c.toml"})
	if !strings.HasSuffix(cfg.Problem, "/key\": is not a regular file") {
		t.Errorf("problem = %q", cfg.Problem)
	}
}

// TestFileModes: a file with a key that other users may open causes a notice.
func TestFileModes(t *testing.T) {
	for _, tt := range []struct {
		mode   os.FileMode
		source string
		notice string
	}{
		{0o600, `api_key = "k"`, ""},
		{0o640, `api_key = "k"`, ""},
		{0o644, `api_key = "k"`, "buddy.toml holds a key and other users may open it (mode 0644): chmod 600 it"},
		{0o644, `api_key = ""`, ""},
		{0o644, `api_key_env = "K"`, ""},
		{0o600, `api_key_file = "key"`, ""},
		{0o444, `api_key_file = "key"`, "key holds a key and other users may open it (mode 0444): chmod 600 it"},
	} {
		t.Run(fmt.Sprintf("%04o %s", tt.mode, tt.source), func(t *testing.T) {
			h := newHome(t)
			write(t, h.user, oneURL+tt.source+"\n")
			key := filepath.Join(filepath.Dir(h.user), "key")
			write(t, key, "k\n")
			for _, path := range []string{h.user, key} {
				if err := os.Chmod(path, tt.mode); err != nil {
					t.Fatal(err)
				}
			}
			_, _, notices := load(t, Options{})
			got := strings.Join(notices, "\n")
			if want := filepath.Join(filepath.Dir(h.user), tt.notice); tt.notice != "" && got != want || tt.notice == "" && got != "" {
				t.Errorf("notices = %q, want %q", got, want)
			}
		})
	}
}

// TestOnlyFilesWithKeysHoldKeys: a key in the person's own file causes no notice about a project's settings that others
// may read.
func TestOnlyFilesWithKeysHoldKeys(t *testing.T) {
	for _, mode := range []os.FileMode{0o600, 0o644} {
		h := newHome(t)
		write(t, h.user, oneURL+"api_key = \"k\"\n")
		write(t, h.project, "[tools]\noff = [\"fetch_url\"]\n")
		for path, mode := range map[string]os.FileMode{h.user: mode, h.project: 0o644} {
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
		}
		_, _, notices := load(t, Options{})
		var holds []string
		for _, n := range notices {
			if file, _, ok := strings.Cut(n, " holds a key"); ok {
				holds = append(holds, file)
			}
		}
		if got := strings.Join(holds, ", "); got != "" && got != h.user || (got != "") != (mode != 0o600) {
			t.Errorf("the person's file with mode %04o: %q hold keys", mode, got)
		}
	}
}

// TestSecretIsNeverPrinted formats a key in every way a program may meet.
func TestSecretIsNeverPrinted(t *testing.T) {
	const key = "hunter2hunter2"
	hex := fmt.Sprintf("%x", key)
	s := newSecret(key)
	p := Profile{Name: "a", APIKey: s}
	hidden := struct {
		p  Profile
		ps []Profile
		pp *Profile
	}{p, []Profile{p}, &p}
	cfg := Config{Models: []Profile{p}, Active: &p}
	var out strings.Builder
	for _, v := range []any{s, &s, p, &p, hidden, &hidden, cfg, &cfg, []any{s}, map[string]Secret{"k": s}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%p", "%y"} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
		if b, err := json.Marshal(v); err == nil {
			out.Write(b)
		}
		if b, err := toml.Marshal(v); err == nil {
			out.Write(b)
		}
		var log bytes.Buffer
		slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "v", v)
		slog.New(slog.NewTextHandler(&log, nil)).Info("x", "v", v)
		out.Write(log.Bytes())
	}
	out.WriteString(s.String())
	text := strings.ToLower(out.String())
	if strings.Contains(text, key) || strings.Contains(text, hex) {
		t.Errorf("a format prints the key:\n%s", out.String())
	}
	if !strings.Contains(text, redacted) {
		t.Error("no format shows that there is a key")
	}
	if got := fmt.Sprintf("%v|%s|%v", Secret{}, newSecret(""), newSecret("k")); got != "||"+redacted {
		t.Errorf("unset, empty, set = %q", got)
	}
}

// TestLocal: endpoints on this machine need no key.
func TestLocal(t *testing.T) {
	for url, want := range map[string]bool{
		"http://localhost:11434/v1": true, "http://LOCALHOST": true, "http://a.localhost/": true, "http://127.0.0.1/v1": true,
		"http://127.9.9.9": true, "https://[::1]:8080/v1": true, "http://[::ffff:127.0.0.1]": true,
		"http://localhost.evil.example": false, "http://127.0.0.1.evil.example": false, "http://192.168.1.2": false,
		"https://api.example/localhost": false, "http://0.0.0.0": false, "": false, "%": false,
	} {
		if got := local(url); got != want {
			t.Errorf("local(%q) = %v, want %v", url, got, want)
		}
	}
}
