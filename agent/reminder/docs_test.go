package reminder

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/reminders.md")

// docs/reminders.md contains the table of reminder kinds.
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
	b.WriteString("# What a model is sent\n" +
		"\n" +
		"A model gets the system prompt, your prompts, its own answers and the results of its tools. Your first prompt starts\n" +
		"with the folder and machine, the instruction files and the date. Besides, buddy adds **reminders**: facts that the model\n" +
		"could not know otherwise.\n" +
		"\n" +
		"buddy collects reminders right before each request, all at once and for at most a second. A kind that takes longer is\n" +
		"left out of five requests, with a notice. Nothing runs between requests.\n" +
		"\n" +
		"All reminders of a request have at most 4 KB together, in the order of the table; the rest comes later. Files in\n" +
		"prompts, instruction files, hooks, and lists of skills and servers have their own limits. buddy removes secrets, and\n" +
		"text from files, servers and hooks can't pretend to be a reminder: `<system-reminder>` in it becomes\n" +
		"`‹system-reminder›`. Reminders for a prompt are before its words, in the same message; those for a result are after it.\n" +
		"\n" +
		"A reminder that stays is part of the conversation and of the session's file (`reminder.attached`). The others are at the\n" +
		"end of one request only, so the provider's cache keeps everything before them.\n" +
		"\n" +
		"To switch kinds off, list them in your settings:\n" +
		"\n" +
		"    [reminders]\n" +
		"    off = [\"todo\", \"task_progress\"]\n" +
		"\n" +
		"The column \"in blocks\" is for [small models](local.md) that work in blocks.\n" +
		"\n" +
		"| kind | what it says, and when | stays | subagents | in blocks | can be switched off |\n" +
		"|---|---|---|---|---|---|\n")
	for _, k := range Kinds {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", k.Name, k.What, yes(k.Once), yes(!k.Main), yes(!k.Long), yes(!k.Fixed))
	}
	b.WriteString("\n" +
		"This page is generated: `go test ./agent/reminder -update`.\n" +
		"\n" +
		"## Changed files\n" +
		"\n" +
		"Before each request buddy compares the 200 files that were read or written last with the disk, by size and time (one\n" +
		"`lstat` each; on a target only the last four), and opens only those that differ. It keeps the content of files up to 64\n" +
		"KB for diffs, 1 MB in all. After a diff the model may change the file; without one it has to read the file again first.\n" +
		"[Sessions](sessions.md#leaving) says what applies after a resume.\n" +
		"\n" +
		"## Files in prompts\n" +
		"\n" +
		"`@src/main.go` in a prompt adds the file as `read_file` returns it, up to a page (`[tools] page`), and `@src` the list\n" +
		"of files in that folder. This works on the screen, in plain mode and in `buddy exec`. Quote a name with spaces:\n" +
		"`@\"release notes.md\"`.\n" +
		"\n" +
		"buddy adds only files that the model may read without approval, and none that one of your hooks checks first. For others\n" +
		"a notice says so, and the model asks when it needs the file. A notice also names files that are not text, and quoted\n" +
		"names without a file; other words after an `@` may mean anything.\n" +
		"\n" +
		"Pictures (`@shot.png`, up to 50 MB) go with the prompt itself; buddy makes them smaller if the provider needs that.\n")
	return b.String()
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
