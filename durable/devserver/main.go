// Command devserver runs a Temporal server on this machine, for trying durable runs (see package durable). It is a
// single process, and keeps its data in one SQLite file.
//
//	devserver -file runs.db -port 7233
package main

import (
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"time"

	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/log"
	_ "go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite" // the plugin that stores runs
	"go.temporal.io/server/schema/sqlite"
	"go.temporal.io/server/temporal"
)

const (
	here      = "127.0.0.1"
	plugin    = "sqlite"
	only      = "active" // the name of the only cluster
	namespace = "default"
)

func main() {
	file := flag.String("file", "buddy-runs.db", "where runs are stored")
	port := flag.Int("port", 7233, "where clients connect; the next eight ports are used, too")
	cert := flag.String("cert", "", "a certificate in PEM; with -key, clients must use TLS")
	key := flag.String("key", "", "the certificate's key")
	flag.Parse()
	if err := run(*file, *port, *cert, *key); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "devserver:", err)
		os.Exit(1)
	}
}

func run(file string, port int, cert, key string) error {
	settings := settingsOf(file, port)
	if cert != "" {
		if _, err := tls.LoadX509KeyPair(cert, key); err != nil {
			return err
		}
		settings.Global.TLS.Frontend.Server = config.ServerTLS{CertFile: cert, KeyFile: key}
		settings.Global.TLS.Frontend.Client = config.ClientTLS{ServerName: here, RootCAFiles: []string{cert}}
	}
	store := settings.Persistence.DataStores[plugin].SQL
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		if err := sqlite.SetupSchema(store); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	ns, err := sqlite.NewNamespaceConfig(only, namespace, false, nil)
	if err == nil {
		err = sqlite.CreateNamespaces(store, ns)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	server, err := temporal.NewServer(
		temporal.WithConfig(settings),
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithLogger(log.NewZapLogger(log.BuildZapLogger(log.Config{Level: "error"}))),
		temporal.WithAuthorizer(authorization.NewNoopAuthorizer()),
		temporal.InterruptOn(temporal.InterruptCh()),
	)
	if err != nil {
		return err
	}
	fmt.Printf("Temporal at %s:%d, namespace %s, stored in %s\n", here, port, namespace, file)
	return server.Start() // until a signal
}

// settingsOf returns the settings of a server with fixed ports. If a restarted server used other ports, its runs would
// wait for most of a minute.
func settingsOf(file string, port int) *config.Config {
	service := func(i int) config.Service {
		return config.Service{RPC: config.RPC{GRPCPort: port + 2*i, MembershipPort: port + 2*i + 1, BindOnLocalHost: true}}
	}
	address := fmt.Sprintf("%s:%d", here, port)
	return &config.Config{
		Global: config.Global{Membership: config.Membership{MaxJoinDuration: 30 * time.Second, BroadcastAddress: here}},
		Persistence: config.Persistence{
			DefaultStore: plugin, VisibilityStore: plugin, NumHistoryShards: 1,
			DataStores: map[string]config.DataStore{plugin: {SQL: &config.SQL{
				PluginName: plugin, DatabaseName: file, ConnectAttributes: map[string]string{"mode": "rwc"},
			}}},
		},
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10, MasterClusterName: only, CurrentClusterName: only,
			ClusterInformation: map[string]cluster.ClusterInformation{only: {Enabled: true, InitialFailoverVersion: 1, RPCAddress: address}},
		},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		Services:            map[string]config.Service{"frontend": service(0), "history": service(1), "matching": service(2), "worker": service(3)},
		Archival:            config.Archival{History: config.HistoryArchival{State: "disabled"}, Visibility: config.VisibilityArchival{State: "disabled"}},
		NamespaceDefaults: config.NamespaceDefaults{Archival: config.ArchivalNamespaceDefaults{
			History: config.HistoryArchivalNamespaceDefaults{State: "disabled"}, Visibility: config.VisibilityArchivalNamespaceDefaults{State: "disabled"},
		}},
		PublicClient: config.PublicClient{HostPort: address},
	}
}
