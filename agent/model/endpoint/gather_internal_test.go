package endpoint

import (
	"net"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
)

// TestGatherReadsWhatIsThere: available bytes and the end are read at once, even while words arrive one by one: a read
// may return only a part of them. While gather waits for more, the system does not wake the process for each word;
// afterwards it does again.
func TestGatherReadsWhatIsThere(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() //nolint:errcheck // the test is over
	server := make(chan net.Conn, 1)
	go func() {
		conn, _ := listener.Accept()
		server <- conn
	}()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // the test is over
	far := <-server
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	lowest := func() (n int) {
		_ = raw.Control(func(fd uintptr) { n, _ = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVLOWAT) })
		return n
	}
	synctest.Test(t, func(t *testing.T) {
		g := gather{text: true, words: true, conn: raw}
		hold := func() time.Duration {
			began := time.Now()
			g.hold(t.Context())
			return time.Since(began)
		}
		time.AfterFunc(gatherTime/2, func() {
			if got := lowest(); got != largeRead {
				t.Errorf("the system wakes the process for %d bytes", got)
			}
		})
		if took := hold(); took != gatherTime {
			t.Errorf("with nothing there, the read was held for %v", took)
		}
		if got := lowest(); got != 1 {
			t.Errorf("after that, the system wakes the process for %d bytes", got)
		}
		if _, err := far.Write([]byte("some")); err != nil {
			t.Fatal(err)
		}
		if took := hold(); took != 0 {
			t.Errorf("the read of what was there was held for %v", took)
		}
		if n, err := conn.Read(make([]byte, 10)); n != 4 || err != nil {
			t.Fatal(n, err)
		}
		_ = far.Close()
		if took := hold(); took != 0 {
			t.Errorf("the read of the end was held for %v", took)
		}
	})
}
