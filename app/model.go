package app

import (
	"cmp"
	"fmt"

	"buddy/agent/model"
	"buddy/agent/model/fallback"
	"buddy/agent/model/limits"
	"buddy/config"
)

// dependable returns the model of a profile with the fallback behind it, if there is one.
func (p *program) dependable(profile config.Profile) (model.Model, error) {
	recovery := model.Recovery(p.config.Agent.OnStall)
	m, err := connect(profile, recovery)
	other, ok := p.config.Profile(p.config.Agent.FallbackModel)
	if err != nil || !ok || other.Name == profile.Name {
		return m, err
	}
	second, err := connect(other, recovery)
	if err != nil {
		return nil, fmt.Errorf("agent.fallback_model: %w", err)
	}
	return fallback.New(m, second), nil
}

// small returns the model for titles, nil when there is none or nobody would see a title.
func (p *program) small(f *flags) model.Model {
	profile, ok := p.config.Profile(p.config.Agent.SmallModel)
	if !ok || f.exec {
		return nil
	}
	m, err := connect(profile, model.RecoverRetry)
	if err != nil {
		p.note("the small_model can't be used: " + err.Error())
		return nil
	}
	return m
}

// priced is a model that knows its price.
type priced struct {
	model.Model
	price model.Price
}

// Info describes the model.
func (m priced) Info() model.Info {
	i := m.Model.Info()
	i.Price = m.price
	return i
}

// priceOf returns what the tokens of a profile cost: what the profile says, else what is
// documented of its model and endpoint.
func priceOf(profile config.Profile) model.Price {
	p := profile.Prices
	if p == (config.Prices{}) {
		return limits.Price(profile.BaseURL, profile.Model)
	}
	return model.Price{
		Input: model.Money(p.Input), Cached: model.Money(cmp.Or(p.Cached, p.Input)),
		CacheWrite: model.Money(cmp.Or(p.CacheWrite, p.Input)), Output: model.Money(p.Output),
	}
}

// answerLimit returns how many tokens an answer may have: what the profile says, else what
// is documented, in the room that the runtime leaves for answers, but no less than usual; 0
// leaves it to the adapter.
func answerLimit(profile config.Profile) int {
	if profile.MaxTokens > 0 {
		return profile.MaxTokens
	}
	tokens, _ := limits.Output(profile.Model)
	const usual = 8192
	return min(tokens, max(usual, contextWindow(profile)/20))
}
