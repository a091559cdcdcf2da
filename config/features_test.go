package config_test

import _ "buddy/features" // adds the sections of features, which docs/config.md has, too
