package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"buddy/app/client"
	"buddy/app/compose"
	"buddy/app/debuglog"
	"buddy/app/gc"
	"buddy/app/socket"
	"buddy/config"
	"buddy/sessions"
	"buddy/tmux/pane"
	"buddy/views/markup"
)

const (
	// firstScreen limits how long a host waits for the screen that started it.
	firstScreen = 30 * time.Second

	// goodbye limits how long a host waits for screens to read the end of the session.
	goodbye = 2 * time.Second
)

// Private prevents other processes of this user from reading this process's memory. A screen calls it before it
// connects.
func Private() { socket.Private() }

// order describes the session that a host process has to run. The host gets it through a pipe, because other users can
// read command lines.
type order struct {
	Options compose.Options `json:"options"`
	Resume  bool            `json:"resume,omitempty"` // the session is stored; else it is new
	Log     string          `json:"log,omitempty"`    // the debug log to append to
	Secret  string          `json:"secret,omitempty"` // of the starting process, see [socket.Server]
	Key     []byte          `json:"key,omitempty"`    // see [sessions.HeldKey]

	Servers []config.MCPServer `json:"servers,omitempty"` // see [compose.Options]; screens don't get them
}

// Main is the main function of a host process, which [Start] starts. It runs the session until its end and returns the
// exit code. The listener for screens and the order are inherited as open files.
func Main() int {
	if err := run(); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "buddy: "+markup.Plain(err.Error()))
		return 1
	}
	return 0
}

func run() error {
	socket.Private()
	l, text, err := socket.Inherited()
	if err != nil {
		return err
	}
	var o order
	if err := json.Unmarshal(text, &o); err != nil {
		socket.Remove(l.Addr().String())
		return errors.Join(fmt.Errorf("the session's options can't be read: %w", err), l.Close())
	}
	sessions.HoldKey(o.Key)
	log.SetOutput(reporter{reportFile(o.Options.Session)})
	// The signals are caught and dropped, not ignored, because commands would inherit ignored signals.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGPIPE)
	if o.Log != "" {
		if o.Options.Log, err = debuglog.Join(o.Log); err != nil {
			return err
		}
	}
	pane.Adopt()
	o.Options.Servers = o.Servers
	h := open(&o.Options, o.Resume, l)
	defer h.socket.close()
	h.socket.note()
	go h.rest()
	alone := time.AfterFunc(firstScreen, h.scheduleEnd) // if no screen has come by then
	server := socket.Server{Connect: func(ctx context.Context, s socket.Screen) client.Session {
		if !s.Looks {
			alone.Stop()
		}
		return h.welcome(ctx, s)
	}, Tmux: h.tmux.processes, Secret: o.Secret, WithoutTerminal: h.program != nil && h.program.Config.Host.WithoutTerminal}
	go h.socket.keep(h.ctx, server.Serve)
	for {
		select {
		case s := <-signals:
			if s == syscall.SIGTERM {
				go h.End(client.Close{Abandon: true})
			}
		case <-h.Over():
			bid := make(chan struct{})
			go func() { server.Wait(); close(bid) }()
			select {
			case <-bid:
			case <-time.After(goodbye):
			}
			forgetReport(o.Options.Session)
			return nil
		}
	}
}

// welcome attaches a screen to the session. Later commands use the environment of its terminal.
func (h *Host) welcome(ctx context.Context, s socket.Screen) client.Session {
	if s.Looks {
		return h.Look(ctx, s)
	}
	for _, name := range terminalVariables {
		if value, ok := s.Env[name]; ok {
			_ = os.Setenv(name, value) // a fixed name; the value comes from a program's environment
		} else {
			_ = os.Unsetenv(name)
		}
	}
	return h.Connect(ctx, s)
}

// terminalVariables lists environment variables about the user's terminal or desktop, which differ between screens.
// tmux's update-environment serves the same purpose.
var terminalVariables = []string{
	"SSH_AUTH_SOCK", "SSH_AGENT_PID", "SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY",
	"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "KRB5CCNAME",
}

// terminal returns the variables of this terminal.
func terminal() map[string]string {
	env := make(map[string]string)
	for _, name := range terminalVariables {
		if value, ok := os.LookupEnv(name); ok {
			env[name] = value
		}
	}
	return env
}

// rest releases memory while nothing happens, until the session is over.
func (h *Host) rest() {
	rest, woken := gc.NewRest(), make(chan struct{}, 1)
	h.OnActivity(func() {
		if rest.Touch() {
			select {
			case woken <- struct{}{}:
			default: // it wakes up already
			}
		}
	})
	timer := time.NewTimer(gc.RestAfter)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			rest.Pause(timer)
		case <-woken:
			rest.Wake(timer)
		case <-h.Over():
			return
		}
	}
}
