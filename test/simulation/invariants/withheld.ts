import type { Simulation } from '../simulation.ts';

/**
 * Parts of answers that were not sent because a person took the chat over; the agent is notified
 * with its next turn.
 */
export function listWithheldParts({ observer }: Simulation): ReadonlySet<string> {
  const rows = observer.rows<{ readonly id: string }>(
    "select id from outbox where state = 'failed' and error like 'A person took this chat over%'",
  );
  return new Set(rows.map(({ id }) => id));
}

/** The person who wrote a turn; null for the agent. */
export function findWriter(turn: string, { observer }: Simulation): string | null {
  const [row] = observer.rows<{ readonly by: string | null }>(
    'select written_by as "by" from turn where id = ?',
    turn,
  );
  return row?.by ?? null;
}
