package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"buddy/texts"
	"buddy/texts/ansi"
)

const (
	maxSubscriptions = 20 // of a session
	maxReported      = 5  // changed resources that one request names
	subscribeTime    = 30 * time.Second
)

// subscriptions are the resources whose changes the user wants to know. The zero value has none.
type subscriptions struct {
	mu  sync.Mutex
	all map[resourceName]subscription
}

// resourceName names a resource of a server.
type resourceName struct{ server, uri string }

// String returns the name in the form for prompts, without escape sequences.
func (n resourceName) String() string { return oneLine(ansi.Strip(n.server + ":" + n.uri)) }

// subscription counts the changes of a resource.
type subscription struct {
	changes int  // since the user subscribed
	unsaid  bool // the model does not know the last change
}

// state describes the subscription in a few words.
func (s subscription) state() string {
	if s.changes == 0 {
		return "subscribed"
	}
	return "changed " + texts.Plural(s.changes, "time")
}

// add adds a resource. The error is why there is no room.
func (s *subscriptions) add(n resourceName) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.all[n]; ok {
		return nil
	}
	if len(s.all) == maxSubscriptions {
		return fmt.Errorf("a session has at most %d subscriptions; end another one first", maxSubscriptions)
	}
	if s.all == nil {
		s.all = make(map[resourceName]subscription)
	}
	s.all[n] = subscription{}
	return nil
}

func (s *subscriptions) remove(n resourceName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, n)
}

// drop removes the resources of a server that the session no longer has.
func (s *subscriptions) drop(server string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.all, func(n resourceName, _ subscription) bool { return n.server == server })
}

// of returns the subscriptions to resources of a server.
func (s *subscriptions) of(server string) map[string]subscription {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make(map[string]subscription)
	for n, one := range s.all {
		if n.server == server {
			all[n.uri] = one
		}
	}
	return all
}

// change records a change of a resource. Servers may report resources that nobody subscribed to.
func (s *subscriptions) change(n resourceName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one, ok := s.all[n]; ok {
		s.all[n] = subscription{changes: one.changes + 1, unsaid: true}
	}
}

// takeChanged returns the names of changed resources for the model, each change once. The names beyond a limit are left
// for the next request.
func (s *subscriptions) takeChanged() (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sorted := slices.SortedFunc(maps.Keys(s.all), func(a, b resourceName) int {
		return cmp.Or(cmp.Compare(a.server, b.server), cmp.Compare(a.uri, b.uri))
	})
	for _, n := range sorted {
		if one := s.all[n]; one.unsaid && len(names) < maxReported {
			s.all[n] = subscription{changes: one.changes}
			names = append(names, n.String())
		}
	}
	return names
}

// changedLine describes changed resources for the model in one line, "" if there are none.
func changedLine(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "Resources that the user subscribed to have changed (mcp_read reads them): " + strings.Join(names, ", ")
}

// Subscribe asks a server to report changes of a resource, until the session ends or Unsubscribe. It waits for a server
// that starts.
func (s *Servers) Subscribe(ctx context.Context, server, uri string) error {
	ctx, cancel := context.WithTimeout(ctx, subscribeTime)
	defer cancel()
	one, err := s.find(server)
	if err != nil {
		return err
	}
	c, err := one.await(ctx)
	switch {
	case err != nil:
		return err
	case !c.subscribes():
		return fmt.Errorf("the MCP server %s does not support subscriptions", server)
	case !one.hasResource(uri):
		return fmt.Errorf("the MCP server %s has no resource %q; /mcp resources %s lists them", server, uri, server)
	}
	n := resourceName{server, uri}
	if err := s.subs.add(n); err != nil {
		return err
	}
	if err := c.session.Subscribe(ctx, &sdk.SubscribeParams{URI: uri}); err != nil {
		s.subs.remove(n)
		return fmt.Errorf("the MCP server %s did not accept the subscription: %w", server, c.explain(err))
	}
	return nil
}

// Unsubscribe ends a subscription, also if its server does not run.
func (s *Servers) Unsubscribe(ctx context.Context, server, uri string) error {
	one, err := s.find(server)
	if err != nil {
		return err
	}
	n := resourceName{server, uri}
	if _, ok := s.subs.of(server)[uri]; !ok {
		return fmt.Errorf("there is no subscription to %s", n)
	}
	s.subs.remove(n)
	one.mu.Lock()
	c := one.conn
	one.mu.Unlock()
	if c == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, subscribeTime)
	defer cancel()
	if err := c.session.Unsubscribe(ctx, &sdk.UnsubscribeParams{URI: uri}); err != nil {
		return fmt.Errorf("the subscription has ended, but the MCP server %s may still send reports, which are ignored: %w", server, c.explain(err))
	}
	return nil
}

// subscribes reports whether the server supports subscriptions.
func (c *connection) subscribes() bool {
	res := c.session.InitializeResult()
	return res != nil && res.Capabilities != nil && res.Capabilities.Resources != nil && res.Capabilities.Resources.Subscribe
}

// resubscribe repeats the subscriptions of earlier connections. A subscription that fails ends; the notes say why.
func (c *connection) resubscribe(ctx context.Context) (notes []string) {
	for uri := range c.server.all.subs.of(c.server.def.Name) {
		err := errors.New("it no longer supports subscriptions")
		if c.subscribes() {
			err = c.session.Subscribe(ctx, &sdk.SubscribeParams{URI: uri})
		}
		if err != nil {
			n := resourceName{c.server.def.Name, uri}
			c.server.all.subs.remove(n)
			notes = append(notes, fmt.Sprintf("the subscription to %s has ended: %s", n, oneLine(err.Error())))
		}
	}
	return notes
}
