package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/agent-airlock/airlock/internal/access"
)

func (s *Server) live(w http.ResponseWriter, _ *http.Request, _ access.Grant) (int, error) {
	return answer(w, http.StatusOK, health{"ok"}), nil
}

func (s *Server) ready(w http.ResponseWriter, r *http.Request, _ access.Grant) (int, error) {
	ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
	defer cancel()
	select {
	case <-s.stopped:
		return 0, refuse(http.StatusServiceUnavailable, "unavailable", "the server is shutting down")
	default:
	}
	return answerUnless(s.Runs.Ready(ctx), w, http.StatusOK, health{"ok"})
}

func (s *Server) showMetrics(w http.ResponseWriter, r *http.Request, _ access.Grant) (int, error) {
	s.metrics.handler.ServeHTTP(w, r)
	return http.StatusOK, nil
}

func (s *Server) showOpenAPI(w http.ResponseWriter, _ *http.Request, _ access.Grant) (int, error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(openAPI)
	return http.StatusOK, nil
}
