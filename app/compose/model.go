package compose

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/url"
	"time"

	"buddy/agent/model"
	"buddy/agent/model/anthropic"
	"buddy/agent/model/blocks"
	"buddy/agent/model/completions"
	"buddy/agent/model/endpoint"
	"buddy/agent/model/fallback"
	"buddy/agent/model/limits"
	"buddy/agent/model/local"
	"buddy/agent/model/renew"
	"buddy/agent/model/responses"
	"buddy/agent/model/retry"
	"buddy/agent/model/wire"
	"buddy/agent/model/written"
	"buddy/app/version"
	"buddy/config"
	"buddy/config/login"
)

// dependable returns the model of a profile, backed by the fallback model if there is one.
func (p *Program) dependable(profile config.Profile) (model.Model, error) {
	profile, small := measured(located(profile))
	recovery := p.Config.Agent.OnStall
	patient(&profile, recovery)
	first, err := withPrice(profile)
	if err != nil {
		return nil, err
	}
	other, ok := p.Config.Lookup(p.Config.Agent.FallbackModel)
	if !ok || other.Name == profile.Name {
		return reading(retry.New(first, recovery), profile, small), nil
	}
	patient(&other, recovery)
	second, err := Connect(other, recovery)
	if err != nil {
		return nil, fmt.Errorf("agent.fallback_model: %w", err)
	}
	return fallback.New(reading(retry.BeforeFallback(first, second, recovery), profile, small), second), nil
}

// patient removes the limits on silence after an answer has started, if the setting is to wait for stalled answers.
func patient(profile *config.Profile, recovery model.Recovery) {
	if recovery == model.RecoverWait {
		profile.StallTimeout, profile.KeepAliveTimeout = forever, forever
	}
}

// forever is a number of seconds that is longer than any wait.
const forever = 1 << 31

// fewParameters is the size below which models call tools badly, even if their server supports tools. Smaller models
// write tool calls as text blocks.
const fewParameters = 4e9

// measured adds the context window that a local server reports, unless the profile sets a window. blocks explains why
// the model must write tool calls as text blocks, "" if nothing that the server reports requires it.
func measured(profile config.Profile) (measured config.Profile, blocks string) {
	base := onThisMachine(profile.BaseURL)
	if base == "" {
		return profile, ""
	}
	server := local.Describe(context.Background(), base, profile.Model)
	profile.ContextLimit = cmp.Or(profile.ContextLimit, server.Window)
	switch n := server.Parameters; {
	case server.NoTools:
		return profile, "its server reports no support for tools"
	case n >= 1e9 && n < fewParameters:
		return profile, fmt.Sprintf("it has %.1f billion parameters", n/1e9)
	case n > 0 && n < fewParameters:
		return profile, fmt.Sprintf("it has %.0f million parameters", n/1e6)
	}
	return profile, ""
}

// inBlocks wraps a model so that it writes tool calls as text blocks: always if the profile says so or why gives a
// reason, else once the server refuses tools. With native calls in the profile, it returns m.
func inBlocks(m model.Model, profile config.Profile, why string) model.Model {
	switch {
	case profile.Calls == config.Native:
		return m
	case profile.Calls == config.Blocks:
		return blocks.New(m, "its profile sets this")
	case why != "":
		return blocks.New(m, why)
	}
	return blocks.Auto(m)
}

// onThisMachine returns the URL for package local of a server on this machine, "" if base is on another machine.
func onThisMachine(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	return onLoopback(u)
}

// onLoopback returns u as package local needs it, with a loopback address, or "" if u is on another machine.
func onLoopback(u *url.URL) string {
	at := *u
	if at.Hostname() == "localhost" { // package local accepts addresses only
		at.Host = net.JoinHostPort("127.0.0.1", cmp.Or(at.Port(), "80"))
	}
	if ip := net.ParseIP(at.Hostname()); ip == nil || !ip.IsLoopback() {
		return ""
	}
	at.RawQuery = ""
	return at.String()
}

// Connect returns the model of a profile. It does no I/O except reading the key.
func Connect(profile config.Profile, recovery model.Recovery) (model.Model, error) {
	m, err := withPrice(profile)
	if err != nil {
		return nil, err
	}
	return reading(retry.New(m, recovery), profile, ""), nil
}

