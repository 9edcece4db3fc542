import { z } from 'zod';
import type { TableChange, TraceStep } from '../changes.ts';
import { WORLD } from './apply-step.ts';

/**
 * Maps, sets, tuples and numbers in a trace written by Quint are objects with one key:
 * https://apalache-mc.org/docs/adr/015adr-trace.html. Inner values are decoded before outer values.
 */
function decodeValue(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const [entry, ...more] = Object.entries(value);
  if (entry === undefined || more.length > 0) return value;
  const [tag, content] = entry;
  switch (tag) {
    case '#bigint':
      return Number(content);
    case '#map':
      return new Map(content);
    case '#set':
      return new Set(content);
    case '#tup':
      return content;
    default:
      return value;
  }
}

const Row = z.object({ chat: z.string(), state: z.string() });

const TraceTables = z.object({
  lanes: z.map(z.string(), z.object({ epoch: z.number(), holder: z.string() })),
  messages: z.map(z.number(), Row.extend({ turn: z.number() })),
  turns: z.map(z.number(), Row.extend({ attempts: z.number() })),
  parts: z.map(
    z.number(),
    Row.extend({ turn: z.number(), order: z.number(), isNotice: z.boolean() }),
  ),
  letters: z.set(z.tuple([z.string(), z.number()])),
});

const TraceState = z.object({
  tables: TraceTables,
  by: z.object({ process: z.string() }),
  shown: z.map(z.string(), z.array(z.object({ part: z.number(), key: z.number() }))),
});

const Trace = z.object({ states: z.array(TraceState) });

type TraceState = z.infer<typeof TraceState>;
type TraceTables = z.infer<typeof TraceTables>;

/**
 * Reads a trace of the model in the form in which the simulation records one: as changes of the
 * tables.
 */
export function readItfTrace(json: string): readonly TraceStep[] {
  const { states } = Trace.parse(JSON.parse(json, decodeValue));
  return states.slice(1).map((after, index) => {
    const before = states[index] ?? after;
    const isOfWorld = after.by.process === 'power';
    return {
      at: index,
      process: isOfWorld ? WORLD : after.by.process,
      changes: [...findChanges(before.tables, after.tables), ...findSentChanges(before, after)],
    };
  });
}

function findChanges(before: TraceTables, after: TraceTables): readonly TableChange[] {
  return [
    ...findLaneChanges(before, after),
    ...findMessageChanges(before, after),
    ...findTurnChanges(before, after),
    ...findPartChanges(before, after),
    ...findNewLetters(before, after),
  ];
}

/** The rows that differ, by key; a missing row is undefined. */
function findDifferences<Key, Row>(before: ReadonlyMap<Key, Row>, after: ReadonlyMap<Key, Row>) {
  const keys = [...new Set([...before.keys(), ...after.keys()])];
  return keys
    .map((key) => ({ key, was: before.get(key), is: after.get(key) }))
    .filter(({ was, is }) => JSON.stringify(was) !== JSON.stringify(is));
}

function findLaneChanges(before: TraceTables, after: TraceTables): readonly TableChange[] {
  return findDifferences(before.lanes, after.lanes).flatMap(({ key, was, is }): TableChange[] => {
    if (is === undefined || (was?.epoch === is.epoch && was.holder === is.holder)) return [];
    const holder = is.holder === '' ? null : is.holder;
    return [{ kind: 'lane', conversation: key, epoch: is.epoch, holder, until: 0 }];
  });
}

function findMessageChanges(before: TraceTables, after: TraceTables): readonly TableChange[] {
  return findDifferences(before.messages, after.messages).map(
    ({ key: message, was, is }): TableChange => {
      const conversation = (is ?? was)?.chat ?? '';
      if (was === undefined) return { kind: 'accepted', conversation, message };
      const turn = is === undefined || is.turn === 0 ? null : `turn${is.turn}`;
      return {
        ...{ kind: 'message', conversation, message, turn, from: was.state },
        to: is?.state ?? 'removed',
      };
    },
  );
}

function findTurnChanges(before: TraceTables, after: TraceTables): readonly TableChange[] {
  return findDifferences(before.turns, after.turns).map(
    ({ key, was, is }): TableChange => ({
      ...{ kind: 'turn', conversation: (is ?? was)?.chat ?? '', turn: `turn${key}` },
      ...{ from: was?.state ?? null, to: is?.state ?? 'removed' },
      attempts: (is ?? was)?.attempts ?? 0,
    }),
  );
}

function findPartChanges(before: TraceTables, after: TraceTables): readonly TableChange[] {
  return findDifferences(before.parts, after.parts).flatMap(({ key, was, is }): TableChange[] => {
    const row = is ?? was;
    if (row === undefined || (was?.state === is?.state && was?.order === is?.order)) return [];
    // The answer to a command has no turn, but leaves a dead letter just as a part of a turn does.
    const turn = row.isNotice ? null : `turn${row.turn}`;
    const { chat, order } = row;
    const [from, to] = [was?.state ?? null, is?.state ?? 'removed'];
    return [{ kind: 'part', part: `part${key}`, chat, order, turn, from, to }];
  });
}

function findNewLetters(before: TraceTables, after: TraceTables): readonly TableChange[] {
  const names = ({ letters }: TraceTables) => [...letters].map(([kind, id]) => `${kind}${id}`);
  const known = new Set(names(before));
  return names(after)
    .filter((of) => !known.has(of))
    .map((of, id): TableChange => ({ kind: 'dead-letter', id, of }));
}

function findSentChanges(before: TraceState, after: TraceState): readonly TableChange[] {
  return [...after.shown].flatMap(([chat, all]) =>
    all.slice(before.shown.get(chat)?.length ?? 0).map(({ part, key }): TableChange => {
      return { kind: 'sent', part: `part${part}`, key: chat === 'keyed' ? `${key}` : null, chat };
    }),
  );
}
