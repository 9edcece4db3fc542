import { formatDuration, pluralize, type StepInfo, type TimelineEntry } from '@parley/core';
import type { Approval } from '../approval-rows.ts';
import { HOOK_AGENT } from '../conversations.ts';
import type { Takeover } from '../takeovers.ts';
import type {
  AcceptedMessageRecord,
  MessageRecord,
  MessageTurnRecord,
  TimedStep,
} from './message-facts.ts';
import { createDurationEntry, createMomentEntry, dropAbsentItems } from './timeline-entry.ts';

const TRIGGERS: Readonly<Record<NonNullable<AcceptedMessageRecord['trigger']>, string>> = {
  boot: 'added by Parley after its start',
  'sub-agent': 'added by Parley: a task for a sub-agent, or its result',
  heartbeat: 'added by Parley: a standing task',
  cron: 'added by Parley: a scheduled job',
};

/**
 * Lists the stages of a message on its way from the platform to the inbox: written, received,
 * allowed, stored.
 */
export function listArrivalEntries(facts: MessageRecord): readonly TimelineEntry[] {
  const { sentAt, receivedAt, fate } = facts;
  const late = sentAt === null ? 0 : receivedAt - sentAt;
  return dropAbsentItems([
    sentAt !== null && createMomentEntry('platform', sentAt, 'written, according to the platform'),
    createMomentEntry('ingress', receivedAt, describeReceipt(facts, late)),
    ...listDecisionEntries(facts),
    fate.kind === 'taken' &&
      createMomentEntry('inbox', receivedAt, `stored for ${fate.conversationId}`),
  ]);
}

/**
 * Describes when a person took over the conversation and how the takeover ended. Only the owner
 * sees the person's name.
 */
export function listTakeoverEntries(
  takeovers: readonly Takeover[],
  now: number,
): readonly TimelineEntry[] {
  return takeovers.flatMap(({ by, at, until, endedAt, endedBy }) => {
    const lasts = endedAt === null && until > now;
    const text = `a person took the conversation over, for ${formatDuration(until - at)}`;
    const taken: TimelineEntry = {
      ...createDurationEntry('lane', at, endedAt ?? now, text),
      detail: `by ${by}`,
      ...(lasts && { mark: 'open' }),
    };
    if (lasts) return [taken];
    const end = endedBy === null ? 'the takeover expired' : 'the conversation was handed back';
    const detail = endedBy === null ? {} : { detail: `by ${endedBy}` };
    return [taken, { ...createMomentEntry('lane', endedAt ?? until, end), ...detail }];
  });
}

/** The tolerance in ms: times from platforms that report whole seconds are up to a second late. */
const LATE_MS = 1_500;

/** Whether this is a run for a hook event (H09). */
export function isHookRun({ agent }: NonNullable<AcceptedMessageRecord['run']>): boolean {
  return agent.startsWith(HOOK_AGENT);
}

function describeReceipt({ fate }: MessageRecord, late: number): string {
  const after = late > LATE_MS ? `, ${formatDuration(late)} after it was written` : '';
  if (fate.kind === 'not-taken') return `received${after}`;
  const { repeats, trigger, run } = fate;
  if (run !== null && isHookRun(run)) return 'received by a hook';
  const again =
    repeats === 0
      ? ''
      : `; sent again ${formatRepetitionCount(repeats)} and dropped as a duplicate`;
  return `${trigger === null ? `received${after}` : TRIGGERS[trigger]}${again}`;
}

/**
 * Describes why the message was allowed, why it gets an answer, and from which agent; one stored
 * reason contains all three.
 */
function listDecisionEntries({
  reason,
  receivedAt,
  fate,
}: MessageRecord): readonly TimelineEntry[] {
  if (reason === null) return [];
  if (fate.kind === 'not-taken') {
    const verdict = fate.outcome === 'refused' ? 'refused' : 'not answered';
    return [
      { ...createMomentEntry('access', receivedAt, `${verdict}: ${reason}`), mark: 'trouble' },
    ];
  }
  const [access = '', activation, agent] = reason.split('; ');
  return dropAbsentItems([
    createMomentEntry('access', receivedAt, `allowed: ${access}`),
    activation !== undefined &&
      createMomentEntry('access', receivedAt, `needs an answer: ${activation}`),
    agent !== undefined && createMomentEntry('access', receivedAt, agent),
  ]);
}

