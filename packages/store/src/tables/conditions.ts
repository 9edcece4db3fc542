import type { RowsOfPerson } from './table.ts';

/** Conditions shared by several tables. */
export const OF_CONVERSATION = 'conversation_id = :conversation';

/** Selects a person's rows in a group. */
export const rowsWhere = (where: string): RowsOfPerson => ({ by: 'rows', where });

/** Selects all rows in the group, for tables that mix several people's text and can be rebuilt. */
export const ALL_OF_GROUP = rowsWhere(OF_CONVERSATION);

export const IN_TURNS = 'in (select value from json_each(:turns))';

export const IN_PERSONS = 'in (select value from json_each(:persons))';

export const IN_SEQS = 'in (select cast(value as bigint) from json_each(:seqs))';

/** SQL condition: a dead letter is about this part or turn. */
export const hasLetter = (subject: string) =>
  `exists (select 1 from dead_letter where subject = ${subject})`;

/** SQL condition: the row belongs to the current session of its conversation. */
export const ofSession = (table: string) =>
  `exists (select 1 from conversation where conversation.id = ${table}.conversation_id
    and conversation.session = ${table}.session)`;
