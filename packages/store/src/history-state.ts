/**
 * Whether the model reads the messages of a turn as part of the history (`now`), or a rewind
 * removed them (`rewound`); null if neither, as for a turn from before `/new`.
 */
export type HistoryState = 'now' | 'rewound' | null;

/**
 * Selects the `HistoryState` of a turn in a conversation. A rewind changes the session of entries
 * and turns to `-1 - session`. An alert of the heartbeat has an entry in the conversation, but a
 * turn in another lane.
 */
export function selectHistoryState<Turn extends string, Conversation extends string>(
  turn: Turn,
  conversation: Conversation,
) {
  return `(select case when found < 0 then 'rewound' when found = newest then 'now' end from (
    select (select session from conversation where id = ${conversation}) as newest,
      coalesce((select session from turn where id = ${turn} and conversation_id = ${conversation}),
        (select min(session) from transcript
          where turn_id = ${turn} and conversation_id = ${conversation})) as found) as sessions)` as const;
}
