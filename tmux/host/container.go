package host

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"

	"buddy/texts/searchpath"
)

// inspectLimit limits how long a request to a container engine may take.
const inspectLimit = 10 * time.Second

// container is a container of docker or podman.
type container struct {
	id string

	mu     sync.Mutex // guards the fields below
	engine string     // "" until it was found
}

// Container returns a running container, by name or id. The first use looks for the container in docker, then in
// podman.
func Container(id string) (*Host, error) {
	if id == "" || strings.HasPrefix(id, "-") || strings.ContainsAny(id, " \t\n/'\"\\$`;&|<>()") {
		return nil, fmt.Errorf("container %q: must be a name or an id", id)
	}
	return newHost(&container{id: id}), nil
}

func (c *container) name() string { return c.id + " (container)" }
func (*container) close() error   { return nil }

func (c *container) connect(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.engine != "" {
		return nil
	}
	engine, why := c.find(ctx)
	if why != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return why
	}
	c.engine = engine
	return nil
}

// find returns the engine in which the container runs.
func (c *container) find(ctx context.Context) (string, *DownError) {
	e := &DownError{Host: c.name()}
	var asked, failed []string
	for _, engine := range []string{"docker", "podman"} {
		if _, err := searchpath.Look(engine); err != nil {
			continue
		}
		state, message, err := output(ctx, inspectLimit, engine, "container", "inspect", "-f", "{{.State.Status}}", c.id)
		state = strings.TrimSpace(state)
		switch {
		case err == nil && state == "running":
			return engine, nil
		case err == nil:
			e.Why = fmt.Sprintf("the container is %s, not running", clean(state))
			e.Next = fmt.Sprintf("start it with %s start %s", engine, c.id)
			e.Gone = state == "exited" || state == "dead" || state == "stopped"
			return "", e
		case missing(message):
			asked = append(asked, engine)
		case exitCode(err) < 0:
			failed = append(failed, fmt.Sprintf("%s: %v", engine, err))
		default:
			failed = append(failed, engine+": "+lastLine(message))
		}
	}
	switch {
	case len(asked) > 0:
		e.Why = "no such container in " + strings.Join(asked, " or ")
		e.Next = fmt.Sprintf("see %s ps --all", asked[len(asked)-1])
		e.Gone = len(failed) == 0
		if len(failed) > 0 {
			e.Why += " (" + strings.Join(failed, "; ") + ")"
		}
	case len(failed) > 0:
		e.Why = strings.Join(failed, "; ")
		e.Next = "check that the container engine is running"
	default:
		e.Why, e.Next = "neither docker nor podman is installed", "install one of them"
	}
	return "", e
}

// missing reports whether an engine's message means that it has no such container.
func missing(message string) bool {
	message = strings.ToLower(message)
	return strings.Contains(message, "no such container") || strings.Contains(message, "no such object") || strings.Contains(message, "no container with name")
}

func (c *container) argv(flags string, argv []string) []string {
	c.mu.Lock()
	engine := c.engine
	c.mu.Unlock()
	if engine == "" {
		engine = "docker"
	}
	return append([]string{engine, "exec", flags, c.id}, argv...)
}

func (c *container) command(ctx context.Context, argv []string) *exec.Cmd {
	all := c.argv("-i", argv)
	cmd := searchpath.Command(ctx, all[0], all[1:]...)
	cmd.WaitDelay = time.Second
	return cmd
}

func (c *container) attach(argv []string) string { return Line(c.argv("-it", argv)...) }

// explain asks the engine why a command failed, because exit codes and messages of engines vary, and some come from the
// command in the container.
func (c *container) explain(ctx context.Context, message string, err error) *DownError {
	c.mu.Lock()
	c.engine = "" // the container may be started again by another engine
	c.mu.Unlock()
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), inspectLimit)
	defer stop()
	if _, down := c.find(ctx); down != nil {
		return down
	}
	e := &DownError{Host: c.name(), Why: lastLine(message)}
	code := exitCode(err)
	switch {
	case code == 126 || code == 127 || strings.Contains(message, "executable file not found"):
		e.Why, e.Next = "there is no sh in the container", "use an image that has a shell"
	case e.Why == "":
		e.Why, e.Next = "the process in the container was ended", "the next command starts a new one"
	}
	return e
}
