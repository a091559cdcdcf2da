package target

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"buddy/tmux/host"
)

// Environment holds the facts about a target that are known before the first command.
type Environment struct {
	Dir       string   // real path where commands start; "" is the home folder of an unreachable target
	Also      []string // further workspace folders, real paths
	Home      string   // "" is unknown
	OS        string
	Shell     string
	Tmux      string // output of tmux -V, "" without tmux; always "" on this machine
	Elsewhere bool   // another machine, whose kernel is not ours
}

// Look queries the environment of the target; dir is the folder to work in, "" the default. For an unreachable target
// it returns the facts known without it, and sets Away. It waits at most 40 seconds.
func (t *Target) Look(ctx context.Context, dir string) (Environment, error) {
	if t.Host == nil {
		at, err := os.Getwd()
		if err != nil {
			return Environment{}, fmt.Errorf("working directory: %w", err)
		}
		home, _ := os.UserHomeDir() // "" for unknown; paths with ~ then need approval
		return Environment{Dir: at, Home: home, OS: runtime.GOOS, Shell: "bash"}, nil
	}
	away := Environment{OS: "Unix", Shell: "sh"}
	if strings.HasPrefix(dir, "/") {
		away.Dir = dir
	}
	if t.Away != nil {
		return away, nil
	}
	if dir == "" {
		dir = "."
	}
	ctx, stop := context.WithTimeout(ctx, connectTimeout)
	defer stop()
	var out, stderr bytes.Buffer
	code, err := t.Host.Run(ctx, "cd && pwd -P && { cd -- "+host.Quote(dir)+` 2>/dev/null || ! echo "it doesn't exist, or access is denied" >&2; } && pwd -P && uname -s &&
{ command -v bash >/dev/null && echo bash || echo sh; } && { tmux -V 2>/dev/null || echo; } && { cat `+bootID+` 2>/dev/null || echo; }`, &out, &stderr)
	if errors.As(err, &t.Away) {
		return away, nil
	}
	lines := strings.Split(out.String(), "\n")
	switch {
	case err != nil:
		return away, t.named(err)
	case code != 0 || len(lines) != 7:
		return away, fmt.Errorf("%s: can't use the folder %q: %s", t.Name, dir, strings.TrimSpace(stderr.String()))
	}
	return Environment{Home: lines[0], Dir: lines[1], OS: strings.ToLower(lines[2]), Shell: lines[3], Tmux: lines[4], Elsewhere: elsewhere(lines[2], lines[5])}, nil
}

// bootID is the file in which Linux identifies a running kernel, also in containers.
const bootID = "/proc/sys/kernel/random/boot_id"

// elsewhere reports whether a target with this system and boot id is on another machine. An ssh host can be this
// machine, and a container with the same kernel runs on it; both may share folders with it.
func elsewhere(system, boot string) bool {
	ours, err := os.ReadFile(bootID)
	if err != nil || boot == "" {
		return !strings.EqualFold(system, runtime.GOOS)
	}
	return boot != strings.TrimSpace(string(ours))
}

// Folder returns the real path of a folder of the target. On this machine a relative path
// starts at the program's folder; elsewhere the path must be absolute.
func (t *Target) Folder(dir string) (string, error) {
	if t.Host != nil {
		return t.farFolder(dir)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", errors.New("no such folder")
	}
	if fi, err := os.Stat(real); err != nil || !fi.IsDir() {
		return "", errors.New("not a folder")
	}
	return real, nil
}

// farFolder resolves a folder on another machine, see Folder.
func (t *Target) farFolder(dir string) (string, error) {
	if !path.IsAbs(dir) {
		return "", fmt.Errorf("must be an absolute path on %s", t.Name)
	}
	ctx, stop := context.WithTimeout(context.Background(), connectTimeout)
	defer stop()
	real, err := t.Host.RealPath(ctx, dir)
	if err != nil {
		return "", err
	}
	fi, err := t.Host.Stat(ctx, real)
	if err == nil && !fi.Mode.IsDir() {
		err = errors.New("not a folder")
	}
	return real, err
}
