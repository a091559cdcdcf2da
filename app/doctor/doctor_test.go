package doctor

import (
	"strings"
	"testing"

	"buddy/app/apptest"
	"buddy/config"
)

// TestAskModel: a real request tells whether the endpoint works; what is wrong is said
// apart from what to do.
func TestAskModel(t *testing.T) {
	apptest.Home(t)
	s := apptest.NewLoginServer(t)
	t.Setenv("BUDDY_API_KEY", "at-0")
	p := config.Profile{Name: "a", BaseURL: s.URL + "/v1", Model: "m"}
	if one := AskModel(t.Context(), p); one.State != Fine || !strings.Contains(one.Text, "answered in") {
		t.Errorf("%+v", one)
	}
	t.Setenv("BUDDY_API_KEY", "sk-wrong-key")
	one := AskModel(t.Context(), p)
	if one.State != Broken || !strings.Contains(one.Text, "401") || one.Do != "Key: BUDDY_API_KEY in the environment · change it there, then start buddy again" || s.Asked.Load() != 2 {
		t.Errorf("%+v after %d requests", one, s.Asked.Load())
	}
	if strings.Contains(one.Text+one.Do, "sk-wrong") {
		t.Errorf("%+v has the key", one)
	}
}

// The address of a model is shown without what may be a key.
func TestCheckModelHidesKeys(t *testing.T) {
	apptest.Home(t)
	t.Setenv("BUDDY_API_KEY", "at-0")
	p := config.Profile{Name: "a", BaseURL: "https://ann:word@llm.example.com/v1?key=hidden", Model: "m"}
	all := CheckModel(t.Context(), config.Config{Active: &p}, false)
	if text := all[0].Text; !strings.Contains(text, "at https://llm.example.com/v1,") || strings.Contains(text, "word") || strings.Contains(text, "hidden") {
		t.Errorf("it says %q", text)
	}
}

// TestCheckTerminal: what the screen needs of a terminal.
func TestCheckTerminal(t *testing.T) {
	for _, tt := range []struct {
		env  map[string]string
		want Health
		text string
	}{
		{map[string]string{"TERM": "xterm-256color", "LANG": "de_DE.UTF-8", "COLORTERM": "truecolor"}, Fine, "true colours"},
		{map[string]string{"TERM": "xterm-256color", "LANG": "C", "LC_ALL": "C.utf8"}, Fine, "256 colours"},
		{map[string]string{"TERM": "xterm", "LANG": "C.UTF-8", "NO_COLOR": "1"}, Fine, "NO_COLOR"},
		{map[string]string{"TERM": "xterm", "LANG": "C.UTF-8", "LC_ALL": "POSIX"}, Weak, "POSIX"},
		{map[string]string{"LANG": "C.UTF-8"}, Broken, "TERM"},
	} {
		if one := checkTerminal(func(name string) string { return tt.env[name] }); one.State != tt.want || !strings.Contains(one.Text, tt.text) {
			t.Errorf("%v: %+v", tt.env, one)
		}
	}
}

// What mends an unknown window names a section only if settings of the model can stand there, as one word of a shell.
func TestUnknownWindowSaysWhatCanBeDone(t *testing.T) {
	apptest.Home(t)
	for _, c := range []struct{ profile, model, want string }{
		{"work", "m", "buddy config set models.work.context_limit TOKENS"},
		{"at home", "m", `buddy config set 'models."at home".context_limit' TOKENS`},
		{"work/m", "m", "set context_limit in a profile for this model"},
	} {
		p := config.Profile{Name: c.profile, Model: c.model, BaseURL: "http://127.0.0.1:1/v1"}
		all := CheckModel(t.Context(), config.Config{Active: &p}, false)
		if got := all[len(all)-1]; got.Check != "window" || got.Do != c.want {
			t.Errorf("%s: %+v, want %q", c.profile, got, c.want)
		}
	}
}
