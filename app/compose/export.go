package compose

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/google/renameio/v2"

	"buddy/agent/redact"
	"buddy/config"
	"buddy/sessions"
)

// Export writes a session for others to read into a file, "" for one named after the
// session in the working directory, and returns its name. Keys and what looks like one are
// taken out.
func (s *Setup) Export(id string, as sessions.ExportFormat, path string, force bool) (string, error) {
	if path == "" {
		path, force = fmt.Sprintf("buddy-%s.%s", id, as), true // an earlier export of the same session
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return path, fmt.Errorf("%s is a folder", path)
	}
	if id == s.ID && !s.Stored() {
		return path, errors.New("there is nothing to export before the first prompt")
	}
	var warnings []string
	err := WriteExport(path, force, func(w io.Writer) (err error) {
		warnings, err = s.Store.Export(w, id, as, Redactor(s.Config))
		return err
	})
	if err == nil && len(warnings) > 0 {
		err = fmt.Errorf("%s is written, but %s", path, strings.Join(warnings, "; "))
	}
	return path, err
}

// knownKeys returns what hides the keys of a person in what a model says.
func knownKeys(c config.Config) *redact.Keys {
	var all []redact.Key
	for _, k := range c.KnownKeys(os.Environ()) {
		all = append(all, redact.Key(k))
	}
	return redact.NewKeys(all...)
}

// Redactor returns what takes secrets out: the keys of all profiles, and what looks like
// one, too, since it leaves this machine.
func Redactor(c config.Config) func(string) string {
	var keys []string
	for _, m := range c.Models {
		if key, _, err := m.Key(); err == nil { // else there is none that could be in a session
			keys = append(keys, key)
		}
	}
	known := redact.New(keys...)
	hidden := knownKeys(c)
	return func(s string) string { return redact.Entropy(known.Text(hidden.Text(s))) }
}

// WriteExport writes a file that is there whole or not at all. One that exists is replaced only with force.
func WriteExport(path string, force bool, write func(io.Writer) error) error {
	if _, err := os.Lstat(path); err == nil && !force {
		return fmt.Errorf("%s exists; with --force the export takes its place", path)
	}
	f, err := renameio.NewPendingFile(path, renameio.WithPermissions(0o600))
	if err != nil {
		if inDir, ok := errors.AsType[*fs.PathError](err); ok { // of a file beside it
			err = inDir.Err
		}
		return fmt.Errorf("%s: %w", path, err)
	}
	defer func() { _ = f.Cleanup() }()
	if err := write(f); err != nil {
		return err
	}
	return f.CloseAtomicallyReplace()
}
