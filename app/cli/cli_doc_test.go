package cli

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var update = flag.Bool("update", false, "write generated documents and golden files anew")

// TestCLIDoc keeps docs/cli.md equal to the help of the commands.
func TestCLIDoc(t *testing.T) {
	const file = "../../docs/cli.md"
	var b strings.Builder
	b.WriteString("# Command line\n\nThe help that `buddy COMMAND --help` prints; `make install` also installs it as man pages. `make generate` writes this page.\n")
	root := Command()
	writeCommand(&b, root)
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(file); err != nil || string(have) != b.String() {
		t.Errorf("%s is stale: run make generate", file)
	}
}

func writeCommand(b *strings.Builder, c *cobra.Command) {
	if c.Name() == "help" || c.Hidden {
		return
	}
	title := "## "
	if c.HasParent() && c.Parent().HasParent() {
		title = "### "
	}
	text := c.Long
	if text == "" {
		text = c.Short + "."
	}
	fmt.Fprintf(b, "\n%s%s\n\n%s\n\n    %s\n", title, c.CommandPath(), prose(text), c.UseLine())
	var flags []string
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" || f.Name == "version" {
			return
		}
		name, usage := pflag.UnquoteUsage(f)
		flag := strings.TrimSpace("--" + f.Name + " " + name)
		if f.Shorthand != "" {
			flag = "-" + f.Shorthand + ", " + flag
		}
		flags = append(flags, fmt.Sprintf("| `%s` | %s |\n", flag, strings.ReplaceAll(usage, "|", `\|`)))
	})
	if len(flags) > 0 {
		b.WriteString("\n| flag | |\n|---|---|\n" + strings.Join(flags, ""))
	}
	if c.Example != "" {
		b.WriteString("\nExamples:\n\n" + indented(c.Example) + "\n")
	}
	for _, sub := range c.Commands() {
		if c.Name() != "completion" {
			writeCommand(b, sub)
		}
	}
}

// prose formats help text as Markdown, with indented text as code.
func prose(text string) string {
	var b strings.Builder
	before := false
	for line := range strings.Lines(text) {
		code := strings.HasPrefix(line, "  ")
		if code {
			if !before {
				b.WriteString("\n")
			}
			line = "  " + line
		}
		line = strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(line)
		b.WriteString(line)
		before = code
	}
	return strings.TrimSpace(b.String())
}

func indented(text string) string { return "  " + strings.ReplaceAll(text, "\n", "\n  ") }
