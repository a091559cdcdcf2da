package sessions

import (
	"os"
	"path/filepath"
	"strings"

	"buddy/texts"
)

// throwAway reports whether this process runs in a container with a mounted project but without a mounted state folder,
// so that the state folder vanishes with the container.
func throwAway(project, state string) bool {
	if !inContainer() {
		return false
	}
	table, err := os.ReadFile("/proc/self/mountinfo")
	return err == nil && mountPoint(string(table), texts.RealPath(project)) != "/" && mountPoint(string(table), texts.RealPath(state)) == "/"
}

// inContainer reports whether Docker, Podman or another engine that identifies itself runs this process.
func inContainer() bool {
	return exists("/.dockerenv") || exists("/run/.containerenv") || os.Getenv("container") != "" // https://systemd.io/CONTAINER_INTERFACE
}

// mountPoint returns the mount point above a path, from a table as in proc_pid_mountinfo(5).
func mountPoint(table, path string) string {
	found := "/"
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		if len(fields) < 5 {
			continue
		}
		point := unescape(fields[4])
		if len(point) > len(found) && texts.Below(path, point) {
			found = filepath.Clean(point)
		}
	}
	return found
}

// unescape replaces the octal escapes of a mount point.
func unescape(point string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(point)
}
