package input

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/term"
)

// maxEdited bounds what is read back from an editor, in bytes.
const maxEdited = 8 << 20

// LookAt runs an editor on a copy of a text, so that nothing becomes of what is changed.
func LookAt(name string, text io.Reader, editor string) error {
	dir, err := os.MkdirTemp("", "buddy-look-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a file of our own in the system's folder for such
	path := filepath.Join(dir, name)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, text)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("a copy for the editor: %w", err)
	}
	return runEditor(editor, path)
}

// Editor returns the editor that a person wants, a command that may have arguments.
func Editor() string { return cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"), "vi") }

// RunEditor runs an editor on a file and waits for its end. Its error names the editor.
func RunEditor(editor, path string, stdin, stdout, stderr *os.File) error {
	c := exec.CommandContext(context.Background(), "sh", "-c", editor+` "$1"`, "sh", path)
	c.Stdin, c.Stdout, c.Stderr = stdin, stdout, stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("editor %q: %w", editor, err)
	}
	return nil
}

// runEditor is RunEditor on the terminal of the process: where stdout goes elsewhere, it draws on
// stderr.
func runEditor(editor, path string) error {
	out := os.Stdout
	if !term.IsTerminal(int(out.Fd())) {
		out = os.Stderr
	}
	if err := RunEditor(editor, path, os.Stdin, out, os.Stderr); err != nil {
		return fmt.Errorf("%w; the text is as it was", err)
	}
	return nil
}

// EditText runs an editor, a command that may have arguments, on a file of that name with
// that text, which nobody else may read.
func EditText(name, text, editor string) (string, error) {
	dir, err := os.MkdirTemp("", "buddy-edit-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a file of our own in the system's folder for such
	path := filepath.Join(dir, name)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n" // as editors leave it
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return "", err
	}
	if err := runEditor(editor, path); err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("editor %q: %w", editor, err)
	}
	defer f.Close() //nolint:errcheck // only read
	edited, err := io.ReadAll(io.LimitReader(f, maxEdited+1))
	if err == nil && len(edited) > maxEdited {
		err = fmt.Errorf("editor %q left more than %d MB; the text is as it was", editor, maxEdited>>20)
	}
	return string(edited), err
}
