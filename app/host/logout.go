package host

import (
	"bufio"
	"bytes"
	"io/fs"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/adrg/xdg"
)

// LogoutAdvice returns a warning if this system ends all processes of a user at logout, and how to prevent that. It
// returns the warning only once on a machine, and "" otherwise.
func LogoutAdvice() string {
	u, err := user.Current()
	if err != nil || !endsAtLogout(os.DirFS("/"), u.Username) {
		return ""
	}
	marker := filepath.Join(xdg.StateHome, "buddy", "logout-advice")
	if err := os.MkdirAll(filepath.Dir(marker), 0o700); err != nil {
		return ""
	}
	f, err := os.OpenFile(marker, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "" // shown before, or it can't be recorded and would show every time
	}
	_ = f.Close() // it is empty
	return "this system ends your processes at logout (KillUserProcesses); to keep detached sessions running: loginctl enable-linger"
}

// endsAtLogout reports whether systemd ends all processes of a user at logout. The last file of logind.conf that sets
// KillUserProcesses counts (man 5 logind.conf), unless the user lingers.
func endsAtLogout(root fs.FS, name string) bool {
	if _, err := fs.Stat(root, "var/lib/systemd/linger/"+name); err == nil {
		return false
	}
	files := []string{"etc/systemd/logind.conf"}
	drops := make(map[string]string) // by name: those in /etc replace those in /run and /usr/lib
	for _, dir := range []string{"usr/lib", "run", "etc"} {
		all, _ := fs.Glob(root, dir+"/systemd/logind.conf.d/*.conf") // the pattern is valid
		for _, path := range all {
			drops[filepath.Base(path)] = path
		}
	}
	for _, n := range slices.Sorted(maps.Keys(drops)) {
		files = append(files, drops[n])
	}
	ends := false
	for _, path := range files {
		if value, ok := killsIn(root, path); ok {
			ends = value
		}
	}
	return ends
}

// killsIn returns the value of KillUserProcesses in a file, and whether the file sets it.
func killsIn(root fs.FS, path string) (kills, found bool) {
	data, err := fs.ReadFile(root, path)
	if err != nil { // a missing file sets nothing
		return false, false
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		key, value, ok := strings.Cut(lines.Text(), "=")
		if !ok || strings.TrimSpace(key) != "KillUserProcesses" {
			continue
		}
		value = strings.ToLower(strings.TrimSpace(value))
		on, err := strconv.ParseBool(value)
		kills, found = value == "yes" || value == "on" || err == nil && on, true
	}
	return kills, found
}
