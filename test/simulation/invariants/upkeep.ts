import type { MakeInvariant } from './invariant.ts';

/** Rows of tables are kept for so long; less cannot be set. In days. */
export const KEPT_DAYS = 3;
const DAY_MS = 24 * 3_600_000;
/** A clock that is set may make a row due for removal earlier, but no more than this (docs/retention.md). */
const SHORTEST_MS = (KEPT_DAYS / 2) * DAY_MS;
/** So much later old rows are gone. */
const LONGEST_MS = (KEPT_DAYS + 5) * DAY_MS;

/** Retention removes what is old, and nothing that is young or still needed (D15). */
export const keepsYoung: MakeInvariant = () => {
  const since = new Map<string, number>();
  let removed = 0;
  let last = 0;
  return {
    id: 'D15',
    afterStep: ({ at, changes }) =>
      changes.flatMap((change) => {
        if (change.kind !== 'message' && change.kind !== 'part') {
          if (change.kind === 'accepted') since.set(`message ${change.message}`, at);
          return [];
        }
        const what =
          change.kind === 'message' ? `message ${change.message}` : `part ${change.part}`;
        if (change.from === null) since.set(what, at);
        if (change.to !== 'removed') return [];
        removed += 1;
        last = at;
        const age = at - (since.get(what) ?? 0);
        const isNeeded = change.from !== 'done' && change.from !== 'sent';
        return [
          ...(age < SHORTEST_MS
            ? [`${what} was removed after ${(age / DAY_MS).toFixed(1)} days`]
            : []),
          ...(isNeeded ? [`${what} was removed while it was ${change.from}`] : []),
        ];
      }),
    atEnd: ({ time, questions }) => {
      const isOld = questions.some(({ at }) => time.now - at > LONGEST_MS);
      return isOld && removed === 0 ? [`nothing old was removed, ${last}`] : [];
    },
  };
};

/** Settings that cannot be used change nothing (D12). */
export const keepsSettings: MakeInvariant = () => ({
  id: 'D12',
  onRequest: ({ body }) => {
    const [, model = ''] = /"model":"([^"]+)"/.exec(body) ?? [];
    return model.startsWith('seed') ? [] : [`the model "${model}" of broken settings was asked`];
  },
});
