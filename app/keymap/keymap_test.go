package keymap

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"
)

var update = flag.Bool("update", false, "write docs/keys.md anew")

// No two actions share a key where both apply. Default panics on one,
// so the same check is made here with an answer.
func TestNoSharedKeys(t *testing.T) {
	if _, err := indexOf(defaults()); err != nil {
		t.Fatal(err)
	}
	for _, e := range []Entry{
		{Action: "new", Scopes: in(Tasks), Keys: []Key{{code: tcell.KeyRune, char: 'x'}}},
		{Action: "new", Scopes: in(Conversation), Keys: []Key{{code: tcell.KeyF1}}},
		{Action: "new", Scopes: in(Global), Keys: []Key{{code: tcell.KeyHome}}},
	} {
		if _, err := indexOf(append(defaults(), e)); err == nil {
			t.Errorf("key %s of a new action in %v was not refused", e.Keys[0], e.Scopes)
		}
	}
}

func TestTable(t *testing.T) {
	seen := map[Action]bool{}
	for _, e := range Default().entries {
		if seen[e.Action] {
			t.Errorf("action %s stands twice in the table", e.Action)
		}
		seen[e.Action] = true
		if e.Help == "" || len(e.Keys) == 0 || len(e.Scopes) == 0 {
			t.Errorf("action %s lacks help, keys or scopes", e.Action)
		}
		for _, s := range e.Scopes {
			if !slices.Contains(Scopes(), s) {
				t.Errorf("action %s: unknown scope %s", e.Action, s)
			}
			for _, k := range e.Keys {
				if s.types() && k.plain() {
					t.Errorf("action %s: %s is text in scope %s", e.Action, k, s)
				}
			}
		}
	}
}

// What terminals report differently is one key.
func TestNormalised(t *testing.T) {
	for _, c := range []struct {
		key  tcell.Key
		char rune
		mod  tcell.ModMask
		want string
	}{
		{tcell.KeyRune, 'm', tcell.ModCtrl | tcell.ModAlt, "Alt+Enter"}, // legacy ESC CR
		{tcell.KeyRune, 'j', tcell.ModCtrl | tcell.ModAlt, "Alt+Enter"}, // legacy ESC LF
		{tcell.KeyEnter, 0, tcell.ModAlt, "Alt+Enter"},
		{tcell.KeyEnter, 0, tcell.ModShift, "Shift+Enter"},
		{tcell.KeyCtrlJ, 0, tcell.ModCtrl, "Ctrl+J"},
		{tcell.KeyCtrlM, 0, tcell.ModCtrl, "Enter"},
		{tcell.KeyCtrlH, 0, tcell.ModCtrl, "Backspace"},
		{tcell.KeyBackspace2, 0, 0, "Backspace"},
		{tcell.KeyRune, 0x7f, tcell.ModAlt, "Alt+Backspace"},
		{tcell.KeyRune, 'h', tcell.ModCtrl | tcell.ModAlt, "Alt+Backspace"},
		{tcell.KeyCtrlI, 0, tcell.ModCtrl, "Tab"},
		{tcell.KeyBacktab, 0, 0, "Shift+Tab"},
		{tcell.KeyCtrlLeftSq, 0, tcell.ModCtrl, "Esc"},
		{tcell.KeyCtrlA, 'a', tcell.ModCtrl, "Ctrl+A"},
		{tcell.KeyRune, 'a', tcell.ModCtrl, "Ctrl+A"},
		{tcell.KeyRune, 'B', tcell.ModAlt, "Alt+B"},
		{tcell.KeyRune, 'z', tcell.ModCtrl | tcell.ModShift, "Ctrl+Shift+Z"},
		{tcell.KeyCtrlUnderscore, 0, tcell.ModCtrl, "Ctrl+_"},
		{tcell.KeyRune, '_', tcell.ModCtrl | tcell.ModShift, "Ctrl+_"},
		{tcell.KeyRune, '/', tcell.ModCtrl, "Ctrl+_"},
		{tcell.KeyCtrlRightSq, 0, tcell.ModCtrl, "Ctrl+]"},
		{tcell.KeyCtrlSpace, 0, tcell.ModCtrl, "Ctrl+Space"},
		{tcell.KeyRune, 'G', tcell.ModShift, "G"},
		{tcell.KeyRune, '界', 0, "界"},
		{tcell.KeyLeft, 0, tcell.ModCtrl, "Ctrl+Left"},
	} {
		ev := tcell.NewEventKey(c.key, c.char, c.mod)
		if got := Of(ev).String(); got != c.want {
			t.Errorf("Of(%v %q %v) = %s, want %s", c.key, c.char, c.mod, got, c.want)
		}
	}
}

