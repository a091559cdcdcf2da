package config

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"buddy/agent/action"
	"buddy/agent/model"
)

// writtenAgain checks that settings can be written and read again, that Check finds no mistake in that file, and that
// the schema accepts it. It leaves out secrets, which are never written, and rules without keys, which the policy
// refuses.
func writtenAgain(t *testing.T, path string, c Config, index Index) {
	t.Helper()
	writable(&c)
	text := Format(c.Settings(index), nil)
	write(t, "again.toml", text)
	again, _, _, err := Load(Options{Config: "again.toml"})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	writable(&again)
	if keys := Changed(&c, &again); len(keys) > 0 {
		t.Errorf("%v changed:\n%+v\n%+v\n%s", keys, c, again, text)
	}
	noted := Format(c.Settings(index), func(s Setting) string { return s.Source })
	var all map[string]any
	if err := toml.Unmarshal([]byte(noted), &all); err != nil {
		t.Errorf("%v in\n%s", err, noted)
	}
	if wrong := Check(path).Mistakes(); len(wrong) > 0 {
		t.Errorf("check: %v", wrong)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var v, root map[string]any
	if err := toml.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(Schema(), &root); err != nil {
		t.Fatal(err)
	}
	if bad := violation(root, v, ""); bad != "" && !strings.HasSuffix(bad, ": too few keys") { // a rule without keys
		t.Errorf("the schema refuses %q: %s", data, bad)
	}
}

func writable(c *Config) {
	for i := range c.Models {
		if c.Models[i].APIKey.String() != "" {
			c.Models[i].APIKey = Secret{}
		}
	}
	c.Active = nil
	c.Rules = slices.DeleteFunc(slices.Clone(c.Rules), func(r Rule) bool {
		return sameRule(r, Rule{Rule: action.Rule{Decision: r.Decision, Source: r.Source}})
	})
}

// TestWrittenAgain: any settings, in any TOML syntax.
func TestWrittenAgain(t *testing.T) {
	newHome(t)
	n := 150
	if testing.Short() {
		n = 20
	}
	for seed := range uint64(n) {
		r := rand.New(rand.NewPCG(seed, 1))
		text := randomFile(r)
		write(t, "c.toml", text)
		c, index, _, err := Load(Options{Config: "c.toml"})
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		writtenAgain(t, "c.toml", c, index)
		if t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, text)
		}
	}
}

// randomFile writes valid settings.
func randomFile(r *rand.Rand) string {
	var b strings.Builder
	for _, s := range sections {
		switch {
		case s.name == "context": // its values depend on each other
			fmt.Fprintf(&b, "[context]\nkeep = %d\n", 1+r.IntN(79))
		case s.name == targetsSection.name:
			for i := range r.IntN(3) {
				fmt.Fprintf(&b, "[targets.web-%d]\nssh = \"root@web\"\n", i)
				randomFields(r, &b, s, "ssh", "container")
			}
		case s.name == mcpSection.name:
			for i := range r.IntN(3) {
				fmt.Fprintf(&b, "[mcp.files-%d]\ncommand = [\"files\"]\n", i)
				randomFields(r, &b, s, "command", "url", "type", "headers", "bearer_env")
			}
		case s.name == lspSection.name:
			for i := range r.IntN(3) {
				fmt.Fprintf(&b, "[lsp.check-%d]\ncommand = [\"check\"]\n", i)
				randomFields(r, &b, s, "command", "extensions", "roots", "settings", "init")
			}
		case s.named:
			for i := range r.IntN(4) {
				name := []string{"a", "gpt 5", "ü.\"x\"", "0"}[i]
				fmt.Fprintf(&b, "[models.%s]\napi_base_url = \"http://localhost:%d/v1/\"\n", tomlString(name), 1+r.IntN(9999))
				randomFields(r, &b, s, "api_base_url", keySources[r.IntN(3)], keySources[r.IntN(3)], "price_input", "price_cached", "price_cache_write", "price_output", "auth", "login_issuer", "login_client_id")
				if r.IntN(2) == 0 {
					b.WriteString("login_client_id = \"x\"\nlogin_issuer = \"https://login.example\"\n")
				}
			}
		case s.rules:
			for range r.IntN(3) {
				fmt.Fprintf(&b, "[[%s]]\ntool = \"x\"\n", s.name)
				randomFields(r, &b, s, "tool")
			}
		case s.free != nil:
			fmt.Fprintf(&b, "[%s]\n%s = [%s]\n", s.name, tomlString(randomText(r)), tomlString(randomText(r)))
		case r.IntN(3) > 0:
			fmt.Fprintf(&b, "[%s] # %s\n", s.name, s.name)
			randomFields(r, &b, s, "model", "fallback_model", "small_model")
		}
	}
	return b.String()
}

