import type { TimelineEntry } from '@parley/contracts';
import { shortDuration } from '@parley/contracts/short-duration';
import type { MessageFacts, TakenFacts } from './message-facts.ts';
import { entry, lasting } from './words.ts';

const OCCASIONS: Readonly<Record<NonNullable<TakenFacts['occasion']>, string>> = {
  boot: 'put here by Parley after its start',
  'sub-agent': 'put here by Parley: an order for a sub-agent, or its result',
  heartbeat: 'put here by Parley: a standing task',
  cron: 'put here by Parley: a job whose time had come',
};

/** From the platform to the inbox: written, received, let in, stored. */
export function arrivalEntries(facts: MessageFacts): readonly TimelineEntry[] {
  const { sentAt, receivedAt, fate } = facts;
  const late = sentAt === null ? 0 : receivedAt - sentAt;
  const platform =
    sentAt === null ? [] : [entry('platform', sentAt, 'written, as the platform says')];
  return [
    ...platform,
    entry('ingress', receivedAt, receivedWords(facts, late)),
    ...decisionEntries(facts),
    ...(fate.kind === 'taken'
      ? [entry('inbox', receivedAt, `stored for ${fate.conversationId}`)]
      : []),
  ];
}

/** Platforms that tell seconds are up to one late. */
const NOTICEABLE_MS = 1_500;

function receivedWords({ fate }: MessageFacts, late: number): string {
  const after = late > NOTICEABLE_MS ? `, ${shortDuration(late)} after it was written` : '';
  if (fate.kind === 'not-taken') return `received${after}`;
  const { repeats, occasion } = fate;
  const again =
    repeats === 0 ? '' : `; told again ${times(repeats)} and dropped then as a duplicate`;
  return `${occasion === null ? `received${after}` : OCCASIONS[occasion]}${again}`;
}

/** Why it was let in and why it was to be answered; one reason holds both. */
function decisionEntries({ reason, receivedAt, fate }: MessageFacts): readonly TimelineEntry[] {
  if (reason === null) return [];
  if (fate.kind === 'not-taken') {
    const verdict = fate.outcome === 'refused' ? 'refused' : 'not answered';
    return [{ ...entry('access', receivedAt, `${verdict}: ${reason}`), mark: 'trouble' }];
  }
  const [access = '', activation] = reason.split('; ');
  return [
    entry('access', receivedAt, `let in: ${access}`),
    ...(activation === undefined
      ? []
      : [entry('access', receivedAt, `to be answered: ${activation}`)]),
  ];
}

/** How long it waited for its turn, and for what. */
export function laneEntries(
  { receivedAt }: Pick<MessageFacts, 'receivedAt'>,
  fate: TakenFacts,
  now: number,
): readonly TimelineEntry[] {
  const { settlesAt, files, turn, interruptions } = fate;
  const settling =
    settlesAt === null
      ? []
      : [lasting('lane', receivedAt, settlesAt, 'more of it might have been on the way')];
  const fetched =
    files.length === 0 ? [] : [entry('lane', null, `came with files: ${files.join(', ')}`)];
  const interrupted =
    interruptions === 0
      ? []
      : [entry('lane', null, `its turn was ended ${times(interruptions)} by a later message`)];
  const takenAt = fate.claimedAt ?? turn?.startedAt ?? null;
  return [...settling, ...fetched, ...interrupted, ...waiting(fate, receivedAt, takenAt, now)];
}

function waiting(
  fate: TakenFacts,
  receivedAt: number,
  takenAt: number | null,
  now: number,
): readonly TimelineEntry[] {
  const { turn, outcome, doneAt, state } = fate;
  if (turn !== null && takenAt !== null) {
    const words =
      takenAt > turn.startedAt
        ? 'waited, then joined the running turn'
        : 'waited until its turn took it';
    return [lasting('lane', receivedAt, takenAt, words)];
  }
  if (state === 'waiting') {
    return [{ ...lasting('lane', receivedAt, now, waitsFor(fate, now)), mark: 'open' }];
  }
  if (outcome === 'stopped') return [lasting('lane', receivedAt, doneAt, 'set aside by /stop')];
  if (outcome === 'withdrawn') {
    return [lasting('lane', receivedAt, doneAt, 'deleted by its author before its turn')];
  }
  return [];
}

/** What a message waits for now. */
export function waitsFor({ before, settlesAt, files }: TakenFacts, now: number): string {
  if (before?.isSuspended) return 'waits behind a turn that waits for an approval';
  if (before != null) {
    return `waits behind a turn that has been running for ${shortDuration(now - before.startedAt)}`;
  }
  if (settlesAt !== null && settlesAt > now) return 'waits for the rest of what is being sent';
  if (files.some((state) => state.endsWith('pending'))) return 'waits for its files';
  return 'waits for a worker';
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}
