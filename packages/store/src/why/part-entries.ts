import { countOf, type TimelineEntry } from '@parley/core';
import type { PartFacts } from './message-facts.ts';
import { durationEntry, momentEntry, withoutAbsent } from './timeline-entry.ts';

/** Shorter waits are left out. In ms. */
const NOTICEABLE_MS = 100;

/** From the outbox to the platform's receipt, part by part. */
export function partEntries(parts: readonly PartFacts[], now: number): readonly TimelineEntry[] {
  const [first] = parts;
  if (first === undefined) return [];
  const named = parts.map((part, nth) => ({ part, name: partName(part, nth, parts.length) }));
  return [
    momentEntry('outbox', first.createdAt, `${countOf(parts.length, 'part')} added to the outbox`),
    ...named.flatMap(({ part, name }) => partTimeline(part, name, now)),
  ];
}

function partName({ isHere }: PartFacts, nth: number, count: number): string {
  if (!isHere) return 'a message to another chat';
  return count === 1 ? 'the part' : `part ${nth + 1} of ${count}`;
}

function partTimeline(part: PartFacts, name: string, now: number): readonly TimelineEntry[] {
  return withoutAbsent([
    queuedEntry(part, name),
    ...retryEntries(part, name),
    ...fateEntries(part, name, now),
  ]);
}

function queuedEntry({ createdAt, triedAt }: PartFacts, name: string): TimelineEntry | false {
  if (triedAt === null || triedAt - createdAt < NOTICEABLE_MS) return false;
  const text = `${name}: waited for earlier parts, or for the platform’s rate limit`;
  return durationEntry('outbox', createdAt, triedAt, text);
}

function retryEntries({ retries }: PartFacts, name: string): readonly TimelineEntry[] {
  return retries.map(({ until, reason }) => ({
    ...momentEntry('delivery', null, `${name}: delayed until ${clockTime(until)}`),
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
        durationEntry('delivery', sendingAt, sentAt, `${name}: sent to the platform`),
        {
          ...momentEntry('receipt', sentAt, `${name}: delivered as ${platformId ?? '?'}`),
        },
      ];
    case 'sending': {
      const sending = durationEntry('delivery', sendingAt, now, `${name}: being sent`);
      return [{ ...sending, ...detail, mark: 'open' }];
    }
    case 'pending': {
      const later = notBefore > now ? `, not before ${clockTime(notBefore)}` : '';
      const waits = durationEntry('outbox', createdAt, now, `${name}: waiting to be sent${later}`);
      return [{ ...waits, ...detail, mark: 'open' }];
    }
    case 'unknown': {
      const text = `${name}: may or may not have arrived${after}`;
      return [{ ...momentEntry('delivery', sendingAt, text), ...detail, mark: 'trouble' }];
    }
    case 'failed': {
      const text = `${name}: could not be delivered${after}`;
      return [{ ...momentEntry('delivery', sendingAt, text), ...detail, mark: 'trouble' }];
    }
  }
}

/** `14:05:09`, in UTC, because readers may be anywhere. */
function clockTime(at: number): string {
  return `${new Date(at).toISOString().slice(11, 19)}Z`;
}
