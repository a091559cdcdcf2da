// Package endpoint sends requests to a provider's API over HTTP. It limits every wait, and converts every failure to
// a [model.Error] that says what happened and what to do, without revealing the key.
//
//	e, err := endpoint.New(endpoint.Config{Profile: "work", API: "completions", BaseURL: url, Access: endpoint.Access{Key: key}})
//	call := e.Call(ctx)
//	defer call.Close()
//	_, err = client(call).Create(call.Context(), …)
//	if err != nil { return call.Explain(err) }
//	event, err := call.Next()
//
// The server's events are read with package [sse].
package endpoint

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"buddy/texts/proxies"
)

// Config holds the address of a model. BaseURL is required.
type Config struct {
	Profile string // the name under [models]; for hints
	API     string // the value of the api key in the configuration; for hints
	Model   string // the model's name as sent; for hints
	BaseURL string // http or https; a trailing slash does not matter; its query is added to every request
	Access
	Client *http.Client // nil: a default client; CheckRedirect and Timeout are overwritten
}

// Access configures how requests authenticate, their headers, and how long they wait.
type Access struct {
	Key       string   // empty: no Authorization is sent
	KeySource string   // the place of Key and how to change it, see [buddy/config.Profile.KeyPlace]; for hints
	KeyHeader string   // the header for Key instead of the protocol's; "Authorization" gets the prefix Bearer
	Headers   []string // "Name: value", added to every request
	UserAgent string
	Waits     Waits
	// Authorities are the trusted certificate authorities; nil: the system's.
	Authorities *x509.CertPool
}

// Endpoint is a checked address. It is safe for concurrent use.
type Endpoint struct {
	config Config
	client *http.Client
	base   string // for requests
	query  string // query of every request
	shown  string // without credentials
	host   string // host:port
	near   bool   // a machine nearby, see near
	waits  Waits  // with all defaults, except Stall
}

// New returns an endpoint for c. It does no I/O. Its errors name the setting that is wrong.
func New(c Config) (*Endpoint, error) {
	key := "api_base_url"
	if c.Profile != "" {
		key = "models." + c.Profile + "." + key
	}
	if strings.TrimSpace(c.BaseURL) == "" {
		return nil, fmt.Errorf("%s is empty (example: https://api.openai.com/v1)", key)
	}
	u, err := url.Parse(strings.TrimSpace(c.BaseURL))
	if err != nil {
		return nil, fmt.Errorf("%s is not a URL: %w", key, withoutURL(err))
	}
	shown, base := *u, *u
	shown.User, shown.RawQuery, base.RawQuery = nil, "", ""
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("%s = %q: the scheme must be http or https", key, shown.String())
	case u.Hostname() == "":
		return nil, fmt.Errorf("%s = %q: the host is missing", key, shown.String())
	case u.Fragment != "":
		shown.Fragment = ""
		return nil, fmt.Errorf("%s = %q: a base URL has no fragment", key, shown.String())
	}
	if strings.ContainsFunc(c.Key, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsPrint(r) }) {
		return nil, fmt.Errorf("the key contains a character that is not allowed in a key, such as a line break; key: %s", c.KeySource)
	}
	e := &Endpoint{config: c, near: near(u.Hostname()), base: strings.TrimRight(base.String(), "/"), query: u.RawQuery, shown: strings.TrimRight(shown.String(), "/"), host: hostPort(u)}
	e.waits = c.Waits.filled(e.near)
	e.client = client(c)
	return e, nil
}

// withoutURL drops the URL from an error of url.Parse: it may hold a password.
func withoutURL(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// client returns a client that follows no redirect: a redirect would send the conversation to an unknown server.
func client(conf Config) *http.Client {
	c := http.Client{}
	if conf.Client != nil {
		c = *conf.Client
	}
	if c.Transport == nil {
		c.Transport = &http.Transport{
			Proxy:                 proxies.ForRequest(proxies.FromEnvironment()),
			TLSClientConfig:       &tls.Config{RootCAs: conf.Authorities},
			DialContext:           (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
			TLSHandshakeTimeout:   10 * time.Second,
			ForceAttemptHTTP2:     true,
			MaxIdleConnsPerHost:   4,
			IdleConnTimeout:       90 * time.Second,
			DisableCompression:    true, // a compressor delays small events
			WriteBufferSize:       64 << 10,
			ReadBufferSize:        32 << 10,
			ExpectContinueTimeout: time.Second,

			OnProxyConnectResponse: refuseProxy,
		}
	}
	c.Timeout = 0 // the answer streams; see Call
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &c
}

// BaseURL returns the URL for requests, which may hold credentials.
func (e *Endpoint) BaseURL() string { return e.base }

// Shown returns the base URL without credentials, for display.
func (e *Endpoint) Shown() string { return e.shown }

// dress adds the configured query, headers and key to a request.
func (e *Endpoint) dress(req *http.Request) {
	if e.query != "" {
		req.URL.RawQuery = e.query
	}
	if e.config.UserAgent != "" {
		req.Header.Set("User-Agent", e.config.UserAgent)
	}
	for _, h := range e.config.Headers {
		name, value, _ := strings.Cut(h, ":")
		req.Header.Set(name, strings.TrimSpace(value))
	}
	if name := e.config.KeyHeader; name != "" && e.config.Key != "" {
		req.Header.Del("Authorization")
		req.Header.Del("X-Api-Key")
		key := e.config.Key
		if strings.EqualFold(name, "Authorization") {
			key = "Bearer " + key
		}
		req.Header.Set(name, key)
	}
}
