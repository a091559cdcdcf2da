package host

import (
	"fmt"
	"net/netip"
	"strings"

	"buddy/app/socket"
)

// placeOf returns a unique name for a screen, which other screens show. The terminal and the process id in it come from
// the kernel and can be trusted. Only the IP address comes from the screen's environment.
func placeOf(s socket.Screen) string {
	var parts []string
	if s.Looks {
		parts = append(parts, "buddy approve") // the only program without a screen that answers
	}
	if s.Editor {
		parts = append(parts, "editor over ACP")
	}
	// Inside tmux or screen, SSH_CONNECTION may belong to a connection that ended long ago.
	if s.Terminal != "" && s.Env["SSH_TTY"] == "/dev/"+s.Terminal {
		from, _, _ := strings.Cut(s.Env["SSH_CONNECTION"], " ")
		if address, err := netip.ParseAddr(from); err == nil {
			parts = append(parts, "ssh from "+address.WithZone("").String())
		}
	}
	if s.Terminal != "" {
		parts = append(parts, s.Terminal)
	}
	return strings.Join(append(parts, fmt.Sprintf("process %d", s.PID)), ", ")
}
