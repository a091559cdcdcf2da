package project

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/adrg/xdg"

	"buddy/config"
	"buddy/features/lsp"
	"buddy/features/mcp"
	"buddy/texts/searchpath"
)

// copiesDir returns the folder with copies of a project's programs while they run.
func copiesDir() string { return filepath.Join(xdg.StateHome, "buddy", "running") }

// copied copies the files that a trusted part names, so that they can't change while they run, and returns the folder
// of the copies. put has to replace the files in the part's command by the copies. It is an error if the part is no
// longer trusted.
func (p Part) copied(put func(*config.Copies) error) (dir string, err error) {
	if err := os.MkdirAll(copiesDir(), 0o700); err != nil {
		return "", err
	}
	if dir, err = os.MkdirTemp(copiesDir(), fmt.Sprint(os.Getpid(), "-")); err != nil {
		return "", err
	}
	p.Files = config.FilesNamed(p.Dir, p.lines...)
	c, err := TrustStore().CopyPart(p.Dir, p.Part, p.lines, dir)
	switch {
	case err != nil:
	case c == nil:
		err = errors.New("it or a file that it names changed since you trusted it (to trust it, run: buddy trust)")
	default:
		err = put(c)
	}
	if err != nil {
		_ = os.RemoveAll(dir) // on an error SweepCopies removes it
		return "", err
	}
	return dir, nil
}

// program splits a command line into the program and its arguments.
func program(all []string, err error) (string, []string, error) {
	return all[0], all[1:], err
}

// SweepCopies removes copies that killed processes have left.
func SweepCopies() {
	entries, _ := os.ReadDir(copiesDir()) // usually there are none
	for _, e := range entries {
		owner, _, _ := strings.Cut(e.Name(), "-")
		if pid, err := strconv.Atoi(owner); err == nil && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			_ = os.RemoveAll(filepath.Join(copiesDir(), e.Name()))
		}
	}
}

// CheckedServer checks that a server of the project or of a plugin is still trusted, and returns the server to start. A
// server from .mcp.json runs from copies of its files, a plugin's server from its own files. A server without a command
// is returned unchecked.
func (s *Source) CheckedServer(one mcp.Server) (mcp.Server, error) {
	checks, _, err := s.check()
	i := slices.IndexFunc(checks, func(c Check) bool { return c.Kind == "mcp" && c.Name == one.Name })
	if err != nil || len(one.Process.Command) == 0 {
		return one, err
	}
	if i < 0 {
		plugins, err := s.serversOfPlugins()
		if n := slices.IndexFunc(plugins, func(p mcp.Server) bool { return p.Name == one.Name && p.Problem == "" }); n < 0 || err != nil {
			return one, errors.Join(errors.New("it no longer exists or is not trusted (to trust it, run: buddy trust)"), err)
		}
		return one, nil
	}
	one.Process.Copies, err = checks[i].copied(func(c *config.Copies) (err error) {
		one.Process.Command, err = c.Args(one.Process.Command)
		return err
	})
	return one, err
}

// CheckedLanguageServer checks that a language server is still trusted in a folder, and returns the server to start,
// which runs from copies of its files. A server that needs no trust is returned unchanged.
func (s *Source) CheckedLanguageServer(one lsp.Server, root string) (lsp.Server, error) {
	folders := []string{".", root}
	for _, folder := range folders {
		checks, _, err := CheckParts(folder, s.Config)
		if err != nil {
			return one, err
		}
		i := slices.IndexFunc(checks, func(c Check) bool {
			return c.Kind == lspKind && c.Name == one.Name && c.path() == one.Command[0]
		})
		if i < 0 {
			continue
		}
		one.Copies, err = checks[i].copied(func(c *config.Copies) (err error) {
			one.Command, err = c.Args(one.Command)
			return err
		})
		return one, err
	}
	return one, nil
}

// ProgramPath returns the PATH for programs that a session starts itself. It leaves out the folders outside the
// workspace that sandboxed commands may write to.
func ProgramPath(c config.Config) string {
	return searchpath.Outside(os.Getenv("PATH"), c.Sandbox.Write...)
}
