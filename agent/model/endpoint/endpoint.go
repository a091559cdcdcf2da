// Package endpoint is one provider's address: it checks it, sends requests to it with
// every wait bounded, and turns whatever goes wrong into one [model.Error] that says
// where, what and what to do, and never holds the key.
//
// An adapter gives a [Call] to its SDK as the HTTP client and reads normalised events
// (see [sse]):
//
//	e, err := endpoint.New(endpoint.Config{Profile: "work", API: "completions", BaseURL: url, Access: endpoint.Access{Key: key}})
//	call := e.Call(ctx)
//	defer call.Close()
//	_, err = client(call).Create(call.Context(), …)
//	if err != nil { return call.Explain(err) }
//	event, err := call.Next()
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

// Config says where a model is. BaseURL is required.
type Config struct {
	Profile string // the name under [models]; for hints
	API     string // the value of the api key in the configuration; for hints
	Model   string // the name that is sent; for hints
	BaseURL string // http or https; a trailing slash does not matter; a query goes with every request
	Access
	Client *http.Client // nil: one of our own; its CheckRedirect and Timeout are not used
}

// Access says how requests are signed and sent.
type Access struct {
	Key       string   // empty: no Authorization is sent, as local servers need none
	KeySource string   // where Key is and what changes it, see [buddy/config.Profile.KeyPlace]; for hints
	KeyHeader string   // what holds Key instead of the protocol's header; "Authorization" has Bearer before it
	Headers   []string // "Name: value", of every request
	UserAgent string
	Waits     Waits
	// Authorities vouch for the server; nil: those of the system.
	Authorities *x509.CertPool
}

// Endpoint is a checked address. It is safe for concurrent use.
type Endpoint struct {
	config Config
	client *http.Client
	base   string // for requests
	query  string // of every request
	shown  string // without credentials
	host   string // host:port
	near   bool   // a machine of the person's own
	waits  Waits  // none of them 0
}

// New checks c without any I/O. Its errors name the key of the configuration.
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
		return nil, fmt.Errorf("the key holds a character that no key has, such as a line break; key: %s", c.KeySource)
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

// client returns a client that follows no redirect: it would send the conversation to
// a server that nobody named.
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
			DisableCompression:    true, // a compressor holds small events back
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

// BaseURL is for requests and may hold credentials.
func (e *Endpoint) BaseURL() string { return e.base }

// Shown is the base URL for people, without credentials.
func (e *Endpoint) Shown() string { return e.shown }

// dress gives a request what the configuration wants of every one.
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
