package try

import (
	"net"
	"slices"
	"strings"
	"sync"

	"golang.org/x/net/dns/dnsmessage"
)

// namesMax limits the recorded names.
const namesMax = 100

// names records the names of hosts that a command asks for. It is safe for concurrent use.
type names struct {
	mu    sync.Mutex
	asked []string
}

func (n *names) add(name string) {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	n.mu.Lock()
	defer n.mu.Unlock()
	if name != "" && len(n.asked) < namesMax && !slices.Contains(n.asked, name) {
		n.asked = append(n.asked, name)
	}
}

func (n *names) all() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.asked)
}

// serve is a name server that knows no name. It ends when the connection is closed.
func (n *names) serve(c net.PacketConn) {
	packet := make([]byte, 4096)
	for {
		size, from, err := c.ReadFrom(packet)
		if err != nil {
			return
		}
		if answer := n.answer(packet[:size]); answer != nil {
			_, _ = c.WriteTo(answer, from) // the command may have ended
		}
	}
}

// answer returns the answer to a question, nil if the question is malformed.
func (n *names) answer(question []byte) []byte {
	var m dnsmessage.Message
	if err := m.Unpack(question); err != nil || m.Response || len(m.Questions) == 0 {
		return nil
	}
	for _, q := range m.Questions {
		n.add(q.Name.String())
	}
	m.Response, m.RecursionAvailable, m.RCode = true, true, dnsmessage.RCodeNameError
	m.Answers, m.Authorities, m.Additionals = nil, nil, nil
	answer, err := m.Pack()
	if err != nil {
		return nil
	}
	return answer
}
