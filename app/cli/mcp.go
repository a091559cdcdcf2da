package cli

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"buddy/app/compose"
	"buddy/app/exit"
	"buddy/app/project"
	"buddy/config"
	"buddy/views/markup"
)

type mcpCLI struct{ *cli }

func (s *mcpCLI) command() *cobra.Command {
	return group(&cobra.Command{
		Use:   "mcp",
		Short: "manage MCP servers, whose tools the model may call",
		Long: "Servers of the Model Context Protocol: programs or URLs whose tools the model may call, each\n" +
			"with your approval. Your servers are in the settings ([mcp.NAME]). A project's servers are in its\n" +
			".mcp.json and start once you trust them. In a session, /mcp lists all servers.",
		Example: "  buddy mcp list\n  buddy mcp add files -- npx -y @modelcontextprotocol/server-filesystem ~/docs",
	}, s.list(), s.add(), s.remove(), s.check(), s.importFile(), s.login(), s.logout())
}

func (s *mcpCLI) list() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "list the servers that a session in this folder would have, without starting them",
		Example: "  buddy mcp list",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			all, err := compose.ServersHere(s.options)
			if err != nil {
				return exit.Failure(err)
			}
			for _, one := range all {
				text := one.Name + "  " + string(one.Transport) + "  " + strings.Join(one.Process.Command, " ") + one.Endpoint.URL
				if one.Project {
					text += "  (project)"
				}
				switch {
				case one.Problem != "":
					text += "  not started: " + one.Problem
				case one.Off:
					text += "  off"
				}
				if err := s.print("%s", markup.Plain(text)); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func (s *mcpCLI) add() *cobra.Command {
	var server config.MCPServer
	c := &cobra.Command{
		Use:     "add NAME (--url URL | -- COMMAND [ARGUMENT]...)",
		Short:   "add a server to your settings",
		Example: "  buddy mcp add files -- npx -y @modelcontextprotocol/server-filesystem ~/docs\n  buddy mcp add docs --url https://docs.example/mcp --bearer-env DOCS_TOKEN",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			usual := config.NewMCPServer(args[0])
			server.Name, server.Enabled, server.Era, server.MCPTimes = usual.Name, true, usual.Era, usual.MCPTimes
			server.Command = args[1:]
			if err := errors.Join(config.CheckMCPName(server.Name), server.Check()); err != nil {
				return exit.Usage("mcp add: %v", err)
			}
			file, err := s.settingsFile()
			if err == nil {
				err = config.AddMCPServer(file, server)
			}
			if err != nil {
				return exit.Failure(err)
			}
			return s.print("added [mcp.%s] to %s; to test it: buddy mcp check %s", server.Name, file, server.Name)
		},
	}
	f := c.Flags()
	f.StringVar(&server.URL, "url", "", "the server's URL")
	f.StringVar(&server.Type, "type", "", "stdio, http or sse")
	f.StringArrayVar(&server.Env, "env", nil, "set the environment variable `NAME=VALUE` for the program (repeatable)")
	f.StringArrayVar(&server.PassEnv, "pass-env", nil, "pass your environment variable `NAME` to the program (repeatable)")
	f.StringArrayVar(&server.Headers, "header", nil, "add the header `\"NAME: VALUE\"` to each request (repeatable)")
	f.StringVar(&server.Bearer, "bearer-env", "", "the environment `variable` that holds the bearer token")
	f.StringVar(&server.Cwd, "cwd", "", "the program's `folder`")
	return c
}

// settingsFile returns the path of the user's settings file, or an error if this process may not change the file.
func (s *mcpCLI) settingsFile() (string, error) {
	c, _, _, err := compose.LoadConfig(s.options)
	if err == nil {
		err = compose.ByPerson(c.File)
	}
	return c.File, err
}

