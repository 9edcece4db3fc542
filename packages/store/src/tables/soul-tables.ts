import type { Generated } from 'kysely';
import type { SoulAuthor, SoulState } from '../souls.ts';

/** One row an agent: whoever changes its versions locks it first. */
export interface SoulTable {
  agent: string;
  next_number: number;
}

/** Versions of SOUL.md; `findings` is JSON, `untold` 1 or 0. */
export interface SoulVersionTable {
  agent: string;
  number: number;
  asked_by: string;
  text: string;
  head: string;
  author: SoulAuthor;
  by_whom: string | null;
  reason: string;
  based_on: number | null;
  diff: string;
  score: Generated<number | null>;
  findings: Generated<string>;
  state: SoulState;
  untold: Generated<number>;
  created_at: number;
  judged_at: Generated<number | null>;
  applies_at: Generated<number | null>;
  applied_at: Generated<number | null>;
  decided_by: Generated<string | null>;
}

/** What the agent is like, and was. */
export interface SoulTables {
  soul: SoulTable;
  soul_version: SoulVersionTable;
}
