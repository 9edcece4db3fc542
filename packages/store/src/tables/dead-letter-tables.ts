import type { Generated } from 'kysely';
import type { DeadLetter, SettledLetter } from '../dead-letters.ts';
import type { Seq } from './seq.ts';

/** What was given up; `subject` is the id of a part or of a turn. */
export interface DeadLetterTable {
  seq: Seq;
  kind: DeadLetter['kind'];
  subject: string;
  died_at: number;
  settled: Generated<SettledLetter['how'] | null>;
  settled_at: Generated<number | null>;
}

/** What an operator has to decide about. */
export interface DeadLetterTables {
  dead_letter: DeadLetterTable;
}
