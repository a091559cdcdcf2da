package target

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"buddy/tools"
	"buddy/tools/file"
	"buddy/tools/toolstest"
)

// know makes a session's model read a file.
func know(t *testing.T, ws *file.Workspace, name string) {
	t.Helper()
	b := toolstest.Bench{T: t, Tools: tools.NewRegistry(file.NewReadFile(ws))}
	b.OK("read_file", toolstest.Args{"path": name})
}

// Each conversation gets each change once, whichever conversation checks first, on every target; a report that is too
// long continues with the next call.
func TestEveryConversationIsToldOfChanges(t *testing.T) {
	here, there := t.TempDir(), t.TempDir()
	set := NewSet(idle(t, &Target{Name: "local"}, here), []*Target{{Name: "web"}}, func(_ context.Context, one *Target) (*Session, error) { return idle(t, one, there), nil })
	web, err := set.Open(t.Context(), "web")
	if err != nil {
		t.Fatal(err)
	}
	put := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(filepath.Join(here, "a"), "x\n")
	put(filepath.Join(there, "b"), "x\n")
	know(t, set.First().Files, "a")
	know(t, web.Files, "b")
	ctx := t.Context()
	text, one, _ := set.ChangedFiles(ctx, "")
	if text != "" || one == "" {
		t.Errorf("at the beginning: %q, %q", text, one)
	}
	other := one
	put(filepath.Join(here, "a"), "theirs\n")
	put(filepath.Join(there, "b"), "gone")
	if err := os.Remove(filepath.Join(there, "b")); err != nil {
		t.Fatal(err)
	}
	const want = "Files changed since you read or wrote them, by a command of yours or by somebody else. A diff shows the whole change.\n" +
		"- \"a\" changed:\n@@ -1 +1 @@\n-x\n+theirs\n- \"b\" on web is gone."
	for range 2 {
		if text, one, _ = set.ChangedFiles(ctx, one); text != want {
			t.Errorf("told %q, want %q", text, want)
		}
		one, other = other, one
	}
	if text, _, _ = set.ChangedFiles(ctx, one); text != "" {
		t.Errorf("told again: %q", text)
	}
	if text, _, _ = set.ChangedFiles(ctx, ""); text != "" {
		t.Errorf("a new conversation is told of what it has not read: %q", text)
	}
	for _, name := range []string{"1", "2", "3"} {
		put(filepath.Join(here, name), "x\n")
		know(t, set.First().Files, name)
		put(filepath.Join(here, name), strings.Repeat("theirs ", 200)+"\n")
	}
	first, more, _ := set.ChangedFiles(ctx, one)
	second, _, _ := set.ChangedFiles(ctx, more)
	if strings.Count(first, "@@ -1") != 2 || strings.Count(second, "@@ -1") != 1 || len(first) > maxChangeText || !strings.Contains(second, `"3"`) {
		t.Errorf("told %q, then %q", first, second)
	}
}
