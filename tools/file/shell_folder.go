package file

import (
	"context"
	"path/filepath"
	"strings"

	"buddy/texts"
	"buddy/tools"
)

// FollowShell sets the function that returns the current folder of the target's shell, "" while unknown. Relative paths
// still start in the workspace; but if the shell's folder also has the file that a change names, the change fails and
// asks which one is meant. Call it before the first tool call.
func FollowShell(w *Workspace, now func() string) { w.shell = now }

// awayFolder returns the real path of the shell's folder if an argument names another path there than in the workspace;
// else "".
func awayFolder(ctx context.Context, w *Workspace, arg string) string {
	if w.shell == nil || filepath.IsAbs(arg) || arg == "~" || strings.HasPrefix(arg, "~/") {
		return ""
	}
	dir := w.shell()
	if dir == "" || dir == w.Root() {
		return ""
	}
	if real, err := w.files.RealPath(ctx, dir); err == nil && real != w.Root() {
		return real
	}
	return ""
}

// inShell returns the real path of an argument relative to the shell's folder, "" if nothing is there or if it is path.
func inShell(ctx context.Context, w *Workspace, arg, path string) string {
	dir := awayFolder(ctx, w, arg)
	if dir == "" {
		return ""
	}
	there, err := w.files.RealPath(ctx, filepath.Join(dir, arg))
	if err != nil || there == path {
		return ""
	}
	if _, err := w.files.Lstat(ctx, there); err != nil {
		return ""
	}
	return there
}

// resolveOne resolves a path for a change. If the path names another file in the shell's folder, the error asks which
// file is meant.
func resolveOne(ctx context.Context, w *Workspace, arg string) (string, error) {
	path, err := w.resolve(ctx, arg)
	if err != nil {
		return "", err
	}
	there := inShell(ctx, w, arg, path)
	if there == "" {
		return path, nil
	}
	missing := ""
	if _, err := w.files.Lstat(ctx, path); err != nil {
		missing = ", which does not exist"
	}
	return "", tools.Invalid("path: which one is %q? %q%s, because relative paths start in the first folder, or %q, where the shell is; give the absolute path",
		texts.ClipBytes(arg, 200), path, missing, there)
}

// madeAt returns a remark that tells where a new file is, "" if the file's relative path can't mislead.
func madeAt(ctx context.Context, w *Workspace, arg, path string) string {
	if awayFolder(ctx, w, arg) == "" {
		return ""
	}
	return "the file is " + path + ": relative paths start in the first folder, not where the shell is"
}

// another returns a remark on the file that a relative path names in the shell's folder, "" for none.
func another(ctx context.Context, w *Workspace, arg, path string) string {
	if there := inShell(ctx, w, arg, path); there != "" {
		return "another file of this name is where the shell is: " + there
	}
	return ""
}
