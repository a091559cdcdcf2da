package commands

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/google/renameio/v2"

	"buddy/app/compose"
	"buddy/sessions"
)

// export writes a session for others to read into a file, "" for one named after the
// session in the working directory, and returns its name. Keys and what looks like one are
// taken out.
func export(s *compose.Setup, id string, as sessions.ExportFormat, path string, force bool) (string, error) {
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
		warnings, err = s.Store.Export(w, id, as, compose.Redactor(s.Config))
		return err
	})
	if err == nil && len(warnings) > 0 {
		err = fmt.Errorf("wrote %s, but %s", path, strings.Join(warnings, "; "))
	}
	return path, err
}

// WriteExport writes a file that is there whole or not at all. One that exists is replaced only with force.
func WriteExport(path string, force bool, write func(io.Writer) error) error {
	if _, err := os.Lstat(path); err == nil && !force {
		return fmt.Errorf("%s exists; --force overwrites it", path)
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