func TestLookup(t *testing.T) {
	m := Default()
	for _, c := range []struct {
		scope Scope
		key   string
		want  Action
	}{
		{Prompt, "Enter", Send},
		{Prompt, "Ctrl+J", Newline},
		{Prompt, "Shift+Enter", Newline},
		{Prompt, "Alt+Enter", Newline},
		{Popup, "Tab", PopupAccept},
		{Global, "Tab", NextPane},
		{Approval, "y", Approve},
		{Approval, "Enter", ChoiceTake},
		{Conversation, "y", CopyBlock},
		{Prompt, "y", ""},
		{Prompt, "Tab", ""},
	} {
		k, err := Parse(c.key)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Lookup(tcell.NewEventKey(k.code, k.char, k.mod), c.scope).Action; got != c.want {
			t.Errorf("Lookup(%s, %s) = %q, want %q", c.scope, c.key, got, c.want)
		}
	}
}

// What a list over the prompt, a search or the normal mode of vi does not bind means what it does in the prompt. In a
// pane that is typed into, all keys but its own mean nothing.
func TestChain(t *testing.T) {
	for _, c := range []struct {
		scope Scope
		key   string
		want  Action
	}{
		{Popup, "Enter", PopupRun},
		{Popup, "Ctrl+A", LineStart},
		{Popup, "F1", ShowHelp},
		{Search, "Ctrl+R", SearchOlder},
		{Search, "Ctrl+A", LineStart},
		{Vi, "Ctrl+R", ViRedo},
		{Vi, "Ctrl+G", EditPrompt},
		{Conversation, "Ctrl+A", ""},
		{Conversation, "F1", ShowHelp},
		{Typing, "Ctrl+]", PaneTypeEnd},
		{Typing, "F1", ""},
	} {
		k, err := Parse(c.key)
		if err != nil {
			t.Fatal(err)
		}
		if got := Default().Lookup(k.Event(), c.scope.Chain()...).Action; got != c.want {
			t.Errorf("%s in %s means %q, want %q", c.key, c.scope, got, c.want)
		}
	}
}

