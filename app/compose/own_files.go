package compose

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adrg/xdg"

	"buddy/agent/policy"
	"buddy/config"
	"buddy/extensions"
	"buddy/features/memory"
	"buddy/features/plan"
	"buddy/sessions"
)

// own returns the policy's information about buddy itself on this machine: the folders of settings and state, the files
// with keys, the files among them that the model may use, and how to recognize the program.
func (p *Program) own() policy.Own {
	state := filepath.Join(xdg.StateHome, "buddy")
	skills := filepath.Join(xdg.ConfigHome, "buddy", string(extensions.Skill))
	o := policy.Own{
		Files:       OwnFiles(&p.Config),
		Credentials: config.WithTargets([]string{config.Auth().Path(), sessions.KeyFile(state)}),
		Given:       config.WithTargets([]string{skills}),
		Program:     isThisProgram,
	}
	if p.ID != "" { // "" without a session
		o.Given = config.WithTargets([]string{skills, p.Store.OutDir(p.ID), string(plan.FileIn(p.dir())), memory.FileIn(p.Store)})
	}
	return o
}

// OwnFiles returns buddy's own files on this machine: the folders of settings and state, and the files with keys.
func OwnFiles(c *config.Config) []string {
	return slices.Concat(c.OwnFiles(), config.WithTargets([]string{filepath.Join(xdg.StateHome, "buddy")}))
}

// dir returns the folder of the session's files.
func (p *Program) dir() string { return filepath.Dir(p.Store.OutDir(p.ID)) }

// isThisProgram reports whether a command word in dir names the running program: its file, a link to it or a copy of
// it.
func isThisProgram(word, dir string) bool {
	path := word
	switch {
	case !strings.ContainsRune(word, '/'):
		found, err := exec.LookPath(word)
		if err != nil {
			return false
		}
		path = found
	case !filepath.IsAbs(word):
		path = filepath.Join(dir, word)
	}
	own, err := os.Executable()
	if err != nil {
		return false
	}
	a, err := os.Stat(own)
	if err != nil {
		return false
	}
	b, err := os.Stat(path)
	return err == nil && (os.SameFile(a, b) || b.Mode().IsRegular() && a.Size() == b.Size() && sameContent(own, path))
}

// sameContent reports whether two files of the same size have the same content.
func sameContent(a, b string) bool {
	x, err := os.Open(a)
	if err != nil {
		return false
	}
	defer x.Close() //nolint:errcheck // only read
	y, err := os.Open(b)
	if err != nil {
		return false
	}
	defer y.Close() //nolint:errcheck // only read
	p, q := make([]byte, 1<<16), make([]byte, 1<<16)
	for {
		n, err := io.ReadFull(x, p)
		m, _ := io.ReadFull(y, q)
		if !bytes.Equal(p[:n], q[:m]) {
			return false
		}
		if err != nil {
			return n == m
		}
	}
}