// reading wraps a model so that tool calls written as text are recognized and, on a local server, the context window is
// the one that the server has loaded. It also applies inBlocks.
func reading(m model.Model, profile config.Profile, why string) model.Model {
	if base := onThisMachine(profile.BaseURL); base != "" {
		m = local.Watch(m, base)
	}
	return inBlocks(written.New(m), profile, why)
}

// withPrice returns the model of a profile with its price.
func withPrice(profile config.Profile) (model.Model, error) {
	m, err := Bare(profile)
	if err != nil {
		return nil, err
	}
	return priced{m, PriceOf(profile)}, nil
}

// Bare returns the model of a profile without what [Connect] adds to it, such as retries and prices.
func Bare(profile config.Profile) (model.Model, error) {
	if profile.UsesLogin() {
		return renewed(profile)
	}
	key, source, err := profile.Key()
	if err != nil {
		return nil, err // nothing is sent without the configured key
	}
	if key == "" && profile.Login.Auth == config.ByLogin && profile.Problem() != "" {
		return renewed(profile)
	}
	return adapter(profile, key, source)
}

// adapter returns the client for a profile's protocol.
func adapter(profile config.Profile, key, source string) (model.Model, error) {
	authorities, err := profile.Authorities()
	if err != nil {
		return nil, err
	}
	output, _ := limits.Output(profile.Model)
	seconds := func(n int) time.Duration { return time.Duration(n) * time.Second }
	c := wire.Config{
		Profile: profile.Name, Server: profile.Server, BaseURL: profile.BaseURL,
		Model: profile.Model, Window: contextWindow(profile), MaxTokens: profile.MaxTokens, MaxOutput: output, Compact: profile.ServerCompaction, Effort: wire.Effort(profile.Effort), Free: limits.FamilyOf(profile.Model).Free,
		Access: endpoint.Access{
			Key: key, KeySource: profile.KeyPlace(source), KeyHeader: profile.HeaderFor(source), Headers: profile.Headers, UserAgent: "buddy/" + version.Number,
			Waits:       endpoint.Waits{FirstByte: seconds(profile.FirstByteTimeout), Stall: seconds(profile.StallTimeout), KeepAlive: seconds(profile.KeepAliveTimeout)},
			Authorities: authorities,
		},
	}
	of := completions.New
	switch profile.API {
	case config.Anthropic:
		of = anthropic.New
	case config.Responses:
		of = responses.New
	}
	m, err := of(c)
	if err != nil {
		return nil, err
	}
	m.Sample(wire.Sampling{Temperature: profile.Temperature, TopP: profile.TopP})
	return m, nil
}

// renewed returns a model that uses the token of a login.
func renewed(profile config.Profile) (model.Model, error) {
	client := login.New(config.Auth())
	return renew.New(renew.Config{
		Key: func(ctx context.Context, refused string) (string, error) {
			if profile.Login.Issuer != "" {
				return client.Token(ctx, profile.Login, refused)
			}
			key, _, err := profile.Key()
			if key == "" && err == nil {
				err = login.ErrNeeded
			}
			return key, err
		},
		Build: func(key string) (model.Model, error) { return adapter(profile, key, "the login") },
		Hint:  "log in: /login " + profile.Name + ", or buddy login " + profile.Name,
	})
}

// small returns the model for titles, nil if there is none or titles are not shown.
func (p *Program) small(f *Options) model.Model {
	profile, ok := p.Config.Lookup(p.Config.Agent.SmallModel)
	if !ok || f.Headless {
		return nil
	}
	m, err := Connect(located(profile), model.RecoverRetry)
	if err != nil {
		p.note("the small_model can't be used: " + err.Error())
		return nil
	}
	return m
}

type priced struct {
	model.Model
	price model.Price
}

func (m priced) Info() model.Info {
	i := m.Model.Info()
	i.Price = m.price
	return i
}

// PriceOf returns the token prices of a profile: its own, else the documented prices of its model and endpoint.
func PriceOf(profile config.Profile) model.Price {
	p := profile.Prices
	if !p.Known() {
		return limits.Price(profile.BaseURL, profile.Model)
	}
	p.Cached, p.CacheWrite = cmp.Or(p.Cached, p.Input), cmp.Or(p.CacheWrite, p.Input)
	return p
}