func TestText(t *testing.T) {
	if got := Default().Lookup(tcell.NewEventKey(tcell.KeyRune, 'é', 0), Prompt); !got.Types() || got.Text != "é" {
		t.Errorf("é types %+v", got)
	}
	for _, ev := range []*tcell.EventKey{
		tcell.NewEventKey(tcell.KeyEnter, 0, 0),
		tcell.NewEventKey(tcell.KeyRune, 'x', tcell.ModAlt),
		tcell.NewEventKey(tcell.KeyRune, 'x', tcell.ModMeta),
	} {
		if got := Default().Lookup(ev); got.Text != "" {
			t.Errorf("%s types %q, want nothing", ev.Name(), got.Text)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for name, want := range map[string]string{
		"Ctr+J":    `key "Ctr+J": unknown modifier "Ctr" (have: Ctrl, Alt, Shift)`,
		"Ctrl+Up1": `key "Ctrl+Up1": "Up1" is not a key (have: a character, Space, `,
		"":         `key "": "" is not a key`,
		"Shift+a":  `key "Shift+a": write the shifted character itself, without Shift+`,
	} {
		if _, err := Parse(name); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("Parse(%q) = %v, want %s…", name, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"Ctrl+A", "alt-enter", "F8", "Ctrl++", "-", "Space", "Ctrl+Alt+Shift+x", "界"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		k, err := Parse(name)
		if err != nil {
			return
		}
		again, err := Parse(k.String())
		if err != nil || again != k {
			t.Errorf("Parse(%q) = %v, and Parse(%q) = %v, %v", name, k, k.String(), again, err)
		}
	})
}

func TestRebind(t *testing.T) {
	m := Default()
	if _, err := m.Rebind(map[string][]string{"newline": {"ctrl-x", "Alt+Enter"}, "redraw": {}, "fold": {"Ctrl+L"}}); err != nil {
		t.Fatal(err)
	}
	if got := m.Lookup(tcell.NewEventKey(tcell.KeyCtrlX, 0, 0), Prompt).Action; got != Newline {
		t.Errorf("Ctrl+X = %q, want %s", got, Newline)
	}
	if got := m.Lookup(tcell.NewEventKey(tcell.KeyCtrlJ, 0, 0), Prompt); got.Bound() {
		t.Errorf("Ctrl+J still is %s", got.Action)
	}
	if got := m.Name(Redraw); got != "" {
		t.Errorf("Name(redraw) = %q, want none", got)
	}
	if Default().Name(Redraw) != "Ctrl+L" {
		t.Error("rebinding changed the built-in table")
	}
}

// The owner's error names the key path; the caller adds the place.
func TestRebindErrors(t *testing.T) {
	for _, c := range []struct {
		bindings map[string][]string
		action   string
		want     string
	}{
		{map[string][]string{"newlin": {"Ctrl+J"}}, "newlin", `keys.newlin: unknown action "newlin" (nearest: newline)`},
		{map[string][]string{"send": {"Entr"}}, "send", `keys.send: key "Entr": "Entr" is not a key (have: `},
		{map[string][]string{"send": {"x"}}, "send", `keys.send: key "x": a plain character would be typed as text in scope prompt (add Ctrl or Alt)`},
		{map[string][]string{"help": {"?"}}, "help", `keys.help: key "?": a plain character would be typed as text in scope global`},
		{map[string][]string{"approve": {"Enter"}}, "approve", `keys.approve: key "Enter": Enter can't approve because it is too easy to press by accident`},
		{map[string][]string{"deny": {"y"}}, "deny", `keys.deny: key y is both approve and deny in scope approval`},
		{map[string][]string{"leave-detach": {"Enter"}}, "leave-detach", `keys.leave-detach: key Enter is both choice-take and leave-detach in scope leaving`},
		{map[string][]string{"redraw": {"F5"}, "next-pane": {"F5"}}, "redraw", `keys.redraw: key F5 is both next-pane and redraw in scope global`},
	} {
		m := Default()
		_, err := m.Rebind(c.bindings)
		bind, ok := errors.AsType[*BindError](err)
		if !ok || bind.Action != c.action || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("Rebind(%v) = %v, want %s…", c.bindings, err, c.want)
		}
		if m.Markdown() != Default().Markdown() {
			t.Errorf("Rebind(%v) failed and changed the map", c.bindings)
		}
	}
}

// TestABindingTakesTheKeyOfABuiltInOne: a person's settings go on to count when an action of ours gets the same key,
// everywhere or in one scope; what lost it is named, with the keys that it has left.
func TestABindingTakesTheKeyOfABuiltInOne(t *testing.T) {
	for _, c := range []struct {
		bindings map[string][]string
		key      tcell.Key
		scope    Scope
		means    Action
		lost     string
	}{
		{map[string][]string{"redraw": {"F9"}}, tcell.KeyF9, Global, Redraw, "F9 rewind redraw []"},
		{map[string][]string{"newline": {"F6"}}, tcell.KeyF6, Prompt, Newline, "F6 type-into newline []"},
		{map[string][]string{"help": {"Ctrl+W"}}, tcell.KeyCtrlW, Prompt, "", "Ctrl+W kill-to-space-left help []"},
		{map[string][]string{"redraw": {"Ctrl+O"}, "fold": {"Ctrl+L"}}, tcell.KeyCtrlO, Global, Redraw, "Ctrl+O transcript redraw []"},
	} {
		m := Default()
		lost, err := m.Rebind(c.bindings)
		if err != nil || len(lost) != 1 {
			t.Errorf("Rebind(%v) = %v, %v", c.bindings, lost, err)
			continue
		}
		l := lost[0]
		if got := fmt.Sprintf("%s %s %s %v", l.Key, l.Action, l.To, l.Left); got != c.lost {
			t.Errorf("Rebind(%v): lost %q, want %q", c.bindings, got, c.lost)
		}
		if got := m.Lookup(tcell.NewEventKey(c.key, 0, 0), c.scope).Action; got != c.means {
			t.Errorf("Rebind(%v): the key means %q, want %q", c.bindings, got, c.means)
		}
	}
	if Default().Name(Rewind) != "F9" {
		t.Error("the built-in table has changed")
	}
}

func TestDocumentation(t *testing.T) {
	const file = "../../docs/keys.md"
	got := Default().Markdown()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is stale: run make generate", file)
	}
}

// Views ask the key map; a key that they compare themselves could not be bound anew.
func TestViewsCompareNoKeys(t *testing.T) {
	files, err := filepath.Glob("../../views/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no views found: %v", err)
	}
	literal := regexp.MustCompile(`tcell\.Key[A-Z]\w*|\.Rune\(\)`)
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if key := literal.FindString(string(text)); key != "" {
			t.Errorf("%s uses %s", f, key)
		}
	}
}

// TestAnActionThatLosesSeveralKeys: what is said of each of them is what the action has in the end, and always in the
// same order.
func TestAnActionThatLosesSeveralKeys(t *testing.T) {
	const want = "Alt+Enter newline redraw [Ctrl+Enter]; Shift+Enter newline redraw [Ctrl+Enter]; Ctrl+J newline rewind [Ctrl+Enter]; "
	bindings := map[string][]string{"redraw": {"Shift+Enter", "Alt+Enter"}, "rewind": {"Ctrl+J"}}
	for range 20 {
		lost, err := Default().Rebind(bindings)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, l := range lost {
			got += fmt.Sprintf("%s %s %s %v; ", l.Key, l.Action, l.To, l.Left)
		}
		if got != want {
			t.Fatalf("lost %q, want %q", got, want)
		}
	}
}
