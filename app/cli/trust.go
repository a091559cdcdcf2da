package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"buddy/app/compose"
	"buddy/app/exit"
	"buddy/config"
	"buddy/views/markup"
)

func (s *cli) trustCommand() *cobra.Command {
	var list, forget bool
	c := &cobra.Command{
		Use:   "trust [DIR]",
		Short: "let the settings that came with a folder apply",
		Long: "The settings that come with a folder, such as a cloned repository's buddy.toml, may only\n" +
			"tighten until you trust the folder: their models, hooks and servers are ignored. Trust is\n" +
			"for the files as they are; when one changes you are asked again.",
		Example: "  buddy trust\n  buddy trust ~/src/shop\n  buddy trust --list\n  buddy trust --forget ~/src/shop",
		Args:    cobra.MaximumNArgs(1),

		ValidArgsFunction: completeFolders,
		RunE: func(_ *cobra.Command, args []string) error {
			dir := strings.Join(args, "")
			switch {
			case list && (forget || dir != ""):
				return exit.Usage("trust --list takes nothing else")
			case list:
				return exit.Failure(listTrusted(s.out))
			case forget:
				return exit.Failure(forgetTrust(s.out, dir))
			}
			return exit.Failure(trustDir(s.out, dir))
		},
	}
	c.Flags().BoolVar(&list, "list", false, "list the folders that are trusted")
	c.Flags().BoolVar(&forget, "forget", false, "no longer trust a folder")
	return c
}

func listTrusted(out io.Writer) error {
	dirs, err := compose.TrustStore().List()
	if err != nil {
		return err
	}
	for _, d := range dirs {
		state := ""
		if print, err := config.Fingerprint(d.Dir); err != nil || print != d.Print {
			state = "  (its settings changed since: not trusted)"
		}
		if _, err := fmt.Fprintf(out, "%s  %s%s\n", d.At.Local().Format("2006-01-02 15:04"), markup.Plain(d.Dir), state); err != nil {
			return err
		}
	}
	return nil
}

// trustDir trusts a folder, "" for this one, and says what that changes.
func trustDir(out io.Writer, dir string) error {
	dir, err := config.ResolveDir(orHere(dir))
	if err != nil {
		return err
	}
	print, err := config.Fingerprint(dir)
	if err != nil {
		return err
	}
	keys, err := config.ProjectKeys(dir)
	if err != nil {
		return err
	}
	if err := compose.TrustStore().Trust(dir, print); err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, markup.Plain(compose.TrustedText(dir, keys)))
	return err
}

func forgetTrust(out io.Writer, dir string) error {
	name, err := config.ResolveDir(orHere(dir))
	if err != nil {
		if name, err = filepath.Abs(orHere(dir)); err != nil { // the folder may be gone
			return err
		}
	}
	found, err := compose.TrustStore().Forget(name)
	switch {
	case err != nil:
		return err
	case !found:
		return fmt.Errorf("%s was not trusted (buddy trust --list shows what is)", name)
	}
	_, err = fmt.Fprintln(out, markup.Plain("no longer trusted: "+name))
	return err
}

func orHere(dir string) string {
	if dir == "" {
		return "."
	}
	return dir
}
