import type { TimelineEntry } from '@parley/contracts';
import type { PartFacts } from './message-facts.ts';
import { clockTime, counted, entry, lasting } from './words.ts';

/** Waits that nobody would notice are left out, in ms. */
const NOTICEABLE_MS = 100;

/** From the outbox to the platform's receipt, part by part. */
export function partEntries(parts: readonly PartFacts[], now: number): readonly TimelineEntry[] {
  const [first] = parts;
  if (first === undefined) return [];
  const named = parts.map((part, nth) => ({ part, name: nameOf(part, nth, parts.length) }));
  return [
    entry('outbox', first.createdAt, `${counted(parts.length, 'part')} put into the outbox`),
    ...named.flatMap(({ part, name }) => entriesOf(part, name, now)),
  ];
}

function nameOf({ isHere }: PartFacts, nth: number, count: number): string {
  if (!isHere) return 'a message to another chat';
  return count === 1 ? 'the part' : `part ${nth + 1} of ${count}`;
}

function entriesOf(part: PartFacts, name: string, now: number): readonly TimelineEntry[] {
  return [...waitEntries(part, name), ...retryEntries(part, name), ...fateEntries(part, name, now)];
}

function waitEntries({ createdAt, triedAt }: PartFacts, name: string): readonly TimelineEntry[] {
  if (triedAt === null || triedAt - createdAt < NOTICEABLE_MS) return [];
  const words = `${name}: waited for what was before it, or for the platform’s rate`;
  return [lasting('outbox', createdAt, triedAt, words)];
}

function retryEntries({ retries }: PartFacts, name: string): readonly TimelineEntry[] {
  return retries.map(({ until, reason }) => ({
    ...entry('delivery', null, `${name}: put off until ${clockTime(until)}`),
    detail: reason,
    mark: 'trouble',
  }));
}

function fateEntries(part: PartFacts, name: string, now: number): readonly TimelineEntry[] {
  const { state, createdAt, notBefore, sendingAt, sentAt, platformId, error, settled } = part;
  const detail = error === null ? {} : { detail: error };
  const after = settled === null ? '' : `; ${settled} by the operator`;
  switch (state) {
    case 'sent':
      return [
        lasting('delivery', sendingAt, sentAt, `${name}: given to the platform`),
        { ...entry('receipt', sentAt, `${name}: the platform has it as ${platformId ?? '?'}`) },
      ];
    case 'sending': {
      const sending = lasting('delivery', sendingAt, now, `${name}: being sent`);
      return [{ ...sending, ...detail, mark: 'open' }];
    }
    case 'pending': {
      const later = notBefore > now ? `, not before ${clockTime(notBefore)}` : '';
      const waits = lasting('outbox', createdAt, now, `${name}: waits to be sent${later}`);
      return [{ ...waits, ...detail, mark: 'open' }];
    }
    case 'unknown': {
      const words = `${name}: nobody knows whether it arrived${after}`;
      return [{ ...entry('delivery', sendingAt, words), ...detail, mark: 'trouble' }];
    }
    case 'failed': {
      const words = `${name}: could not be delivered${after}`;
      return [{ ...entry('delivery', sendingAt, words), ...detail, mark: 'trouble' }];
    }
  }
}
