package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"buddy/app/cli"
)

// There is a page of every command, with its examples, the same each time, and the
// completions are there.
func TestWrite(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1767225600")
	dir, again := t.TempDir(), t.TempDir()
	for _, d := range []string{dir, again} {
		if err := write(d); err != nil {
			t.Fatal(err)
		}
	}
	pages := 0
	all(cli.Command(), func(c *cobra.Command) {
		name := filepath.Join("man", strings.ReplaceAll(c.CommandPath(), " ", "-")+".1")
		page := read(t, filepath.Join(dir, name))
		for _, want := range []string{".TH", ".SH NAME", ".SH EXAMPLE"} {
			if !strings.Contains(page, want) {
				t.Errorf("%s has no %s", name, want)
			}
		}
		if page != read(t, filepath.Join(again, name)) {
			t.Errorf("%s is not the same each time", name)
		}
		pages++
	})
	if pages < 15 {
		t.Errorf("there are only %d pages", pages)
	}
	for name, want := range map[string]string{"buddy.bash": "__start_buddy", "_buddy": "#compdef buddy", "buddy.fish": "complete -c buddy"} {
		if !strings.Contains(read(t, filepath.Join(dir, "completions", name)), want) {
			t.Errorf("%s has no %s", name, want)
		}
	}
}

// Each command says what it is for and shows how it is used.
func TestHelp(t *testing.T) {
	all(cli.Command(), func(c *cobra.Command) {
		if c.Short == "" || c.Example == "" || strings.HasSuffix(c.Short, ".") {
			t.Errorf("%s: short help %q, example %q", c.CommandPath(), c.Short, c.Example)
		}
		for line := range strings.Lines(c.Long + "\n" + c.Example) {
			if n := len([]rune(strings.TrimSpace(line))); n > 110 {
				t.Errorf("%s: a line of %d characters: %s", c.CommandPath(), n, line)
			}
		}
		var out bytes.Buffer
		c.SetOut(&out)
		if err := c.Help(); err != nil || !strings.Contains(out.String(), "Examples:") {
			t.Errorf("%s --help: %v\n%s", c.CommandPath(), err, out.String())
		}
	})
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
	}
	return string(data)
}

// all calls f for a command and those below it, but for what cobra adds.
func all(c *cobra.Command, f func(*cobra.Command)) {
	f(c)
	for _, sub := range c.Commands() {
		if sub.Name() != "completion" && sub.Name() != "help" {
			all(sub, f)
		}
	}
}

// Every word of the help stands in the page: what would be Markdown there is shown as it is written.
func TestPagesHaveEveryWordOfTheHelp(t *testing.T) {
	dir := t.TempDir()
	if err := write(dir); err != nil {
		t.Fatal(err)
	}
	all(cli.Command(), func(c *cobra.Command) {
		page := read(t, filepath.Join(dir, "man", strings.ReplaceAll(c.CommandPath(), " ", "-")+".1"))
		page = strings.NewReplacer(`\-`, "-", `\\`, `\`, `\(bu`, "", `\&`, "", `\fB`, "", `\fI`, "", `\fP`, "", `\fR`, "").Replace(page)
		help := c.Short + " " + c.Long
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				help += " " + f.Usage
			}
		})
		for word := range strings.FieldsSeq(help) {
			if !strings.Contains(page, strings.ReplaceAll(word, "`", "")) {
				t.Errorf("%s: %q is not in its page", c.CommandPath(), word)
			}
		}
	})
}
