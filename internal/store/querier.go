package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Querier runs statements, which are the same for both databases: placeholders are $1,
// $2 and so on, texts are TEXT, numbers, times and truth values BIGINT.
type Querier interface {
	// Exec runs a statement and returns how many rows it changed.
	Exec(ctx context.Context, statement string, args ...any) (changed int64, err error)
	// QueryRow runs a query for at most one row. Its Scan returns ErrNotFound if there is
	// none.
	QueryRow(ctx context.Context, query string, args ...any) Row
	// Query calls visit for every row, up to its first error. visit must not run statements itself.
	Query(ctx context.Context, visit func(Row) error, query string, args ...any) error
}

// Row is one row of a result.
type Row interface {
	Scan(into ...any) error
}

// Tx is a transaction. It ends with the function that it was given to.
type Tx interface {
	Querier
	// Native returns the driver's own transaction, for the engine.
	Native() any
}

// finisher is a transaction that this package ends.
type finisher interface {
	Tx
	commit(context.Context) error
	rollback(context.Context)
}

// sqliteQuerier is what *sql.DB and *sql.Tx have in common.
type sqliteQuerier interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	QueryRowContext(context.Context, string, ...any) *sql.Row
}

type sqliteConn struct{ q sqliteQuerier }

func (c sqliteConn) Exec(ctx context.Context, statement string, args ...any) (int64, error) {
	r, err := c.q.ExecContext(ctx, statement, args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

func (c sqliteConn) QueryRow(ctx context.Context, query string, args ...any) Row {
	return c.q.QueryRowContext(ctx, query, args...)
}

func (c sqliteConn) Query(ctx context.Context, visit func(Row) error, query string, args ...any) error {
	rows, err := c.q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	return EachRow(rows, visit)
}

type sqliteTx struct {
	sqliteConn
	tx *sql.Tx
}

func (t sqliteTx) Native() any                  { return t.tx }
func (t sqliteTx) commit(context.Context) error { return t.tx.Commit() }
func (t sqliteTx) rollback(context.Context)     { _ = t.tx.Rollback() }

// postgresQuerier is what *pgxpool.Pool and pgx.Tx have in common.
type postgresQuerier interface {
	Exec(context.Context, string, ...any) (pgconn.CommandTag, error)
	Query(context.Context, string, ...any) (pgx.Rows, error)
	QueryRow(context.Context, string, ...any) pgx.Row
}

// answerWithin is how long PostgreSQL may take for a statement whose context has no deadline.
// Without it, a network that passes nothing on any more would not be an error.
const answerWithin = 10 * time.Second

// withDeadline returns a context that has a deadline.
func withDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, answerWithin)
}

// postgresConn runs statements on one connection, on those of a pool, or in a transaction.
type postgresConn struct {
	q       postgresQuerier
	explain func(error) error // Store.explainTrouble, or Store.Explain in Listen
}

func (c postgresConn) Exec(ctx context.Context, statement string, args ...any) (int64, error) {
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	tag, err := c.q.Exec(ctx, statement, args...)
	return tag.RowsAffected(), c.explain(err)
}

func (c postgresConn) QueryRow(ctx context.Context, query string, args ...any) Row {
	ctx, cancel := withDeadline(ctx)
	return postgresRow{c.q.QueryRow(ctx, query, args...), cancel, c.explain}
}

func (c postgresConn) Query(ctx context.Context, visit func(Row) error, query string, args ...any) error {
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	rows, err := c.q.Query(ctx, query, args...)
	if err != nil {
		return c.explain(err)
	}
	defer rows.Close()
	return c.explain(EachRow(rows, visit))
}

// postgresRow is a row of a query whose context has to be cancelled after Scan.
type postgresRow struct {
	row     pgx.Row
	cancel  context.CancelFunc
	explain func(error) error
}

func (r postgresRow) Scan(into ...any) error {
	defer r.cancel()
	return r.explain(r.row.Scan(into...)) // pgx.ErrNoRows is sql.ErrNoRows, too
}

type postgresTx struct {
	postgresConn
	tx pgx.Tx
}

func (t postgresTx) Native() any { return t.tx }

func (t postgresTx) commit(ctx context.Context) error {
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	return t.tx.Commit(ctx)
}

func (t postgresTx) rollback(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, releaseTimeout)
	defer cancel()
	_ = t.tx.Rollback(ctx)
}

// List returns what scan makes of each row of a query.
func List[T any](ctx context.Context, q Querier, scan func(Row) (T, error), query string, args ...any) ([]T, error) {
	var all []T
	err := q.Query(ctx, func(r Row) error {
		one, err := scan(r)
		if err != nil {
			return fmt.Errorf("reading a row: %w", err)
		}
		all = append(all, one)
		return nil
	}, query, args...)
	return all, err
}

// ScanOne reads the only column of a row; it is for List.
func ScanOne[T any](r Row) (value T, err error) {
	err = r.Scan(&value)
	return value, err
}

// Rows are the rows of a database's own answer.
type Rows interface {
	Row
	Next() bool
	Err() error
}

// EachRow calls visit for every row, up to its first error. The caller closes the rows.
func EachRow(rows Rows, visit func(Row) error) error {
	for rows.Next() {
		if err := visit(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
