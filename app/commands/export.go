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

// export writes a session to a file that can be shown to others, without keys and texts that look like keys. It returns
// a message for the user. If path is "", the file is in the working directory and named after the session.
func export(s *compose.Setup, id string, as sessions.ExportFormat, path string, force bool) (string, error) {
	if path == "" {
		path, force = fmt.Sprintf("buddy-%s.%s", id, as), true // may replace an earlier export of the same session
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return "", fmt.Errorf("%s is a folder", path)
	}
	if id == s.ID && !s.Stored() {
		return "", errors.New("there is nothing to export before the first prompt")
	}
	var done sessions.Exported
	err := WriteExport(path, force, func(w io.Writer) (err error) {
		done, err = s.Store.Export(w, id, as, compose.Redactor(s.Config))
		return err
	})
	if err == nil && len(done.Warnings) > 0 {
		err = fmt.Errorf("wrote %s, but %s", path, strings.Join(done.Warnings, "; "))
	}
	return fmt.Sprintf("exported to %s (%s; read the file before you share it)", path, done.Note()), err
}

// WriteExport writes a file completely or not at all. It replaces an existing file only with force.
func WriteExport(path string, force bool, write func(io.Writer) error) error {
	if _, err := os.Lstat(path); err == nil && !force {
		return fmt.Errorf("%s exists; --force overwrites it", path)
	}
	f, err := renameio.NewPendingFile(path, renameio.WithPermissions(0o600))
	if err != nil {
		if inDir, ok := errors.AsType[*fs.PathError](err); ok { // the path is that of a temporary file
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
