// Package proxiestest provides a SOCKS proxy for tests.
//
//	p := proxiestest.Socks(t, server.Listener.Addr().String())
//	t.Setenv("ALL_PROXY", "socks5://ann:secret@"+p.Addr)
package proxiestest

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"
)

// Server is a SOCKS proxy on this machine.
type Server struct {
	Addr string // host:port

	mu    sync.Mutex // guards asked
	asked []string
}

// Socks starts a proxy that connects to a fixed address, whatever is requested; "" refuses all requests.
func Socks(t testing.TB, to string) *Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	s := &Server{Addr: l.Addr().String()}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close() //nolint:errcheck // everything was sent
				_ = s.serve(conn, to)
			}()
		}
	}()
	return s
}

// Asked returns the requests to the proxy, each as "host:port user:password".
func (s *Server) Asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// serve implements SOCKS 5: RFC 1928, with names and passwords as in RFC 1929.
func (s *Server) serve(conn net.Conn, to string) error {
	read := func(n byte) []byte {
		p := make([]byte, n)
		_, _ = io.ReadFull(conn, p) // at the end of the connection the bytes are zero, which is invalid
		return p
	}
	methods := read(read(2)[1])
	who := ":"
	if slices.Contains(methods, 2) {
		_, _ = conn.Write([]byte{5, 2})
		name := read(read(2)[1])
		who = string(name) + ":" + string(read(read(1)[0]))
		_, _ = conn.Write([]byte{1, 0})
	} else {
		_, _ = conn.Write([]byte{5, 0})
	}
	var host string
	switch kind := read(4)[3]; kind {
	case 1:
		host = netip.AddrFrom4([4]byte(read(4))).String()
	case 3:
		host = string(read(read(1)[0]))
	default:
		return fmt.Errorf("an address of the kind %d", kind)
	}
	port := binary.BigEndian.Uint16(read(2))
	s.mu.Lock()
	s.asked = append(s.asked, fmt.Sprintf("%s:%d %s", host, port, who))
	s.mu.Unlock()
	target, err := net.Dial("tcp", to)
	if err != nil {
		_, _ = conn.Write([]byte{5, 5, 0, 1, 0, 0, 0, 0, 0, 0}) // connection refused
		return err
	}
	defer target.Close() //nolint:errcheck // everything was sent
	_, _ = conn.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	go func() { _, _ = io.Copy(target, conn); _ = target.Close() }()
	_, err = io.Copy(conn, target)
	return err
}