/** Describes how long the message waited for its turn, and why. */
export function listLaneEntries(
  { receivedAt }: Pick<MessageRecord, 'receivedAt'>,
  fate: AcceptedMessageRecord,
  now: number,
): readonly TimelineEntry[] {
  const { settlesAt, files, turn, interruptions } = fate;
  const takenAt = fate.claimedAt ?? turn?.startedAt ?? null;
  const wasEnded = `its turn was interrupted ${formatRepetitionCount(interruptions)} by a later message`;
  return dropAbsentItems([
    settlesAt !== null &&
      createDurationEntry(
        'lane',
        receivedAt,
        settlesAt,
        'waited for the rest of an album or a long paste',
      ),
    files.length > 0 && createMomentEntry('lane', null, `came with files: ${files.join(', ')}`),
    interruptions > 0 && createMomentEntry('lane', null, wasEnded),
    createWaitEntry(fate, receivedAt, takenAt, now),
  ]);
}

function createWaitEntry(
  fate: AcceptedMessageRecord,
  receivedAt: number,
  takenAt: number | null,
  now: number,
): TimelineEntry | false {
  const { turn, outcome, doneAt, state } = fate;
  if (turn !== null && takenAt !== null) {
    const joined = takenAt > turn.startedAt;
    const text =
      turn.written !== null
        ? 'waited until a person answered'
        : joined
          ? 'waited, then joined the running turn'
          : 'waited for its turn';
    return createDurationEntry('lane', receivedAt, takenAt, text);
  }
  if (state === 'waiting') {
    return {
      ...createDurationEntry('lane', receivedAt, now, describeWaitReason(fate, now)),
      mark: 'open',
    };
  }
  if (outcome === 'stopped')
    return createDurationEntry('lane', receivedAt, doneAt, 'set aside by /stop');
  return (
    outcome === 'withdrawn' &&
    createDurationEntry('lane', receivedAt, doneAt, 'deleted by its author before its turn')
  );
}

/** Describes what a waiting message is waiting for. */
export function describeWaitReason(
  { before, settlesAt, files, takeovers }: AcceptedMessageRecord,
  now: number,
): string {
  const led = takeovers.find(({ endedAt, until }) => endedAt === null && until > now);
  if (led !== undefined) {
    return `waits because a person has taken the conversation over, for ${formatDuration(led.until - now)} more`;
  }
  if (before?.isSuspended) return 'waits behind a turn that is waiting for an approval';
  if (before != null) {
    return `waits behind a turn that has been running for ${formatDuration(now - before.startedAt)}`;
  }
  if (settlesAt !== null && settlesAt > now)
    return 'waits for the rest of an album or a long paste';
  if (files.some((state) => state.endsWith('pending'))) return 'waits for its files';
  return 'waits for a worker';
}

