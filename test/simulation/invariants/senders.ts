import type { MakeInvariant } from './invariant.ts';

interface SentRow {
  readonly id: string;
  readonly account: string;
  readonly state: string;
  readonly sender: number | null;
}

interface HeldRow {
  readonly name: string;
  readonly epoch: number;
}

const PARTS = `select id, 'account:' || channel || '/' || account as account, state, sender from outbox`;
const HELD = `select name, epoch from lease where owner is not null and name like 'account:%'`;

/**
 * Only the gateway that marked a part as sending, or a gateway that has taken it over since,
 * records its outcome (D04): an earlier gateway would repeat or give up a send that the new gateway
 * has in progress.
 */
export const decidedBySender: MakeInvariant = () => {
  /** The process that took each lease of an account; null if it did so before the first query. */
  const takers = new Map<string, string | null>();
  let isFirst = true;
  let before = new Map<string, SentRow>();
  return {
    id: 'D04',
    afterChange: ({ observer }, process = 'world') => {
      for (const { name, epoch } of observer.rows<HeldRow>(HELD)) {
        const key = `${name} ${epoch}`;
        if (!takers.has(key)) takers.set(key, isFirst ? null : process);
      }
      isFirst = false;
      const rows = new Map(observer.rows<SentRow>(PARTS).map((row) => [row.id, row]));
      const ended = [...before.values()].filter(
        ({ id, state }) => state === 'sending' && rows.get(id)?.state !== 'sending',
      );
      before = rows;
      return ended.flatMap(({ id, account, sender }) => {
        const taker = takers.get(`${account} ${sender}`);
        if (taker == null || taker === process) return [];
        return [`${process} decided about part ${id} of ${account}, which ${taker} was sending`];
      });
    },
  };
};