// randomFields writes some fields of a section, except those in without.
func randomFields(r *rand.Rand, b *strings.Builder, s section, without ...string) {
	f := &file{dir: "/home/ann"}
	keyed := false
	for _, fld := range s.fields {
		isKey := strings.HasPrefix(fld.name, "api_key")
		if r.IntN(2) == 0 || strings.Contains(" "+strings.Join(without, " ")+" ", " "+fld.name+" ") || isKey && keyed {
			continue
		}
		keyed = keyed || isKey
		value := ""
		switch fld.pointer(&Config{}, &Profile{}).(type) {
		case *bool:
			value = fmt.Sprint(r.IntN(2) == 0)
		case *int, seconds:
			value = fmt.Sprint(1 + r.IntN(min(max(fld.most, 1), 100)))
			if fld.most == 0 {
				value = fmt.Sprintf("0x%x", r.IntN(1<<30))
			}
		case *model.Money:
			value = fmt.Sprintf("%d.%06d", r.IntN(1000), r.IntN(1_000_000))
		case **float64:
			value = fmt.Sprintf("0.%d", r.IntN(100))
		case *[]string:
			var items []string
			for range r.IntN(3) {
				items = append(items, tomlString(randomValue(r, &fld, f)))
			}
			value = "[" + strings.Join(items, ", # x\n\t") + "]"
		case *Secret:
			value = `"sk-123"`
		default:
			value = tomlString(randomValue(r, &fld, f))
		}
		fmt.Fprintf(b, "%s = %s # x\n", fld.name, value)
	}
}

// randomValue returns a text that a field accepts.
func randomValue(r *rand.Rand, fld *field, f *file) string {
	candidates := append(fld.words(), "A_B", "abc", "~/x", "light", "X-Title: a", "A=b", "a=5", "proxy.example.org", "http://a.example", randomText(r), randomText(r))
	for {
		v := candidates[r.IntN(len(candidates))]
		if fld.check == nil {
			return v
		}
		if _, err := fld.check(v, f); err == nil {
			return v
		}
	}
}

func randomText(r *rand.Rand) string {
	const runes = "ab \"'\\\n\t\r#[]=.,ü漢🙂\u202e\x1b\x00\x7f\u00a0"
	all := []rune(runes)
	text := make([]rune, r.IntN(8))
	for i := range text {
		text[i] = all[r.IntN(len(all))]
	}
	return string(text)
}