function formatRepetitionCount(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

/** Lists the stages of a turn from its start to its commit. */
export function listTurnEntries(turn: MessageTurnRecord): readonly TimelineEntry[] {
  if (turn.written !== null) return [createPageReplyEntry(turn, turn.written)];
  return [
    ...listRunEntries(turn),
    ...listPostponementEntries(turn),
    ...listPromptEntries(turn),
    ...turn.steps.map(createStepEntry),
    ...turn.approvals.flatMap(listApprovalEntries),
    ...listEndEntries(turn),
  ];
}

function createPageReplyEntry(
  { startedAt }: MessageTurnRecord,
  { by, as }: NonNullable<MessageTurnRecord['written']>,
): TimelineEntry {
  const whose = as === 'agent' ? 'in the name of the agent' : 'under their own name';
  return {
    ...createMomentEntry('turn', startedAt, `a person wrote the answer, ${whose}`),
    detail: `by ${by}`,
  };
}

function listRunEntries({
  runs,
  startedAt,
  attempts,
}: MessageTurnRecord): readonly TimelineEntry[] {
  if (runs.length === 0) {
    const again = attempts > 1 ? `, ${attempts} times in all` : '';
    return [createMomentEntry('turn', startedAt, `started${again}`)];
  }
  return runs.map(({ at, worker, hung }, nth) => ({
    ...createMomentEntry(
      'turn',
      at,
      `${nth === 0 ? 'started' : 'resumed by another run'}${hung ? HUNG : ''}`,
    ),
    ...(worker !== null && { detail: worker }),
  }));
}

const HUNG = '; the process hung during this run, and the watchdog ended it';

/** Describes when the model became unavailable and, while the turn is waiting for it, why. */
function listPostponementEntries({
  putOffSince,
  putOffUntil,
  reason,
}: MessageTurnRecord): readonly TimelineEntry[] {
  if (putOffSince === null) return [];
  const kept = createMomentEntry(
    'turn',
    putOffSince,
    'its model was unavailable; the question was kept',
  );
  if (putOffUntil === null) return [kept];
  return [{ ...kept, ...(reason !== null && { detail: reason }), mark: 'open' }];
}

function listPromptEntries({ prompt, turnId }: MessageTurnRecord): readonly TimelineEntry[] {
  if (prompt === null) return [];
  const { at, layout, layers, characters, tokens } = prompt;
  const size = `${pluralize(layers, 'layer')}, ${characters} characters (about ${tokens} tokens) with tools and history`;
  return [
    {
      ...createMomentEntry('prompt', at, `${size}, layout ${layout}`),
      detail: `parley prompt --turn ${turnId}`,
    },
  ];
}

function createStepEntry({ startedAt, endedAt, facts }: TimedStep): TimelineEntry {
  const base = createDurationEntry(
    facts.kind,
    startedAt ?? endedAt,
    startedAt === null ? null : endedAt,
    describeStep(facts),
  );
  if (facts.kind === 'model') return { ...base, detail: describeModelDetail(facts) };
  return facts.outcome === 'done' ? base : { ...base, mark: 'trouble' };
}

function describeStep(facts: StepInfo): string {
  if (facts.kind === 'tool') {
    const outcome = facts.outcome === 'not-run' ? 'not run' : facts.outcome;
    return `${facts.tool}: ${outcome}`;
  }
  const { inputTokens, outputTokens, firstTokenMs, calls, ended } = facts;
  const { thoughtCharacters = 0, droppedCalls = 0 } = facts;
  return dropAbsentItems([
    `asked: ${inputTokens} tokens in, ${outputTokens} out`,
    firstTokenMs !== undefined && `first text after ${formatDuration(firstTokenMs)}`,
    thoughtCharacters > 0 && `reasoned, ${thoughtCharacters.toLocaleString('en-US')} characters`,
    calls.length > 0 && `calls ${calls.join(', ')}`,
    ended !== undefined && ENDED[ended],
    droppedCalls > 0 && `${pluralize(droppedCalls, 'call')} written as text and not run`,
  ]).join('; ');
}

const ENDED = {
  length: 'cut off at the provider’s output limit',
  'content-filter': 'ended by the provider’s content filter',
} as const;

/** Only the owner sees which model answered. */
function describeModelDetail({
  model,
  insteadOf,
  asked,
}: Extract<StepInfo, { kind: 'model' }>): string {
  const instead = insteadOf === undefined ? '' : ` instead of ${insteadOf}`;
  const again = asked === undefined ? '' : `, asked ${asked} times`;
  return `${model}${instead}${again}`;
}

const DECISIONS: Readonly<Record<Approval['state'], string>> = {
  pending: 'waits for an approval',
  approved: 'allowed',
  denied: 'refused',
  answered: 'answered',
  expired: 'not answered',
  withdrawn: 'stopped',
  auto: 'allowed by the settings',
};

function listApprovalEntries({
  state,
  tool,
  code,
  askedAt,
  decidedAt,
  decidedBy,
}: Approval): TimelineEntry[] {
  if (state === 'auto')
    return [createMomentEntry('approval', askedAt, `${tool}: ${DECISIONS.auto}`)];
  const text = `${tool} (${code}): ${DECISIONS[state]}`;
  return [
    {
      ...createDurationEntry('approval', askedAt, decidedAt, text),
      ...(decidedBy !== null && { detail: `by ${decidedBy}` }),
      ...(state === 'pending' && { mark: 'open' as const }),
    },
  ];
}

/** Lists the turn's outcome, if it has ended. */
function listEndEntries({
  state,
  startedAt,
  finishedAt,
  reason,
}: MessageTurnRecord): readonly TimelineEntry[] {
  const detail = reason === null ? {} : { detail: reason };
  const took = (text: string) => ({ ...createMomentEntry('commit', finishedAt, text), ...detail });
  const whole =
    finishedAt === null ? '' : `, ${formatDuration(finishedAt - startedAt)} after it was started`;
  switch (state) {
    case 'running':
      return [];
    case 'answered':
      return [took(`answered${whole}`)];
    case 'silent':
      return [took(`the agent chose to say nothing${whole}`)];
    case 'failed':
      return [{ ...took(`failed${whole}`), mark: 'trouble' }];
    case 'stopped':
      return [took(`stopped by /stop${whole}`)];
    default:
      return [took(`interrupted by a later message${whole}`)];
  }
}