func (s *mcpCLI) remove() *cobra.Command {
	return &cobra.Command{
		Use:     "remove NAME",
		Short:   "remove a server from your settings",
		Example: "  buddy mcp remove files",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			file, err := s.settingsFile()
			if err != nil {
				return exit.Failure(err)
			}
			found, err := config.RemoveMCPServer(file, args[0])
			if err != nil {
				return exit.Failure(err)
			}
			if !found {
				return exit.Failure(fmt.Errorf("%s has no server %q", file, args[0]))
			}
			return s.print("removed [mcp.%s] from %s", args[0], file)
		},
	}
}

func (s *mcpCLI) check() *cobra.Command {
	return &cobra.Command{
		Use:     "check [NAME]",
		Short:   "start servers and list their tools",
		Example: "  buddy mcp check\n  buddy mcp check files",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			all, err := compose.TryServers(c.Context(), s.options, strings.Join(args, ""))
			if err != nil {
				return exit.Failure(err)
			}
			bad := 0
			for _, st := range all {
				if !st.Usable() {
					bad++
				}
				text := st.Line()
				if len(args) > 0 {
					text = strings.Join(st.Details(), "\n")
				}
				if err := s.print("%s", text); err != nil {
					return err
				}
			}
			if bad > 0 {
				return exit.Failure(fmt.Errorf("%d of %d servers can't be used", bad, len(all)))
			}
			return nil
		},
	}
}

func (s *mcpCLI) importFile() *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:     "import FILE",
		Short:   "show the servers in another program's file and copy them to your settings",
		Example: "  buddy mcp import ~/.claude.json",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			found, err := project.ServersIn(args[0])
			if err != nil {
				return exit.Failure(err)
			}
			var take []config.MCPServer
			for _, one := range found {
				text := one.Server.Name + "  " + strings.Join(one.Server.Command, " ") + one.Server.URL
				if one.Problem != "" {
					text += "  left out: " + one.Problem
				} else {
					take = append(take, one.Server)
				}
				if err := s.print("%s", markup.Plain(text)); err != nil {
					return err
				}
			}
			if len(take) == 0 || !yes && !agrees(fmt.Sprintf("Copy %d to your settings? [y/N] ", len(take))) {
				return s.print("nothing copied")
			}
			file, err := s.settingsFile()
			for _, one := range take {
				if err == nil {
					err = config.AddMCPServer(file, one)
				}
			}
			if err != nil {
				return exit.Failure(err)
			}
			return s.print("copied %d to %s", len(take), file)
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "don't ask")
	return c
}

func (s *mcpCLI) login() *cobra.Command {
	var scopes []string
	c := &cobra.Command{
		Use:     "login NAME",
		Short:   "log in to a server with a browser",
		Example: "  buddy mcp login docs\n  buddy mcp login docs --scope write",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			err := compose.LoginAtServer(c.Context(), s.options, args[0], scopes, func(line string) { _ = s.print("%s", markup.Plain(line)) })
			if err != nil {
				return exit.Failure(err)
			}
			return s.print("logged in to %s; in a session, run: /mcp restart %s", args[0], args[0])
		},
	}
	c.Flags().StringArrayVar(&scopes, "scope", nil, "request a scope in addition to the server's own")
	return c
}

func (s *mcpCLI) logout() *cobra.Command {
	return &cobra.Command{
		Use:     "logout NAME",
		Short:   "log out of a server",
		Example: "  buddy mcp logout docs",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			found, err := compose.LogoutAtServer(c.Context(), s.options, args[0])
			switch {
			case err != nil:
				return exit.Failure(err)
			case !found:
				return s.print("you were not logged in to %s", args[0])
			}
			return s.print("logged out of %s", args[0])
		},
	}
}

// agrees asks a question on the terminal. Without a terminal the answer is no.
func agrees(question string) bool {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer tty.Close() //nolint:errcheck // nothing is lost
	if _, err := fmt.Fprint(tty, question); err != nil {
		return false
	}
	line, err := bufio.NewReader(tty).ReadString('\n')
	return err == nil && strings.EqualFold(strings.TrimSpace(line), "y")
}
