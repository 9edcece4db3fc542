import type { TableChange, TraceStep } from '../changes.ts';
import {
  REMOVED,
  type TracedLane,
  type TracedMessage,
  type TracedPart,
  type TracedTables,
  type TracedTurn,
} from './traced-tables.ts';

/**
 * A change and the previous row, which is undefined when the trace has not shown the row before.
 */
export type AppliedChange =
  | {
      readonly kind: 'accepted';
      readonly change: ChangeOf<'accepted'>;
      readonly before: TracedMessage | undefined;
    }
  | {
      readonly kind: 'message';
      readonly change: ChangeOf<'message'>;
      readonly before: TracedMessage | undefined;
    }
  | {
      readonly kind: 'lane';
      readonly change: ChangeOf<'lane'>;
      readonly before: TracedLane | undefined;
    }
  | {
      readonly kind: 'turn';
      readonly change: ChangeOf<'turn'>;
      readonly before: TracedTurn | undefined;
    }
  | {
      readonly kind: 'part';
      readonly change: ChangeOf<'part'>;
      readonly before: TracedPart | undefined;
    }
  | { readonly kind: 'dead-letter'; readonly change: ChangeOf<'dead-letter'> }
  | {
      readonly kind: 'sent';
      readonly change: ChangeOf<'sent'>;
      readonly before: TracedPart | undefined;
    };

export type ChangeOf<Kind extends TableChange['kind']> = Extract<
  TableChange,
  { readonly kind: Kind }
>;

/**
 * The `process` value of a step that was not taken by a Parley process. Such a step changes tables
 * only through a power cut.
 */
export const WORLD = 'world';

/** Updates the tables with a step. */
export function applyStep(tables: TracedTables, step: TraceStep): readonly AppliedChange[] {
  const applied = step.changes.filter(isModeled).map((change) => applyChange(tables, step, change));
  if (step.process === WORLD) return applied;
  if (isSynced(applied)) tables.sinceSync.clear();
  else for (const one of applied) rememberValue(tables, one);
  return applied;
}

/**
 * The changes that the model knows: neither the leases of accounts nor the reason for a rollback.
 */
type ModeledChange = Exclude<TableChange, { readonly kind: 'lease' | 'rewound' }>;

function isModeled(change: TableChange): change is ModeledChange {
  return change.kind !== 'lease' && change.kind !== 'rewound';
}

function applyChange(tables: TracedTables, step: TraceStep, change: ModeledChange): AppliedChange {
  switch (change.kind) {
    case 'accepted': {
      const { conversation, message } = change;
      const before = tables.messages.get(message);
      tables.messages.set(message, { conversation, state: 'waiting', turn: null });
      return { kind: 'accepted', change, before };
    }
    case 'message': {
      const { conversation, message, to, turn } = change;
      const before = tables.messages.get(message);
      if (to === REMOVED) tables.messages.delete(message);
      else tables.messages.set(message, { conversation, state: to, turn });
      return { kind: 'message', change, before };
    }
    case 'lane':
      return { kind: 'lane', change, before: applyLane(tables, step, change) };
    case 'turn': {
      const { conversation, turn, to, attempts } = change;
      const before = tables.turns.get(turn);
      if (to === REMOVED) tables.turns.delete(turn);
      else tables.turns.set(turn, { conversation, state: to, attempts });
      return { kind: 'turn', change, before };
    }
    case 'part':
      return { kind: 'part', change, before: applyPart(tables, change) };
    case 'dead-letter':
      return { kind: 'dead-letter', change };
    case 'sent':
      return { kind: 'sent', change, before: applySent(tables, change) };
  }
}

function applyLane({ lanes }: TracedTables, { process }: TraceStep, change: ChangeOf<'lane'>) {
  const { conversation, epoch, holder } = change;
  const before = lanes.get(conversation);
  // A lane that the trace has not shown before was either created, with epoch 0, or has just been
  // taken.
  const isRaised = before === undefined ? epoch > 0 : epoch > before.epoch;
  const raisedBy = isRaised && process !== WORLD ? process : (before?.raisedBy ?? null);
  lanes.set(conversation, { epoch, holder, raisedBy });
  return before;
}

