import type { Timeline, TimelineEntry } from '@parley/contracts';
import { arrivalEntries, laneEntries } from './inbound-entries.ts';
import type { MessageFacts, TakenFacts } from './message-facts.ts';
import { partEntries } from './part-entries.ts';
import { turnEntries } from './turn-entries.ts';
import { verdictOf } from './verdict.ts';

/** All stages of a message in their order, from what the rows tell of it. */
export function timelineOf(facts: MessageFacts, now: number): Timeline {
  const { place, receivedAt, fate } = facts;
  const turn = fate.kind === 'taken' ? fate.turn : null;
  return {
    message: { ...place, at: receivedAt },
    turnId: turn?.turnId ?? null,
    hasPrompt: turn?.prompt != null,
    ...verdictOf(facts, now),
    entries: [
      ...arrivalEntries(facts),
      ...(fate.kind === 'taken' ? afterStoring(facts, fate, now) : []),
    ],
  };
}

function afterStoring(
  facts: Pick<MessageFacts, 'receivedAt'>,
  fate: TakenFacts,
  now: number,
): readonly TimelineEntry[] {
  const { turn, parts, beat, cronJob } = fate;
  return [
    ...originEntries(beat, cronJob),
    ...laneEntries(facts, fate, now),
    // Tools, approvals and parts to others happen among each other; what has no time stays where it is.
    ...inOrder([...(turn === null ? [] : turnEntries(turn)), ...partEntries(parts, now)]),
  ];
}

function originEntries(
  beat: TakenFacts['beat'],
  cronJob: TakenFacts['cronJob'],
): readonly TimelineEntry[] {
  const words = [
    ...(beat === null ? [] : [`the standing task ${beat.task}`]),
    ...(cronJob === null ? [] : [`the job ${cronJob}`]),
  ];
  return words.map((detail) => ({
    stage: 'ingress',
    at: null,
    ms: null,
    words: 'begun by Parley itself',
    detail,
  }));
}

function inOrder(entries: readonly TimelineEntry[]): readonly TimelineEntry[] {
  let last = 0;
  const placed = entries.map((one) => {
    last = one.at ?? last;
    return { one, at: last };
  });
  return placed.toSorted((a, b) => a.at - b.at).map(({ one }) => one);
}
