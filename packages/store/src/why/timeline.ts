import { formatDuration, type Timeline, type TimelineEntry } from '@parley/core';
import {
  describeWaitReason,
  isHookRun,
  listArrivalEntries,
  listLaneEntries,
  listTakeoverEntries,
  listTurnEntries,
} from './entries.ts';
import type {
  AcceptedMessageRecord,
  MessageRecord,
  MessageTurnRecord,
  PartRecord,
} from './message-facts.ts';
import { listPartEntries } from './part-entries.ts';

/** Builds all stages of a message's path, in order, from the stored data. */
export function buildTimeline(facts: MessageRecord, now: number): Timeline {
  const { place, receivedAt, fate } = facts;
  const turn = fate.kind === 'taken' ? fate.turn : null;
  return {
    message: { ...place, at: receivedAt },
    turnId: turn?.turnId ?? null,
    hasPrompt: turn?.prompt != null,
    ...decideVerdict(facts, now),
    entries: isUnsolicited(facts)
      ? sortEntries([
          ...listTurnEntries(facts.fate.turn),
          ...listPartEntries(facts.fate.parts, now),
        ])
      : [
          ...listArrivalEntries(facts),
          ...(fate.kind === 'taken' ? listEntriesAfterStoring(facts, fate, now) : []),
        ],
  };
}

type UnsolicitedMessageRecord = MessageRecord & {
  readonly fate: AcceptedMessageRecord & { readonly turn: MessageTurnRecord };
};

/** Whether a person wrote the text on the page without an inbound message. */
function isUnsolicited(facts: MessageRecord): facts is UnsolicitedMessageRecord {
  const { place, fate } = facts;
  return fate.kind === 'taken' && fate.turn?.turnId === place.messageId;
}

function listEntriesAfterStoring(
  facts: Pick<MessageRecord, 'receivedAt'>,
  fate: AcceptedMessageRecord,
  now: number,
): readonly TimelineEntry[] {
  const { turn, parts, run, cronJob, takeovers } = fate;
  return [
    ...listOriginEntries(run, cronJob),
    ...listLaneEntries(facts, fate, now),
    // Tool calls, approvals and parts for other chats may overlap, so their entries are sorted by
    // time; entries without a time keep their position.
    ...sortEntries([
      ...listTakeoverEntries(takeovers, now),
      ...(turn === null ? [] : listTurnEntries(turn)),
      ...listPartEntries(parts, now),
    ]),
  ];
}

function listOriginEntries(
  run: AcceptedMessageRecord['run'],
  cronJob: AcceptedMessageRecord['cronJob'],
): readonly TimelineEntry[] {
  const facts = [
    ...(run === null ? [] : [`the ${isHookRun(run) ? 'hook' : 'standing task'} ${run.task}`]),
    ...(cronJob === null ? [] : [`the job ${cronJob}`]),
  ];
  return facts.map((detail) => ({
    stage: 'ingress',
    at: null,
    ms: null,
    text: run !== null && isHookRun(run) ? 'started by an event' : 'started by Parley itself',
    detail,
  }));
}

function sortEntries(entries: readonly TimelineEntry[]): readonly TimelineEntry[] {
  let last = 0;
  const placed = entries.map((one) => {
    last = one.at ?? last;
    return { one, at: last };
  });
  return placed.toSorted((a, b) => a.at - b.at).map(({ one }) => one);
}

/** A one-sentence verdict, with a detail that only the owner may see. */
interface MessageVerdict {
  readonly verdict: string;
  readonly detail?: string;
}

/** The outcome of a message: an answer, or the exact reason for silence (D08). */
function decideVerdict({ reason, fate }: MessageRecord, now: number): MessageVerdict {
  if (fate.kind === 'not-taken') {
    const why = reason === null ? '' : `: ${reason}`;
    const kind = fate.outcome === 'refused' ? 'Refused' : 'No answer';
    return { verdict: `${kind}${why}.` };
  }
  if (fate.outcome === 'command') {
    return { verdict: 'A command, answered at once without the model.' };
  }
  if (fate.outcome === 'withdrawn') {
    return { verdict: 'No answer: its author deleted it before its turn.' };
  }
  if (fate.turn !== null) return decideTurnVerdict(fate, fate.turn, now);
  if (fate.outcome === 'stopped') return { verdict: 'No answer: /stop set it aside.' };
  return { verdict: `No answer yet: it ${describeWaitReason(fate, now)}.` };
}

