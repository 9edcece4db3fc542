import type { TableChange } from '../changes.ts';
import type { MakeInvariant } from './invariant.ts';

/**
 * A part never returns from these states, whatever is lost: they were synced, or nothing was sent.
 */
const SENT_FOR = ['sending', 'sent', 'unknown', 'failed'];

/**
 * What a power cut may undo (ARCHITECTURE.md, the five transactions): accepted messages ①, the end
 * of turns ③ and the mark before a part is sent ④ survive it; the start of a turn ② and receipts ⑤
 * need not.
 */
export const survivesPowerCut: MakeInvariant = () => {
  const messages = new Set<number>();
  const finished = new Set<string>();
  const parts = new Map<string, string>();
  return {
    id: 'D01',
    afterStep: ({ changes }, { observer: { tables } }) => {
      const [first] = changes;
      if (first?.kind !== 'rewound') {
        for (const change of changes) rememberChange(change, { messages, finished, parts });
        return [];
      }
      const wrong: string[] = [];
      if (first.by === 'power-cut') {
        for (const seq of messages) {
          if (!tables.messages.has(seq)) wrong.push(`message ${seq} was accepted and is lost`);
        }
        for (const id of finished) {
          const state = tables.turns.get(id)?.state;
          if (state === undefined || state === 'running') {
            wrong.push(`turn ${id} was finished and is ${state ?? 'gone'}`);
          }
        }
        for (const [id, before] of parts) {
          const now = tables.parts.get(id)?.state;
          if (now === undefined) wrong.push(`part ${id} was stored and is lost`);
          else if (before === 'sending' && now === 'pending') {
            wrong.push(`part ${id} was being sent and is pending`);
          } else if (SENT_FOR.includes(before) && !SENT_FOR.includes(now)) {
            wrong.push(`part ${id} was ${before} and is ${now}`);
          }
        }
      }
      messages.clear();
      finished.clear();
      parts.clear();
      for (const { seq } of tables.messages.values()) messages.add(seq);
      for (const { id, state } of tables.turns.values()) if (state !== 'running') finished.add(id);
      for (const { id, state } of tables.parts.values()) parts.set(id, state);
      return wrong;
    },
  };
};

interface SyncedMemory {
  readonly messages: Set<number>;
  readonly finished: Set<string>;
  readonly parts: Map<string, string>;
}

function rememberChange(change: TableChange, { messages, finished, parts }: SyncedMemory): void {
  if (change.kind === 'accepted') messages.add(change.message);
  if (change.kind === 'message' && change.to === 'removed') messages.delete(change.message);
  if (change.kind === 'turn' && change.to !== 'running') finished.add(change.turn);
  if (change.kind === 'part') {
    if (change.to === 'removed') parts.delete(change.part);
    else parts.set(change.part, change.to);
  }
}
