package cli

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"buddy/app/compose"
	"buddy/app/exit"
	"buddy/app/project"
	"buddy/config"
	"buddy/texts"
	"buddy/views/markup"
)

func (s *cli) trustCommand() *cobra.Command {
	var list, forget bool
	var parts []string
	c := &cobra.Command{
		Use:   "trust [DIR]",
		Short: "trust a folder's settings, hooks and servers",
		Long: "Settings that come with a folder, such as a cloned repository's buddy.toml, can only restrict\n" +
			"buddy until you trust the folder: their models, hooks and servers are ignored. The same is true\n" +
			"for each hook in .buddy/hooks.json, each server in .mcp.json, each skill and command that runs or\n" +
			"allows something, each style and each plugin. Your trust covers an item's definition and the\n" +
			"project files that its command line names. If one of them changes, that item is off until you\n" +
			"trust it again. trust shows everything, asks you on a terminal, and then trusts it; --part\n" +
			"trusts only the items that you name. Skills in a subfolder are shown and trusted when you name\n" +
			"that folder.",
		Example: "  buddy trust\n  buddy trust ~/src/shop\n  buddy trust --list\n  buddy trust --part hook:PreToolUse:Bash --part mcp:files\n  buddy trust --forget ~/src/shop",
		Args:    cobra.MaximumNArgs(1),

		ValidArgsFunction: completeFolders,
		RunE: func(_ *cobra.Command, args []string) error {
			dir := strings.Join(args, "")
			switch {
			case list && (forget || dir != "" || len(parts) > 0):
				return exit.Usage("trust --list takes no other arguments")
			case list:
				return exit.Failure(s.listTrusted())
			case !forget && compose.ByPerson() != nil:
				return compose.ByPerson()
			case len(parts) > 0:
				return exit.Failure(s.trustParts(orHere(dir), parts, !forget))
			case forget:
				return exit.Failure(forgetTrust(s.out, dir))
			}
			return exit.Failure(s.trustDir(orHere(dir)))
		},
	}
	c.Flags().BoolVar(&list, "list", false, "list what you trust, and what you don't trust in this folder")
	c.Flags().BoolVar(&forget, "forget", false, "stop trusting a folder, or the items in --part")
	c.Flags().StringArrayVar(&parts, "part", nil, "trust only this hook, server, skill …: `KIND:NAME` as in --list (repeatable)")
	return c
}

