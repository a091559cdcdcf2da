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
		t.Errorf("%s is stale: run make generate", file)
	}
}

func page() string {
	var b strings.Builder
	b.WriteString("# What a model is sent\n" +
		"\n" +
		"A model gets the system prompt, your prompts, its own answers and the results of its tools. Your first prompt starts\n" +
		"with the folder and machine, the instruction files and the date. buddy also adds **reminders**: facts that the model\n" +
		"could not know otherwise.\n" +
		"\n" +
		"buddy collects all reminders in parallel right before each request, for at most a second. If a kind takes longer,\n" +
		"buddy shows a notice and leaves that kind out of five requests. Nothing runs between requests.\n" +
		"\n" +
		"A request's reminders take at most 4 KB together, in the order of the table; the rest comes later. Files in prompts,\n" +
		"instruction files, hooks, and lists of skills and servers have their own limits. Reminders for a prompt come before\n" +
		"its text, in the same message; reminders for a result come after the result.\n" +
		"\n" +
		"buddy removes secrets from reminders. Text from files, servers and hooks can't pose as a reminder: `<system-reminder>`\n" +
		"in it becomes `‹system-reminder›`.\n" +
		"\n" +
		"A reminder that stays is part of the conversation and the session file (`reminder.attached`). Other reminders are only\n" +
		"at the end of one request, so the provider's cache keeps everything before them.\n" +
		"\n" +
		"To switch kinds off, list them in your settings:\n" +
		"\n" +
		"    [reminders]\n" +
		"    off = [\"todo\", \"task_progress\"]\n" +
		"\n" +
		"The column \"in blocks\" applies to [small models](local.md) that work in blocks.\n" +
		"\n" +
		"| kind | what it says, and when | stays | subagents | in blocks | can be switched off |\n" +
		"|---|---|---|---|---|---|\n")
	for _, k := range Kinds {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", k.Name, k.What, yes(k.Stays), yes(!k.Main), yes(!k.Long), yes(!k.Fixed))
	}
	b.WriteString("\n" +
		"This page is generated: `go test ./agent/reminder -update`.\n" +
		"\n" +
		"## Changed files\n" +
		"\n" +
		"Before each request, buddy compares the 200 files that were read or written last with the disk, by size and time (one\n" +
		"`lstat` each; on another target, only the last four files). It opens only files that differ. For diffs, buddy keeps\n" +
		"the content of files up to 64 KB, 1 MB in all. After it gets a diff, the model may change the file; without a diff, it\n" +
		"has to read the file again first. [Sessions](sessions.md#leaving) says what applies after a resume.\n" +
		"\n" +
		"## Files in prompts\n" +
		"\n" +
		"`@src/main.go` in a prompt adds the file as `read_file` returns it, up to a page (`[tools] page`); `@src` adds the\n" +
		"list of files in that folder. This works on the screen, in plain mode and in `buddy exec`. Quote a name with spaces:\n" +
		"`@\"release notes.md\"`.\n" +
		"\n" +
		"buddy adds only files that the model may read without approval and that none of your hooks checks first. A notice\n" +
		"names the others; the model asks when it needs them. A notice also names files that are not text, and quoted names\n" +
		"without a file. Other words after an `@` cause no notice.\n" +
		"\n" +
		"buddy sends pictures (`@shot.png`, up to 50 MB) with the prompt itself, made smaller if the provider needs that.\n")
	return b.String()
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
