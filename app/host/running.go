package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"buddy/app/exit"
	"buddy/app/live"
	"buddy/app/socket"
	"buddy/app/version"
	"buddy/sessions"
)

// lookTime limits how long a session may take to say what it does.
const lookTime = 2 * time.Second

// Silent is a session whose host does not say what it does, and why.
type Silent struct {
	ID  string
	Err error
}

// Running describes the sessions of this user that run, in all folders, the latest begun first.
// A host that does not answer is among the silent ones.
func Running(ctx context.Context) (all []live.Description, silent []Silent) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	var wait sync.WaitGroup
	var mu sync.Mutex // guards all and silent
	listening, silent := sockets()
	for id, path := range listening {
		wait.Go(func() {
			d, err := describe(ctx, path)
			mu.Lock()
			defer mu.Unlock()
			if errors.Is(err, context.DeadlineExceeded) {
				err = fmt.Errorf("no answer in %s", lookTime)
			}
			if err != nil {
				silent = append(silent, Silent{id, err})
				return
			}
			all = append(all, d)
		})
	}
	wait.Wait()
	slices.SortFunc(all, func(a, b live.Description) int { return cmp.Or(cmp.Compare(b.Began, a.Began), cmp.Compare(a.ID, b.ID)) })
	slices.SortFunc(silent, func(a, b Silent) int { return cmp.Compare(a.ID, b.ID) })
	return all, silent
}

// sockets returns where the hosts of this user listen, by session: those in the folders for sockets of this environment,
// and those that are noted next to their sessions. Of the latter some may run and not answer.
func sockets() (all map[string]string, silent []Silent) {
	all = socket.Running(os.Getenv)
	stores, _ := sessions.Folders() // of what can't be read the sockets are to be found
	for _, store := range stores {
		for id, noted := range sessions.Hosts(store) {
			if all[id] != "" {
				continue
			}
			path, err := awaitNoted(store, id, noted)
			if err != nil {
				silent = append(silent, Silent{id, err})
			} else if path != "" {
				all[id] = path
			}
		}
	}
	return all, silent
}

// returnTime limits how long a host that runs may take to make its socket again.
const returnTime = 2 * time.Second

// awaitNoted returns where the host that is noted for a session listens, "" if that does not run. One whose socket was
// removed is waited for: a session has one host.
func awaitNoted(store sessions.Store, id string, noted sessions.Host) (path string, err error) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for late := time.Now().Add(returnTime); ; <-tick.C {
		if socket.Listens(id, noted.Socket) {
			return noted.Socket, nil
		}
		if at := socket.Find(os.Getenv, id); at != "" { // it may have got another folder
			return at, nil
		}
		if noted.PID == 0 || errors.Is(syscall.Kill(noted.PID, 0), syscall.ESRCH) {
			return "", nil
		}
		if owned, _ := sessions.Owned(store, id); !owned { // what can't be read has no host either
			return "", nil
		}
		if time.Now().After(late) {
			return "", fmt.Errorf("process %d runs the session and does not answer at %s; to end it: kill %d", noted.PID, noted.Socket, noted.PID)
		}
	}
}

func describe(ctx context.Context, path string) (live.Description, error) {
	s, err := dialToLook(path)
	if err != nil {
		return live.Description{}, err
	}
	defer s.Close()
	if _, err := s.Hello(ctx); err != nil {
		return live.Description{}, err
	}
	return live.Ask[live.Description](ctx, s, live.Describe{})
}

func dialToLook(path string) (*socket.Client, error) {
	return socket.Dial(path, socket.Screen{Version: version.Number, Looks: true})
}

// Meant returns the running session that somebody means: by the beginning of its id, or last,
// which is the one begun last; "" means the only one.
func Meant(ctx context.Context, id string) (live.Description, error) {
	all, silent := Running(ctx)
	return choose(id, all, silent)
}

func choose(id string, all []live.Description, silent []Silent) (live.Description, error) {
	for _, s := range silent {
		if id != "" && strings.HasPrefix(s.ID, id) {
			return live.Description{}, exit.Error{Code: exit.Failed, Text: fmt.Sprintf("session %s: %v", s.ID, s.Err)}
		}
	}
	switch named := id != "" && id != "last"; {
	case len(all) == 0 && named:
		return live.Description{}, fmt.Errorf("session %q is not running, and no other is; buddy resume %s continues a saved session", id, id)
	case len(all) == 0:
		return live.Description{}, errors.New("no session is running; buddy resume continues a saved session")
	}
	fits := slices.DeleteFunc(slices.Clone(all), func(d live.Description) bool {
		return id != "last" && !strings.HasPrefix(d.ID, id)
	})
	switch {
	case id == "last" || len(fits) == 1:
		return fits[0], nil
	case len(fits) == 0:
		return live.Description{}, fmt.Errorf("session %q is not running (running: %s); buddy resume %s continues a saved session", id, ids(all), id)
	}
	if id == "" {
		return live.Description{}, fmt.Errorf("%d sessions are running: %s; name one (the start of its id is enough), or use last for the newest", len(fits), ids(fits))
	}
	return live.Description{}, fmt.Errorf("%q matches %d running sessions: %s; name one", id, len(fits), ids(fits))
}

// maxNamed limits the sessions that a message names.
const maxNamed = 5

func ids(all []live.Description) string {
	var names []string
	for _, d := range all[:min(len(all), maxNamed)] {
		names = append(names, d.ID)
	}
	if n := len(all) - len(names); n > 0 {
		names = append(names, fmt.Sprintf("%d more in buddy ls", n))
	}
	return strings.Join(names, ", ")
}

// Look connects a program that shows nothing to a person to a session that runs. The caller closes
// the connection.
func Look(id string) (*socket.Client, error) {
	path := socketOf(id)
	if path == "" {
		return nil, fmt.Errorf("session %s is no longer running", id)
	}
	return socket.Dial(path, socket.Screen{Version: version.Number, Looks: true, Env: terminal()})
}

// socketOf returns where the host of a session listens, or "".
func socketOf(id string) string {
	if path := socket.Find(os.Getenv, id); path != "" {
		return path
	}
	all, _ := sockets()
	return all[id]
}

// endTime limits how long AwaitEnd waits.
const endTime = 5 * time.Second

// AwaitEnd waits until the host of a session that was stopped no longer listens, so that a list of sessions right after
// that does not include it.
func AwaitEnd(id string) {
	for end := time.Now().Add(endTime); socketOf(id) != "" && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
}

// Short is the beginning of an id that people type; [Meant] says so where it could be one of
// several.
func Short(id string) string {
	first, _, _ := strings.Cut(id, "-")
	return first
}
