import type { ColumnType } from 'kysely';

/** A number the database gives: the order of storing. Never written. */
export type Seq = ColumnType<number, never, never>;
