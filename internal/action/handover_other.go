//go:build !unix

package action

import "os"

// replace takes the secrets out of the environment that child processes and
// libraries see. The system cannot replace the process.
func replace(_, _ []string, secrets map[string]string) (Secrets, error) {
	for name := range secrets {
		if err := os.Unsetenv(name); err != nil {
			return Secrets{}, err
		}
	}
	return newSecrets(onlyNeeded(secrets)), nil
}

func receive(string) ([]byte, error) {
	return nil, errNotOurs
}
