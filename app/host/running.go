package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"buddy/app/client"
	"buddy/app/exit"
	"buddy/app/socket"
	"buddy/app/version"
	"buddy/sessions"
)

// lookTime limits how long a session may take to describe itself.
const lookTime = 2 * time.Second

// Silent is a session whose host does not answer, and why.
type Silent struct {
	ID  string
	Err error
}

// Running describes the running sessions of this user in all folders, latest start first. silent holds the sessions
// whose hosts do not answer.
func Running(ctx context.Context) (all []client.Description, silent []Silent) {
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
	slices.SortFunc(all, func(a, b client.Description) int {
		return cmp.Or(cmp.Compare(b.Began, a.Began), cmp.Compare(a.ID, b.ID))
	})
	slices.SortFunc(silent, func(a, b Silent) int { return cmp.Compare(a.ID, b.ID) })
	return all, silent
}

// sockets returns the sockets of this user's hosts by session id, in the folders where this environment would put them
// and where the sessions' records say. silent holds recorded hosts that run but do not answer.
func sockets() (all map[string]string, silent []Silent) {
	all = socket.Running(os.Getenv)
	noted, silent := Noted(all)
	maps.Copy(all, noted)
	return all, silent
}

// Noted returns the sockets that are recorded next to sessions, except for sessions in known. It reads the records in
// all session folders.
func Noted(known map[string]string) (all map[string]string, silent []Silent) {
	all = make(map[string]string)
	stores, _ := sessions.Folders() // sockets outside unreadable folders are still found
	for _, store := range stores {
		for id, noted := range sessions.Hosts(store) {
			if known[id] != "" || all[id] != "" {
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

// returnTime limits how long a running host may take to make its socket again.
const returnTime = 2 * time.Second

// awaitNoted returns the socket of a session's recorded host, "" if the host does not run. If the host runs and its
// socket was removed, it waits until the host has made the socket again, because no second host may be started for the
// session.
func awaitNoted(store sessions.Store, id string, noted sessions.Host) (path string, err error) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for late := time.Now().Add(returnTime); ; <-tick.C {
		if socket.Listens(id, noted.Socket) {
			return noted.Socket, nil
		}
		if at := socket.Find(os.Getenv, id); at != "" { // it may be in another folder now
			return at, nil
		}
		if noted.PID == 0 || errors.Is(syscall.Kill(noted.PID, 0), syscall.ESRCH) {
			return "", nil
		}
		if owned, _ := sessions.Owned(store, id); !owned { // an unreadable session has no host either
			return "", nil
		}
		if time.Now().After(late) {
			return "", fmt.Errorf("process %d runs the session and does not answer at %s; to end it: kill %d", noted.PID, noted.Socket, noted.PID)
		}
	}
}

func describe(ctx context.Context, path string) (client.Description, error) {
	s, err := dialToLook(path)
	if err != nil {
		return client.Description{}, err
	}
	defer s.Close()
	hello, err := s.Hello(ctx)
	if err != nil {
		return client.Description{}, err
	}
	if hello.About != nil {
		return *hello.About, nil
	}
	return client.Ask[client.Description](ctx, s, client.Describe{})
}

func dialToLook(path string) (*socket.Client, error) {
	return socket.Dial(path, socket.Screen{Version: version.Number, Looks: true})
}

// Meant returns the running session whose id starts with id. "last" means the session that was started last, and ""
// means the only running session.
func Meant(ctx context.Context, id string) (client.Description, error) {
	all, silent := Running(ctx)
	return choose(id, all, silent)
}

func choose(id string, all []client.Description, silent []Silent) (client.Description, error) {
	for _, s := range silent {
		if id != "" && strings.HasPrefix(s.ID, id) {
			return client.Description{}, exit.Error{Code: exit.Failed, Text: fmt.Sprintf("session %s: %v", s.ID, s.Err)}
		}
	}
	switch named := id != "" && id != "last"; {
	case len(all) == 0 && named:
		return client.Description{}, fmt.Errorf("session %q is not running, and no other is; buddy resume %s continues a saved session", id, id)
	case len(all) == 0:
		return client.Description{}, errors.New("no session is running; buddy resume continues a saved session")
	}
	fits := slices.DeleteFunc(slices.Clone(all), func(d client.Description) bool {
		return id != "last" && !strings.HasPrefix(d.ID, id)
	})
	switch {
	case id == "last" || len(fits) == 1:
		return fits[0], nil
	case len(fits) == 0:
		return client.Description{}, fmt.Errorf("session %q is not running (running: %s); buddy resume %s continues a saved session", id, ids(all), id)
	}
	if id == "" {
		return client.Description{}, fmt.Errorf("%d sessions are running: %s; name one (the start of its id is enough), or use last for the newest", len(fits), ids(fits))
	}
	return client.Description{}, fmt.Errorf("%q matches %d running sessions: %s; name one", id, len(fits), ids(fits))
}

// maxNamed limits the sessions named in a message.
const maxNamed = 5

func ids(all []client.Description) string {
	var names []string
	for _, d := range all[:min(len(all), maxNamed)] {
		names = append(names, d.ID)
	}
	if n := len(all) - len(names); n > 0 {
		names = append(names, fmt.Sprintf("%d more in buddy ls", n))
	}
	return strings.Join(names, ", ")
}

// Look connects a program without a user to a running session. The caller closes the connection.
func Look(id string) (*socket.Client, error) {
	path := socketOf(id)
	if path == "" {
		return nil, fmt.Errorf("session %s is no longer running", id)
	}
	return socket.Dial(path, socket.Screen{Version: version.Number, Looks: true, Env: terminal()})
}

// socketOf returns the path of a session's socket, "" if no host listens.
func socketOf(id string) string {
	if path := socket.Find(os.Getenv, id); path != "" {
		return path
	}
	all, _ := sockets()
	return all[id]
}

// endTime limits how long AwaitEnd waits.
const endTime = 5 * time.Second

// AwaitEnd waits until the host of a stopped session no longer listens, so that the next list of sessions does not
// include it.
func AwaitEnd(id string) {
	for end := time.Now().Add(endTime); socketOf(id) != "" && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
}

// Short returns the start of a random id, which is easier to type. [Meant] returns an error if it is ambiguous. An id
// that the user chose is not shortened.
func Short(id string) string {
	if first, rest, _ := strings.Cut(id, "-"); len(first) == 4 && len(rest) == 14 {
		return first
	}
	return id
}