// listTrusted prints the trusted folders with their parts. Then it prints in full the parts of this folder that the
// user can trust.
func (s *cli) listTrusted() error {
	dirs, err := project.TrustStore().List()
	if err != nil {
		return err
	}
	for _, d := range dirs {
		state := ""
		switch print, err := config.Fingerprint(d.Dir); {
		case d.Print == "":
			state = "  (only parts)"
		case err != nil || print != d.Print:
			state = "  (settings changed since: not trusted)"
		}
		if err := s.print("%s  %s%s", d.At.Local().Format("2006-01-02 15:04"), markup.Plain(d.Dir), state); err != nil {
			return err
		}
		if d.Print != "" {
			if err := s.print("                    %s", project.SettingsPart); err != nil {
				return err
			}
		}
		for _, p := range d.Parts {
			if err := s.print("                    %s", markup.Plain(texts.OneLine(p.Kind+":"+p.Name))); err != nil {
				return err
			}
		}
	}
	checks, err := s.checkParts(".")
	if err != nil {
		return err
	}
	for _, c := range checks {
		if !c.State.Trusted {
			if err := s.showPart(c); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkParts returns the parts of a folder's project, and prints problems.
func (s *cli) checkParts(dir string) ([]project.Check, error) {
	c, _, _, err := compose.LoadConfig(s.options)
	if err != nil {
		return nil, err
	}
	checks, problems, err := project.CheckParts(dir, c)
	for _, p := range problems {
		s.hint("skipped in %s: %s", p.File, p.Reason)
	}
	return checks, err
}

// showPart prints an untrusted part in full. If an earlier version was trusted, it also prints the changes since then.
func (s *cli) showPart(c project.Check) error {
	state := "not trusted"
	if c.State.Changed {
		state = "not trusted: it changed since you trusted it"
	}
	lines := append([]string{fmt.Sprintf("%s  %s", texts.OneLine(c.String()), state)}, c.Lines()...)
	if c.State.Changed && c.State.Err == nil {
		diff, err := c.Diff()
		if err != nil {
			return err
		}
		lines = append(lines, strings.Split(strings.TrimSpace(diff), "\n")...)
	}
	return s.print("%s", markup.Plain(strings.Join(lines, "\n    ")))
}

// trustDir trusts a folder and all parts of its project, and prints the effect.
func (s *cli) trustDir(name string) error {
	dir, err := config.ResolveDir(name)
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
	checks, err := s.checkParts(dir)
	if err != nil {
		return err
	}
	checks = slices.DeleteFunc(checks, func(c project.Check) bool { return c.State.Trusted })
	for _, c := range checks {
		if err := s.showPart(c); err != nil {
			return err
		}
	}
	if len(checks) > 0 && term.IsTerminal(int(s.in.Fd())) && !s.agreed("Trust the folder and everything above? [y/N] ") {
		return errors.New("nothing trusted; use --part KIND:NAME to trust one item")
	}
	if err := setSettings(s.out, dir, print, keys); err != nil {
		return err
	}
	return s.setParts(checks, true)
}

// agreed asks a question on the terminal. Only y means yes.
func (s *cli) agreed(question string) bool {
	_, _ = fmt.Fprint(s.err, question)
	line, _ := bufio.NewReader(s.in).ReadString('\n') // a missing answer is no
	return strings.EqualFold(strings.TrimSpace(line), "y")
}

// trustParts trusts named parts of a folder's project, including its settings, or ends the trust, even for parts that
// no longer exist.
func (s *cli) trustParts(dir string, names []string, on bool) error {
	checks, err := s.checkParts(dir)
	if err != nil {
		return err
	}
	var chosen []project.Check
	for _, name := range names {
		if name == project.SettingsPart {
			if err := trustSettings(s.out, dir, on); err != nil {
				return err
			}
			continue
		}
		if gone, ok, err := trustedPart(dir, name); err != nil {
			return err
		} else if ok && !on {
			chosen = append(chosen, gone)
			continue
		}
		i := slices.IndexFunc(checks, func(c project.Check) bool { return c.String() == name })
		if i < 0 {
			have := texts.Join(checks, ", ", func(c project.Check) string { return c.String() })
			return fmt.Errorf("no part %q in %s (have: %s)", name, dir, cmp.Or(have, "none"))
		}
		chosen = append(chosen, checks[i])
		if on && !checks[i].State.Trusted {
			if err := s.showPart(checks[i]); err != nil {
				return err
			}
		}
	}
	return s.setParts(chosen, on)
}

// trustSettings trusts only the settings of a folder, or ends that trust.
func trustSettings(out io.Writer, name string, on bool) error {
	dir, err := config.ResolveDir(name)
	if err != nil {
		return err
	}
	if !on {
		if err := project.TrustStore().ForgetSettings(dir); err != nil {
			return err
		}
		_, err := fmt.Fprintln(out, markup.Plain("no longer trusted: "+project.SettingsPart+" of "+dir))
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
	return setSettings(out, dir, print, keys)
}

// setSettings trusts a folder's settings in the version whose fingerprint is print, and prints the effect.
func setSettings(out io.Writer, dir, print string, keys []string) error {
	if err := project.TrustStore().Trust(dir, print); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out, markup.Plain(project.TrustedText(dir, keys)))
	return err
}

// trustedPart finds a trusted part by name in a folder or a parent in its repository. The part may no longer exist.
func trustedPart(name, part string) (found project.Check, ok bool, err error) {
	dir, err := config.ResolveDir(name)
	if err != nil {
		return found, false, err
	}
	all, err := project.TrustStore().List()
	for _, folder := range config.ProjectFolders(dir) {
		for _, d := range all {
			for _, p := range d.Parts {
				if one := (config.Part{Kind: p.Kind, Name: p.Name}); d.Dir == folder && one.String() == part {
					found.Dir, found.Part.Part = folder, one
					return found, true, err
				}
			}
		}
	}
	return found, false, err
}

// setParts trusts parts in the versions that were shown, or ends their trust. Parts that can't be trusted do not keep
// the others from being trusted.
func (s *cli) setParts(checks []project.Check, on bool) error {
	var errs []error
	for _, c := range checks {
		var err error
		p := c.Part.Part
		p.Seen = c.State.Print
		text := "trusted "
		switch {
		case !on:
			text = "no longer trusted: "
			err = project.TrustStore().ForgetParts(c.Dir, p)
		case c.State.Err != nil:
			err = c.State.Err
		default:
			err = project.TrustStore().TrustParts(c.Dir, p)
		}
		if err == nil {
			err = s.print("%s", markup.Plain(text+texts.OneLine(p.String())))
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func forgetTrust(out io.Writer, dir string) error {
	name, err := config.ResolveDir(orHere(dir))
	if err != nil {
		if name, err = filepath.Abs(orHere(dir)); err != nil { // the folder may be gone
			return err
		}
	}
	found, err := project.TrustStore().Forget(name)
	switch {
	case err != nil:
		return err
	case !found:
		return fmt.Errorf("%s was not trusted (buddy trust --list shows trusted folders)", name)
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
