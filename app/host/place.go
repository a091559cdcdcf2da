package host

import (
	"fmt"
	"net/netip"
	"strings"

	"buddy/app/socket"
)

// placeOf says where a screen is, for people at other screens. No other screen has the same. Terminal and process are what
// the kernel says; what a screen says of itself counts only in the form of an address.
func placeOf(s socket.Screen) string {
	var parts []string
	if s.Looks {
		parts = append(parts, "buddy approve") // nothing else that shows no screen answers
	}
	// Inside tmux or screen, the connection of the shell that started those may have ended long ago.
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