function decideTurnVerdict(
  fate: AcceptedMessageRecord,
  turn: MessageTurnRecord,
  now: number,
): MessageVerdict {
  if (turn.written !== null) {
    const { by, as } = turn.written;
    const whose = as === 'agent' ? ' in the name of the agent' : '';
    return {
      verdict: `A person wrote the answer${whose}; ${describeDeliveredParts(fate.parts)}.`,
      detail: `by ${by}`,
    };
  }
  const detail = turn.reason === null ? {} : { detail: turn.reason };
  switch (turn.state) {
    case 'running': {
      const isLed = fate.takeovers.some(({ endedAt, until }) => endedAt === null && until > now);
      const why = isLed ? `it ${describeWaitReason(fate, now)}` : describeRunningTurn(turn, now);
      return { verdict: `No answer yet: ${why}.` };
    }
    case 'answered':
      return {
        verdict:
          fate.run === null
            ? describeAnsweredTurn(fate.parts)
            : describeAlert(fate.run, fate.parts),
      };
    case 'silent':
      if (fate.run !== null) return { verdict: describeAlert(fate.run, fate.parts), ...detail };
      return { verdict: 'No answer: the agent chose to say nothing.', ...detail };
    case 'failed':
      return { verdict: `Its turn failed; ${describeDeliveredParts(fate.parts)}.`, ...detail };
    case 'stopped':
      return { verdict: 'No answer: its turn was stopped by /stop.', ...detail };
    default:
      return { verdict: 'No answer yet: its turn was interrupted by a later message.', ...detail };
  }
}

function describeRunningTurn(turn: MessageTurnRecord, now: number): string {
  const { approvals, isSuspended, startedAt, worker, putOffUntil } = turn;
  if (putOffUntil !== null) {
    const next = putOffUntil > now ? ` in ${formatDuration(putOffUntil - now)}` : ' now';
    return `its model is unavailable; next attempt${next}`;
  }
  const open = approvals.find(({ state }) => state === 'pending');
  if (isSuspended && open !== undefined) {
    const what = open.choices === null ? `an approval of ${open.tool}` : 'an answer to a question';
    return `its turn waits for ${what} (${open.code})`;
  }
  const since = `for ${formatDuration(now - startedAt)}`;
  return worker === null
    ? `its turn was started ${formatDuration(now - startedAt)} ago and waits for a worker to resume it`
    : `its turn has been running ${since}`;
}

function describeAnsweredTurn(parts: readonly PartRecord[]): string {
  if (parts.length > 0 && parts.every(({ state }) => state === 'sent')) return 'Answered.';
  return `Answered; ${describeDeliveredParts(parts)}.`;
}

const RUN_OUTCOMES: Readonly<Record<string, string>> = {
  quiet: 'nothing to report',
  held: 'its alert is held until the quiet hours or a takeover end',
  repeated: 'the same alert was sent before, so it was not repeated',
  unclear: 'its text was not clearly an alert, so it was not sent',
  failed: 'it failed',
};

function describeAlert(
  run: NonNullable<AcceptedMessageRecord['run']>,
  parts: readonly PartRecord[],
): string {
  const what = RUN_OUTCOMES[run.state] ?? `an alert; ${describeDeliveredParts(parts)}`;
  return `${isHookRun(run) ? 'A hook event' : 'A run of a standing task'}: ${what}.`;
}

const STATE_LABELS = [
  ['sent', 'sent'],
  ['pending', 'not sent yet'],
  ['sending', 'being sent'],
  ['unknown', 'perhaps arrived'],
  ['failed', 'not deliverable'],
] as const;

function describeDeliveredParts(parts: readonly PartRecord[]): string {
  const states = STATE_LABELS.flatMap(([state, label]) => {
    const count = parts.filter((part) => part.state === state).length;
    return count === 0 ? [] : [`${count} ${label}`];
  });
  return states.length === 0 ? 'nothing to send' : `parts: ${states.join(', ')}`;
}