function applyPart({ parts }: TracedTables, change: ChangeOf<'part'>): TracedPart | undefined {
  const { part, chat, order, turn, from, to } = change;
  const before = parts.get(part);
  const { wasMarked = from === 'sending', key, timesShown = 0, resends = 0 } = before ?? {};
  const isAgain = to === 'pending' && isGivenUp(before?.state ?? from);
  if (to === REMOVED) parts.delete(part);
  else
    parts.set(part, {
      ...{ chat, order, turn, key, timesShown, state: to },
      wasMarked: wasMarked || to === 'sending',
      resends: resends + (isAgain ? 1 : 0),
    });
  return before;
}

export function isGivenUp(state: string | null): boolean {
  return state === 'failed' || state === 'unknown';
}

function applySent(
  { parts }: TracedTables,
  { part, key }: ChangeOf<'sent'>,
): TracedPart | undefined {
  const before = parts.get(part);
  if (before === undefined) return undefined;
  const { key: firstKey = key, timesShown } = before;
  parts.set(part, { ...before, key: firstKey, timesShown: timesShown + 1 });
  return before;
}

/**
 * Whether a step and all earlier steps reached the disk. Claims, releases, renewals and receipts do
 * not; nor does a claim that closes a turn that was started too often.
 */
function isSynced(applied: readonly AppliedChange[]): boolean {
  const isClaim = applied.some((one) => one.kind === 'lane' && one.change.holder !== null);
  return applied.some((one) => reachesDisk(one, isClaim));
}

function reachesDisk(one: AppliedChange, isClaim: boolean): boolean {
  switch (one.kind) {
    case 'accepted':
      return true;
    case 'part':
      return one.change.from !== 'sending' || one.change.to !== 'sent';
    case 'message':
      return !isClaim && one.change.to !== 'claimed';
    case 'turn': {
      const { to, attempts } = one.change;
      return !isClaim && (to !== 'running' || attempts < (one.before?.attempts ?? 0));
    }
    case 'dead-letter':
      return !isClaim;
    case 'lane':
    case 'sent':
      return false;
  }
}

/**
 * A row and the values that a power cut may restore or undo; null when the change does not concern
 * a row.
 */
export function getRowValues(
  one: AppliedChange,
): { row: string; before: string; after: string } | null {
  switch (one.kind) {
    case 'message': {
      const { message, to, turn, from } = one.change;
      const before = `${one.before?.state ?? from} ${one.before?.turn ?? null}`;
      return {
        row: `message ${message}`,
        before,
        after: to === REMOVED ? REMOVED : `${to} ${turn}`,
      };
    }
    case 'turn': {
      const { turn, to, attempts, from } = one.change;
      const { before } = one;
      const was = before === undefined ? (from ?? REMOVED) : `${before.state} ${before.attempts}`;
      return {
        row: `turn ${turn}`,
        before: was,
        after: to === REMOVED ? REMOVED : `${to} ${attempts}`,
      };
    }
    case 'part': {
      const { part, to, from } = one.change;
      return { row: `part ${part}`, before: one.before?.state ?? from ?? REMOVED, after: to };
    }
    case 'lane': {
      const { conversation, epoch } = one.change;
      return {
        row: `lane ${conversation}`,
        before: `${one.before?.epoch ?? 0}`,
        after: `${epoch}`,
      };
    }
    case 'accepted':
    case 'dead-letter':
    case 'sent':
      return null;
  }
}

function rememberValue({ sinceSync }: TracedTables, one: AppliedChange): void {
  const value = getRowValues(one);
  if (value === null) return;
  sinceSync.set(value.row, [...(sinceSync.get(value.row) ?? [value.before]), value.after]);
}
