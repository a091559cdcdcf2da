package compose

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"buddy/agent/event"
	"buddy/features/mcp"
	"buddy/tools"
)

// TestMain is also the client that the conformance suite starts.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "conformance" {
		if err := beConformant(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestConformanceOfLogins runs the login scenarios of the protocol's conformance suite. The folder in BUDDY_CONFORMANCE
// has the suite as npm installs it, with node 22 or later.
func TestConformanceOfLogins(t *testing.T) {
	dir := os.Getenv("BUDDY_CONFORMANCE")
	if dir == "" {
		t.Skip("BUDDY_CONFORMANCE names no folder with the conformance suite")
	}
	node := filepath.Join(dir, "node_modules/.bin/node")
	suite := filepath.Join(dir, "node_modules/@modelcontextprotocol/conformance/dist/index.js")
	// Not 2025-03-26-oauth-metadata-backcompat: its issuer names itself differently from the address of its metadata,
	// which the protocol forbids now.
	for _, scenario := range strings.Fields(`metadata-default metadata-var1 metadata-var2 metadata-var3 basic-cimd scope-from-www-authenticate
		scope-from-scopes-supported scope-omitted-when-undefined scope-step-up scope-retry-limit token-endpoint-auth-basic token-endpoint-auth-post
		token-endpoint-auth-none pre-registration 2025-03-26-oauth-endpoint-fallback resource-mismatch
		offline-access-scope offline-access-not-supported`) {
		t.Run(scenario, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), node, suite, "client", "--command", os.Args[0]+" conformance", "--scenario", "auth/"+scenario)
			cmd.Dir = t.TempDir()
			cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+cmd.Dir, "XDG_STATE_HOME="+cmd.Dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// maxLogins limits how often the client logs in before it gives up.
const maxLogins = 3

// beConformant calls each tool of the server at an address once, and logs in like `buddy mcp login` when the server
// requires a login or more rights.
func beConformant(address string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	var given struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	if text := os.Getenv("MCP_CONFORMANCE_CONTEXT"); text != "" {
		if err := json.Unmarshal([]byte(text), &given); err != nil {
			return err
		}
	}
	if os.Getenv("MCP_CONFORMANCE_SCENARIO") == "auth/basic-cimd" {
		given.ID = "https://conformance-test.local/client-metadata.json"
	}
	s := mcp.Server{Name: "suite", Transport: mcp.HTTP, Endpoint: mcp.Endpoint{URL: address, Login: mcp.Login{ClientID: given.ID, Secret: given.Secret}}}
	var refused error
	for range maxLogins {
		if refused = callAll(ctx, s); refused == nil || !strings.Contains(refused.Error(), "buddy mcp login") {
			return refused
		}
		_, wanted, _ := strings.Cut(refused.Error(), "what the server now requires: ")
		wanted, _, _ = strings.Cut(wanted, ": buddy mcp login")
		s.Endpoint.Login.Scopes = append(s.Endpoint.Login.Scopes, strings.Fields(wanted)...)
		if err := loginAt(ctx, s, visit); err != nil {
			return fmt.Errorf("%w (%w)", err, refused)
		}
	}
	return refused
}

// visit acts as the browser of a user who agrees at once.
func visit(line string) {
	if strings.HasPrefix(line, "http") {
		go func() {
			if res, err := http.Get(line); err == nil { //nolint:gosec,noctx // the suite's own page
				_ = res.Body.Close()
			}
		}()
	}
}

// callAll starts the server and calls each of its tools once.
func callAll(ctx context.Context, s mcp.Server) error {
	settled := make(chan struct{}, 1)
	deferred := tools.NewDeferred()
	all := mcp.New(mcp.Options{
		Servers: []mcp.Server{s}, Deferred: deferred, State: mcpState(), Version: "test", HTTP: serverClient([]mcp.Server{s}), Login: serverLogin,
		Publish: func(e event.Event) {
			if _, ok := e.(event.MCPReady); ok {
				settled <- struct{}{}
			}
		},
	})
	defer all.Close()
	all.Start()
	select {
	case <-settled:
	case <-ctx.Done():
		return ctx.Err()
	}
	if st := all.List()[0]; st.State != mcp.Ready {
		return errors.New(cmp.Or(st.Error, string(st.State)))
	}
	for _, tool := range deferred.All() {
		name := tool.Definition().Name
		if !strings.HasPrefix(name, "mcp__") {
			continue
		}
		call := tools.Call{ID: name, Name: "use_tool", Arguments: fmt.Sprintf(`{"name":%q}`, name)}
		use := tools.NewUseTool(deferred)
		var err error
		if call.Planned, err = use.Plan(call); err != nil {
			return err
		}
		if res := use.Run(ctx, call); res.IsError {
			return errors.New(res.Content)
		}
	}
	return nil
}
