import type { PersonsRows } from './table.ts';

/** Conditions that several tables share. */
export const OF_CONVERSATION = 'conversation_id = :conversation';

/** The rows of a person in a group. */
export const rowsWhere = (where: string): PersonsRows => ({ by: 'rows', where });

/** Rows that mix voices and are made again: all of the group's go. */
export const ALL_OF_GROUP = rowsWhere(OF_CONVERSATION);

export const IN_TURNS = 'in (select value from json_each(:turns))';

export const IN_PERSONS = 'in (select value from json_each(:persons))';

export const IN_SEQS = 'in (select cast(value as bigint) from json_each(:seqs))';

/** A dead letter is about this part or turn. */
export const hasLetter = (subject: string) =>
  `exists (select 1 from dead_letter where subject = ${subject})`;

/** The row belongs to the current session of its conversation. */
export const ofSession = (table: string) =>
  `exists (select 1 from conversation where conversation.id = ${table}.conversation_id
    and conversation.session = ${table}.session)`;
