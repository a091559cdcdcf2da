package host

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"buddy/app/socket"
)

// terminalName matches the name of a terminal below /dev.
var terminalName = regexp.MustCompile(`^(pts/[0-9]{1,6}|tty[A-Za-z0-9._-]{0,16})$`)

// placeOf says where a screen is, for people at other screens. What a screen says of itself counts
// only in the form of an address and of a terminal's name.
func placeOf(s socket.Screen) string {
	var parts []string
	if s.Looks {
		parts = append(parts, "buddy approve") // nothing else that shows no screen answers
	}
	if !terminalName.MatchString(s.Terminal) {
		return strings.Join(append(parts, fmt.Sprintf("process %d", s.PID)), ", ")
	}
	// Inside tmux or screen, the connection of the shell that started those may have ended long ago.
	if s.Env["SSH_TTY"] == "/dev/"+s.Terminal {
		from, _, _ := strings.Cut(s.Env["SSH_CONNECTION"], " ")
		if address, err := netip.ParseAddr(from); err == nil {
			parts = append(parts, "ssh from "+address.WithZone("").String())
		}
	}
	return strings.Join(append(parts, s.Terminal), ", ")
}

// terminalHere returns the name of the terminal of this process, such as pts/3; "" if there is none.
func terminalHere() string {
	for fd := range 3 {
		var here, other unix.Stat_t
		if !term.IsTerminal(fd) || unix.Fstat(fd, &here) != nil {
			continue
		}
		for _, pattern := range []string{"/dev/pts/[0-9]*", "/dev/tty?*"} {
			paths, _ := filepath.Glob(pattern) // the pattern is right
			for _, path := range paths {
				if unix.Stat(path, &other) == nil && other.Mode&unix.S_IFMT == unix.S_IFCHR && other.Rdev == here.Rdev {
					return strings.TrimPrefix(path, "/dev/")
				}
			}
		}
	}
	return ""
}
