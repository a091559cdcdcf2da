package config

import "fmt"

// SetModel sets the default model in a person's file, see [Document].
func SetModel(path, name string) error {
	return changeFile(path, func(d *Document) error { return d.Set("agent.model", []string{name}) })
}

// SetStyle sets the output style in a settings file of the user, see [Document].
func SetStyle(path, name string) error {
	return changeFile(path, func(d *Document) error { return d.Set("agent.style", []string{name}) })
}

// AddProfile adds a profile to a settings file of the user, which must have none with that name. It writes KeyEnv, or
// an empty key if the profile is Keyless. Without either, buddy will look for the key in the usual places.
func AddProfile(path string, p Profile) error {
	fields := [][2]string{{"api_base_url", p.BaseURL}, {"model", p.Model}}
	switch {
	case p.KeyEnv != "":
		fields = append(fields, [2]string{"api_key_env", p.KeyEnv})
	case p.Keyless():
		fields = append(fields, [2]string{"api_key", ""})
	}
	return changeFile(path, func(d *Document) error {
		if _, taken := d.Check().Config.Profile(p.Name); taken {
			return fmt.Errorf("there is a profile %q already", p.Name)
		}
		for _, f := range fields {
			if err := d.Set(Path("models", p.Name, f[0]), []string{f[1]}); err != nil {
				return err
			}
		}
		return nil
	})
}

// changeFile edits a file and saves it if the result is valid. Otherwise nothing is changed.
func changeFile(path string, change func(*Document) error) error {
	d, err := OpenDocument(path)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := change(d); err != nil {
		return err
	}
	if wrong := d.Check().Mistakes(); len(wrong) > 0 {
		// Its position would refer to a text that was never saved.
		return fmt.Errorf("%w; %s was not changed", &Error{Key: wrong[0].Key, Err: wrong[0].Err}, path)
	}
	return d.Save()
}
