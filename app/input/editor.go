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
	"slices"
	"strings"

	"golang.org/x/term"
)

// maxEdited limits the text read back from an editor, in bytes.
const maxEdited = 8 << 20

// LookAt runs an editor on a copy of a text. Changes are discarded.
func LookAt(name string, text io.Reader, editor string) error {
	dir, err := os.MkdirTemp("", "buddy-look-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // our own folder in the system's temporary folder
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

// Editor returns the command of the user's editor, which may have arguments.
func Editor() string { return cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"), "vi") }

// RunEditor runs an editor on a file and waits for it. Its error names the editor.
func RunEditor(editor, path string, stdin, stdout, stderr *os.File) error {
	return start(editor, []string{path}, stdin, stdout, stderr)
}

// start runs an editor with arguments and waits for it.
func start(editor string, args []string, stdin, stdout, stderr *os.File) error {
	c := exec.CommandContext(context.Background(), "sh", append([]string{"-c", editor + ` "$@"`, "sh"}, args...)...)
	c.Stdin, c.Stdout, c.Stderr = stdin, stdout, stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("editor %q: %w", editor, err)
	}
	return nil
}

// OpenAt opens a file in an editor at a line, to edit it. Line 0 is the start. The path must be absolute, so that no
// editor takes it for an option.
func OpenAt(path string, line int, editor string) error {
	if !filepath.IsAbs(path) {
		return fmt.Errorf("editor %q: %q is not an absolute path", editor, path)
	}
	return start(editor, argsAt(editor, path, line), os.Stdin, terminalOut(), os.Stderr)
}

// argsAt returns an editor's arguments for opening a file at a line: +LINE FILE for most.
func argsAt(editor, path string, line int) []string {
	name, _, _ := strings.Cut(strings.TrimSpace(editor), " ")
	at := fmt.Sprintf("%s:%d", path, line)
	switch name = filepath.Base(name); {
	case line == 0:
		return []string{path}
	case slices.Contains([]string{"code", "code-insiders", "codium", "cursor", "windsurf"}, name):
		return []string{"--goto", at}
	case slices.Contains([]string{"subl", "zed", "hx", "helix"}, name):
		return []string{at}
	}
	return []string{fmt.Sprintf("+%d", line), path}
}

// terminalOut returns the editor's output: stdout if it is a terminal, else stderr.
func terminalOut() *os.File {
	if !term.IsTerminal(int(os.Stdout.Fd())) {
		return os.Stderr
	}
	return os.Stdout
}

// runEditor is RunEditor on this process's terminal.
func runEditor(editor, path string) error {
	if err := RunEditor(editor, path, os.Stdin, terminalOut(), os.Stderr); err != nil {
		return fmt.Errorf("%w; the text is unchanged", err)
	}
	return nil
}

// EditText writes text to a file that nobody else may read, runs an editor on the file and returns the new text. name
// is the file's name. The editor is a command that may have arguments.
func EditText(name, text, editor string) (string, error) {
	dir, err := os.MkdirTemp("", "buddy-edit-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // our own folder in the system's temporary folder
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
		err = fmt.Errorf("editor %q saved more than %d MB; the text is unchanged", editor, maxEdited>>20)
	}
	return string(edited), err
}
