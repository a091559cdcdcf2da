package reminder

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/reminders.md")

// docs/reminders.md says what the table says.
func TestDocs(t *testing.T) {
	const file = "../../docs/reminders.md"
	got := page()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || got != string(want) {
		t.Errorf("%s is not what the table says (%v); run: go test ./agent/reminder -update", file, err)
	}
}

func page() string {
	var b strings.Builder
	b.WriteString("# What models are told\n\n" +
		"A model reads the system prompt, your prompts, its own answers and the results of its tools. Your first prompt begins\n" +
		"with where the model works, the instruction files and the date. Besides, buddy tells the model\n" +
		"what it could not know otherwise: reminders. They are looked for right before each request, all at once and for a\n" +
		"second at most; what takes longer is left out of five requests, with a notice. Nothing runs between requests.\n\n" +
		"Reminders of one request have at most 4 KB together, in the order of the table; what does not fit comes later. Files\n" +
		"that a prompt names, instruction files, hooks, and lists of skills and servers have limits of their own. Secrets are taken out, and\n" +
		"text from files, servers and hooks can't pass itself off as a reminder: `<system-reminder>` in it becomes\n" +
		"`‹system-reminder›`. What goes with a prompt is before its words, in one message; what comes with a result is behind it.\n" +
		"What is told once stays in the conversation and in the session's file (`reminder.attached`); the\n" +
		"rest is in one request only, at its end, so that nothing before it changes for the provider's cache.\n\n" +
		"`[reminders] off` in your settings names kinds that no model is told:\n\n" +
		"    [reminders]\n    off = [\"todo\", \"task_progress\"]\n\n" +
		"| kind | what is told, and when | stays | subagents | in blocks | can be switched off |\n|---|---|---|---|---|---|\n")
	for _, k := range Kinds {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", k.Name, k.What, yes(k.Once), yes(!k.Main), yes(!k.Long), yes(!k.Fixed))
	}
	b.WriteString("\nThis page is generated: `go test ./agent/reminder -update`.\n\n" +
		"## Changed files\n\n" +
		"Before each request the 200 files that were read or written last, since the session began or was resumed, are compared\n" +
		"with the disk by size and time (one `lstat` each; on a target only the last four); only those that differ are opened. The\n" +
		"content of files up to 64 KB is kept for diffs, 1 MB in all. After a diff the model may change the file; without one it has\n" +
		"to read it again first. After a resume, and in a new session made of an old one, it has to read a file before it changes it.\n\n" +
		"## Files in prompts\n\n" +
		"`@src/main.go` in a prompt puts what `read_file` gives into the conversation, up to a page of it (`[tools] page`), and\n" +
		"`@src` the list of what is in that folder: on the screen, line by line, and in `buddy exec`. A name\n" +
		"with blanks is in quotes: `@\"release notes.md\"`. Only what the model may read without asking you goes along, and nothing\n" +
		"that a hook of yours looks at first; else a notice says so, and the model asks when it needs the file. A notice also\n" +
		"says why a file does not go along that is not text, and that there is none with a name in quotes; other words after\n" +
		"an `@` may name anything. Pictures (`@shot.png`, up to 50 MB) go with the prompt itself; what is larger than the provider\n" +
		"takes is made smaller.\n")
	return b.String()
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
