import type { Database } from '../database.ts';

/** One step of the schema. Never edited once released: a change is a further step. */
export interface Migration {
  readonly number: number;
  readonly name: string;
  /** The statements for one dialect; written once, differing only in the growing number. */
  readonly statements: (dialect: Database['dialect']) => readonly string[];
}

/** A primary key that grows in the order of storing and is never used twice. */
export function seq(dialect: Database['dialect']): string {
  return dialect === 'sqlite' ? 'integer primary key autoincrement' : 'bigserial primary key';
}
