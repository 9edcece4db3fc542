import type { Database } from './database.ts';
import { schema } from './schema.ts';

/** One step of the schema. Never edited once released: a change is a further step. */
export interface Migration {
  readonly number: number;
  readonly name: string;
  /** The statements for one dialect. */
  readonly statements: (dialect: Database['dialect']) => readonly string[];
}

/**
 * All steps, in the order in which they are applied. The first one is the whole schema; the numbers below it
 * belong to steps that existed before the first release.
 */
export const MIGRATIONS: readonly Migration[] = [
  { number: 30, name: 'schema', statements: schema },
];
