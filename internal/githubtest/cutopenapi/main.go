// Command cutopenapi makes contracts from GitHub's own published descriptions; githubtest checks
// requests against them. Of the REST API, cutopenapi keeps the operations that are used, with all
// that they refer to. Of the GraphQL schema, it keeps everything but the prose.
//
// The sources are npm packages of GitHub's:
//
//	npm pack @octokit/openapi@23.0.2 @octokit/graphql-schema@15.26.1
//	cutopenapi -openapi generated/api.github.com.json -sdl schema.graphql -out internal/githubtest/testdata
//
// With -check nothing is written: the exit status shows whether a fresh cut
// equals what is there.
package main

import (
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	openapi := flag.String("openapi", "", "GitHub's OpenAPI description (JSON, with $ref)")
	sdl := flag.String("sdl", "", "GitHub's GraphQL schema (SDL)")
	out := flag.String("out", ".", "directory of the cuts")
	check := flag.Bool("check", false, "compare with what is there instead of writing")
	flag.Parse()
	if err := run(*openapi, *sdl, *out, *check); err != nil {
		fmt.Fprintln(os.Stderr, "cutopenapi:", err)
		os.Exit(1)
	}
}

// run makes the cuts whose sources are given.
func run(openapi, sdl, out string, check bool) error {
	if openapi == "" && sdl == "" {
		return fmt.Errorf("give -openapi, -sdl or both")
	}
	for _, job := range []struct {
		from, to string
		cut      func([]byte) ([]byte, error)
	}{{openapi, "openapi.json.gz", cutREST}, {sdl, "schema.graphql.gz", cutGraphQL}} {
		if job.from == "" {
			continue
		}
		src, err := os.ReadFile(job.from)
		if err != nil {
			return err
		}
		fresh, err := job.cut(src)
		if err != nil {
			return fmt.Errorf("%s: %w", job.from, err)
		}
		to := filepath.Join(out, job.to)
		if check {
			if err := same(to, fresh); err != nil {
				return err
			}
			continue
		}
		packed, err := pack(fresh)
		if err != nil {
			return err
		}
		if err := os.WriteFile(to, packed, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// same compares contents, not compressed bytes: those differ between versions
// of the compressor.
func same(name string, fresh []byte) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	old, err := io.ReadAll(z)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if !bytes.Equal(old, fresh) {
		return fmt.Errorf("%s differs from a fresh cut: run cutopenapi without -check", name)
	}
	return nil
}

func pack(data []byte) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(data); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