// TestSettings: each value has its source, including overrides.
func TestSettings(t *testing.T) {
	h := newHome(t)
	write(t, h.user, twoProfiles+"[ui]\ntheme = \"dark\"\n[[deny]]\nprefix = [\"rm\", \"-rf\"]\n[keys]\nsend = []\n")
	write(t, h.project, "[agent]\nmax_iterations = 3\n[[ask]]\nhost = \"x.example\"\n")
	t.Setenv("BUDDY_API_KEY", "k")
	c, index, _ := load(t, Options{Model: "two", BaseURL: "http://localhost:9"})
	got := map[string]string{}
	for _, s := range c.Settings(index) {
		got[s.Key] = s.TOML + " from " + strings.ReplaceAll(s.Source, h.user, "mine")
	}
	for key, want := range map[string]string{
		"agent.model":              `"two" from --model`,
		"agent.max_iterations":     `3 from buddy.toml:2`,
		"agent.max_cost":           `0 from default`,
		"ui.theme":                 `"dark" from mine:10`,
		"ui.title":                 `true from default`,
		"keys.send":                `[] from mine:14`,
		"models.one.model":         `"id-1" from mine:3`,
		"models.two.api_base_url":  `"http://localhost:9" from --base-url`,
		"models.two.api_key":       `"" from BUDDY_API_KEY`,
		"models.two.context_limit": `1000 from mine:8`,
		"deny[0].prefix":           `["rm", "-rf"] from mine:11`,
		"ask[1].host":              `"x.example" from buddy.toml:3`,
	} {
		if got[key] != want {
			t.Errorf("%s = %s, want %s", key, got[key], want)
		}
	}
	if _, ok := got["models.one.api_key"]; ok {
		t.Error("a profile without a key shows one")
	}
	// An endpoint without a profile is shown as one.
	c, index, _ = load(t, Options{Model: "raw", BaseURL: "http://localhost:9", Config: os.DevNull})
	if s, err := Lookup(c.Settings(index), "models.raw.api_base_url"); err != nil || s.Source != "--base-url" || s.Text() != "http://localhost:9" {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestChanged: every difference is named, wherever it is in a file.
func TestChanged(t *testing.T) {
	newHome(t)
	read := func(text string) *Config {
		write(t, "c.toml", text)
		c, _, _ := load(t, Options{Config: "c.toml"})
		return &c
	}
	base := twoProfiles + "[ui]\ntheme = \"dark\"\n[keys]\nsend = [\"Enter\"]\n[[deny]]\ntool = \"x\"\n"
	for text, want := range map[string]string{
		base:                           "",
		"# moved\n\n" + base:           "",
		base + "[[ask]]\ntool = \"x\"": "ask",
		strings.Replace(base, `tool = "x"`, `tool = "y"`, 1):     "deny",
		strings.Replace(base, `"k2"`, `"k3"`, 1):                 "models.two.api_key",
		strings.Replace(base, "[models.one]", "[models.new]", 1): "models.one models.new",
		strings.Replace(base, `"id-1"`, `"id-2"`, 1):             "models.one.model",
		strings.Replace(base, `["Enter"]`, `[]`, 1):              "keys.send",
		strings.Replace(base, `send =`, `newline =`, 1):          "keys.newline keys.send",
		strings.Replace(base, `"dark"`, `"light"`, 1):            "ui.theme",
		base + "[tools]\nenv_deny = []\n":                        "",
		base + "[targets.db]\ncontainer = \"pg\"\n":              "targets.db",
	} {
		if got := strings.Join(Changed(read(base), read(text)), " "); got != want {
			t.Errorf("%s\nchanged %q, want %q", text, got, want)
		}
	}
}

// TestEveryKindOfField: the code that shows, writes and describes settings supports each field's type.
func TestEveryKindOfField(t *testing.T) {
	half := 0.5
	c, p := defaults(), Profile{Connection: Connection{Temperature: &half, TopP: &half}}
	for _, s := range sections {
		for _, f := range s.fields {
			set := newSetting("", nil, f.pointer(&c, &p), s.name, f.name)
			if set.Value == nil || set.TOML == "" {
				t.Errorf("%s.%s: %+v", s.name, f.name, set)
			}
			_, isText := set.Value.(string)
			if got := f.schema(&c, &p, true); (got.Type == "string") != isText {
				t.Errorf("%s.%s: the schema says %s, the value is %#v", s.name, f.name, got.Type, set.Value)
			}
			value := []string{set.Text()}
			if _, err := f.literalOf(value); err != nil {
				t.Errorf("%s.%s: %q: %v", s.name, f.name, value, err)
			}
		}
	}
}
