package isolate

import (
	"path/filepath"
	"slices"
)

// RunnerPaths returns what GitHub's runner mounts into a container action or names
// in a step's environment: its folders, the folders of its command files and of
// the event, and the engine's sockets. Off a runner there is nothing of the kind
// but the sockets.
func RunnerPaths(getenv func(string) string) []string {
	paths := []string{"/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock", "/run/podman/podman.sock"}
	if getenv("GITHUB_ACTIONS") != "true" {
		return paths
	}
	paths = append(paths, "/github")
	for _, name := range []string{"GITHUB_WORKSPACE", "RUNNER_TEMP", "HOME", "RUNNER_WORKSPACE"} {
		paths = append(paths, getenv(name))
	}
	for _, name := range []string{"GITHUB_EVENT_PATH", "GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE", "GITHUB_STEP_SUMMARY"} {
		if file := getenv(name); file != "" {
			paths = append(paths, filepath.Dir(file), file)
		}
	}
	return slices.DeleteFunc(paths, func(p string) bool { return !filepath.IsAbs(p) || filepath.Clean(p) == "/" })
}
