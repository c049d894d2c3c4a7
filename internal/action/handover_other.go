//go:build !unix

package action

import (
	"errors"
	"os"
)

// replace takes the secrets out of the environment that children and libraries
// see; the system offers no way to take them out of the process's beginning.
func replace(_, _ []string, secrets map[string]string) (Secrets, error) {
	for name := range secrets {
		if err := os.Unsetenv(name); err != nil {
			return Secrets{}, err
		}
	}
	return newSecrets(onlyNeeded(secrets)), nil
}

func receive(string) ([]byte, error) {
	return nil, errors.New(handoverVariable + " is not for you to set: unset it")
}
