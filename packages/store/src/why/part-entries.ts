import { pluralize, type TimelineEntry } from '@parley/core';
import type { PartRecord } from './message-facts.ts';
import { createDurationEntry, createMomentEntry, dropAbsentItems } from './timeline-entry.ts';

/** Waits shorter than this are left out, in ms. */
const NOTICEABLE_MS = 100;

/** Lists the stages of each part from the outbox to the platform's receipt. */
export function listPartEntries(
  parts: readonly PartRecord[],
  now: number,
): readonly TimelineEntry[] {
  const [first] = parts;
  if (first === undefined) return [];
  const named = parts.map((part, nth) => ({ part, name: describePart(part, nth, parts.length) }));
  return [
    createMomentEntry(
      'outbox',
      first.createdAt,
      `${pluralize(parts.length, 'part')} added to the outbox`,
    ),
    ...named.flatMap(({ part, name }) => listPartTimeline(part, name, now)),
  ];
}

function describePart({ isHere }: PartRecord, nth: number, count: number): string {
  if (!isHere) return 'a message to another chat';
  return count === 1 ? 'the part' : `part ${nth + 1} of ${count}`;
}

function listPartTimeline(part: PartRecord, name: string, now: number): readonly TimelineEntry[] {
  return dropAbsentItems([
    createQueuedEntry(part, name),
    ...listRetryEntries(part, name),
    ...listPartOutcomeEntries(part, name, now),
  ]);
}

function createQueuedEntry(
  { createdAt, triedAt }: PartRecord,
  name: string,
): TimelineEntry | false {
  if (triedAt === null || triedAt - createdAt < NOTICEABLE_MS) return false;
  const text = `${name}: waited for earlier parts, or for the platform’s rate limit`;
  return createDurationEntry('outbox', createdAt, triedAt, text);
}

function listRetryEntries({ retries }: PartRecord, name: string): readonly TimelineEntry[] {
  return retries.map(({ until, reason }) => ({
    ...createMomentEntry('delivery', null, `${name}: delayed until ${formatClockTime(until)}`),
    detail: reason,
    mark: 'trouble',
  }));
}

function listPartOutcomeEntries(
  part: PartRecord,
  name: string,
  now: number,
): readonly TimelineEntry[] {
  const { state, createdAt, notBefore, sendingAt, sentAt, platformId, error, settled } = part;
  const detail = error === null ? {} : { detail: error };
  const after = settled === null ? '' : `; ${settled} by the operator`;
  switch (state) {
    case 'sent':
      return [
        createDurationEntry('delivery', sendingAt, sentAt, `${name}: sent to the platform`),
        {
          ...createMomentEntry('receipt', sentAt, `${name}: delivered as ${platformId ?? '?'}`),
        },
      ];
    case 'sending': {
      const sending = createDurationEntry('delivery', sendingAt, now, `${name}: being sent`);
      return [{ ...sending, ...detail, mark: 'open' }];
    }
    case 'pending': {
      const later = notBefore > now ? `, not before ${formatClockTime(notBefore)}` : '';
      const waits = createDurationEntry(
        'outbox',
        createdAt,
        now,
        `${name}: waiting to be sent${later}`,
      );
      return [{ ...waits, ...detail, mark: 'open' }];
    }
    case 'unknown': {
      const text = `${name}: may or may not have arrived${after}`;
      return [{ ...createMomentEntry('delivery', sendingAt, text), ...detail, mark: 'trouble' }];
    }
    case 'failed': {
      const text = `${name}: could not be delivered${after}`;
      return [{ ...createMomentEntry('delivery', sendingAt, text), ...detail, mark: 'trouble' }];
    }
  }
}

/** Formats a time as `14:05:09` in UTC, because readers may be in any time zone. */
function formatClockTime(at: number): string {
  return `${new Date(at).toISOString().slice(11, 19)}Z`;
}
