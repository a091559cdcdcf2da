package file

import "testing"

func TestChangedNote(t *testing.T) {
	b := newBench(t)
	b.put("a", "x\n", "b <c>", "x\n")
	b.know("a", "b <c>")
	if got := b.ws.ChangedNote(t.Context()); got != "" {
		t.Errorf("nothing changed: %q", got)
	}
	b.put("a", "theirs\n", "b <c>", "theirs\n")
	const want = "Changed since you last read or wrote them, so read them again before you rely on them:\n- \"a\"\n- \"b <c>\""
	if got := b.ws.ChangedNote(t.Context()); got != want {
		t.Errorf("ChangedNote = %q, want %q", got, want)
	}
	if got := b.ws.ChangedNote(t.Context()); got != "" {
		t.Errorf("told twice: %q", got)
	}
}
