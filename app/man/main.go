// Command man generates the files that are installed with buddy: a man page for each command, and completions for
// three shells. For example,
//
//	go run ./app/man dist
//
// writes dist/man/*.1 and dist/completions/{buddy.bash,_buddy,buddy.fish}. The date in the pages is
// SOURCE_DATE_EPOCH, so that builds are reproducible. The generator is a separate command to keep it out of the
// program.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"buddy/app/cli"
	"buddy/app/version"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "man: usage: man FOLDER")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "man:", err)
		os.Exit(1)
	}
}

// write creates all files below dir.
func write(dir string) error {
	root := cli.Command()
	root.DisableAutoGenTag = true
	pages, completions := filepath.Join(dir, "man"), filepath.Join(dir, "completions")
	for _, d := range []string{pages, completions} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	escape(root)
	header := &doc.GenManHeader{Section: "1", Source: "buddy " + version.Number, Manual: "buddy"}
	if err := doc.GenManTree(root, header, pages); err != nil {
		return err
	}
	return errors.Join(
		writeFile(filepath.Join(completions, "buddy.bash"), func(w io.Writer) error { return root.GenBashCompletionV2(w, true) }),
		writeFile(filepath.Join(completions, "_buddy"), root.GenZshCompletion),
		writeFile(filepath.Join(completions, "buddy.fish"), func(w io.Writer) error { return root.GenFishCompletion(w, true) }),
	)
}

// escape escapes Markdown in the help of a command and its subcommands, because the pages are generated from Markdown.
func escape(c *cobra.Command) {
	plain := strings.NewReplacer("<", `\<`, "*", `\*`).Replace
	c.Long = plain(c.Long)
	c.LocalFlags().VisitAll(func(f *pflag.Flag) { f.Usage = plain(f.Usage) })
	for _, sub := range c.Commands() {
		escape(sub)
	}
}

func writeFile(path string, text func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(text(f), f.Close())
}
