import { HEARTBEAT_LANE, isLane, SUB_AGENT_LANE } from '@parley/store';
import { type CheckedChange, checkContinuity, createViolation, type StepMoment } from './moment.ts';
import type { RuleViolation } from './rules.ts';
import { listMessages, listRunningTurns, REMOVED } from './traced-tables.ts';

/** The holder of a lane that was taken before the trace started is unknown. */
function checkFence(
  { tables, process }: StepMoment,
  conversation: string,
  what: string,
): readonly RuleViolation[] {
  const raisedBy = tables.lanes.get(conversation)?.raisedBy ?? null;
  if (raisedBy === null || raisedBy === process) return [];
  return [createViolation(3, `${what}, but ${raisedBy} raised the epoch of ${conversation} last`)];
}

export function checkMessage(
  moment: StepMoment,
  { change, before }: CheckedChange<'message'>,
): readonly RuleViolation[] {
  const { conversation, message, from, to, turn } = change;
  const row = `message ${message}`;
  const steps = checkContinuity(row, from, before);
  const earlier = before?.turn ?? null;
  const stateOf = (id: string | null) =>
    id === null ? undefined : moment.tables.turns.get(id)?.state;
  const forbidden = (why: string) => [
    ...steps,
    createViolation(5, `${row} went from ${from} to ${to}: ${why}`),
  ];
  switch (`${from} > ${to}`) {
    case 'waiting > claimed':
      return [...steps, ...checkFence(moment, conversation, `${row} was claimed`)];
    case 'waiting > done':
      // Messages set aside by a command, or closed together with a turn that had ended its process
      // too often.
      return stateOf(turn) === 'running' ? forbidden(`turn ${turn} is still running`) : steps;
    case 'claimed > done': {
      const state = stateOf(turn ?? earlier);
      const isOpen = state === 'running' || state === 'interrupted';
      return isOpen ? forbidden(`turn ${turn ?? earlier} is ${state}`) : steps;
    }
    case 'claimed > claimed':
    case 'claimed > waiting': {
      if (to === 'claimed' && turn === earlier) return steps;
      const state = stateOf(earlier) ?? 'interrupted';
      return state === 'interrupted' ? steps : forbidden(`turn ${earlier} is ${state}`);
    }
    case 'done > waiting':
      return stateOf(earlier) === 'answered' ? forbidden(`turn ${earlier} has answered it`) : steps;
    case 'done > done':
    case `done > ${REMOVED}`:
      return steps;
    default:
      return forbidden('it would be forgotten');
  }
}

export function checkLane({ change, before }: CheckedChange<'lane'>): readonly RuleViolation[] {
  const { conversation, epoch, holder } = change;
  if (before === undefined) {
    return epoch > 0 || holder === null
      ? []
      : [createViolation(2, `${holder} took ${conversation} without raising its epoch`)];
  }
  if (epoch < before.epoch) {
    return [
      createViolation(2, `the epoch of ${conversation} fell from ${before.epoch} to ${epoch}`),
    ];
  }
  if (epoch > before.epoch || holder === null || holder === before.holder) return [];
  return [
    createViolation(
      2,
      `${holder} took ${conversation} from ${before.holder ?? 'none'} under the same epoch ${epoch}`,
    ),
  ];
}

const MAX_ATTEMPTS = 10;

export function checkTurn(
  moment: StepMoment,
  { change, before }: CheckedChange<'turn'>,
): readonly RuleViolation[] {
  const { conversation, turn, from, to, attempts } = change;
  const row = `turn ${turn}`;
  const steps = checkContinuity(row, from, before);
  if (from !== null && from !== 'running') {
    return to === REMOVED
      ? steps
      : [...steps, createViolation(6, `${row} went from ${from} to ${to}`)];
  }
  if (to === REMOVED)
    return [...steps, createViolation(6, `${row} was removed while it was running`)];
  const started = attempts - (before?.attempts ?? (from === null ? 0 : attempts));
  const { maxAttempts = MAX_ATTEMPTS } = moment.options;
  const isOften = to === 'running' && (attempts > maxAttempts || started > 1);
  // What a person writes is fenced by the lane's lock, and ends the turn whose messages it answers.
  const isOfPerson = from === null ? to === 'answered' : isEndedByReply(moment, change);
  const isWritten = !isOfPerson && (to === 'running' ? started > 0 : to !== 'stopped');
  const hasNoLetter = to === 'failed' && !moment.letters.has(turn) && belongsToPeople(conversation);
  return [
    ...steps,
    ...(isOften
      ? [createViolation(7, `${row} has ${attempts} attempts, ${started} more than before`)]
      : []),
    ...(isWritten ? checkFence(moment, conversation, `${row} became ${to}`) : []),
    ...(hasNoLetter ? [createViolation(13, `${row} failed without a dead letter`)] : []),
  ];
}

/** Whether the step stores a person's reply that interrupted this turn. */
function isEndedByReply(
  { applied }: StepMoment,
  { conversation, to }: CheckedChange<'turn'>['change'],
): boolean {
  if (to !== 'interrupted') return false;
  return applied.some((one) => {
    if (one.kind !== 'turn' || one.change.conversation !== conversation) return false;
    return one.change.from === null && one.change.to === 'answered';
  });
}

/**
 * Nobody waits for a heartbeat or a sub-agent, so their failed turns do not leave a dead letter.
 */
function belongsToPeople(conversation: string): boolean {
  return !isLane(conversation, HEARTBEAT_LANE, SUB_AGENT_LANE);
}

/** Checks rules 1, 4 and 5 for the conversations that a step touched. */
export function checkConversations({
  tables,
  applied,
  began,
  restarted,
}: StepMoment): readonly RuleViolation[] {
  const touched = new Set(
    applied.flatMap(({ change }) => ('conversation' in change ? [change.conversation] : [])),
  );
  const claimed = applied.flatMap((one) =>
    one.kind === 'message' && one.change.from === 'waiting' && one.change.to === 'claimed'
      ? [one.change]
      : [],
  );
  // Messages that returned to waiting in this step, or were stored with it, were not waiting when
  // the claim was made.
  const fresh = new Set(
    applied.flatMap(({ change }) => ('message' in change ? [change.message] : [])),
  );
  return [...touched].flatMap((conversation) => {
    const running = listRunningTurns(tables, conversation);
    const found: RuleViolation[] = [];
    if (running.length > 1)
      found.push(createViolation(1, `${conversation} runs ${running.join(' and ')}`));
    const waiting = listMessages(tables, conversation, 'waiting').filter((id) => !fresh.has(id));
    for (const { message, turn } of claimed.filter((one) => one.conversation === conversation)) {
      // The answer to a question of a turn may come behind other people's messages.
      if (turn !== null && restarted.has(turn) && !began.has(turn)) continue;
      const skipped = waiting.find((id) => id < message);
      if (skipped !== undefined)
        found.push(createViolation(4, `turn ${turn} took message ${message} before ${skipped}`));
    }
    for (const id of listMessages(tables, conversation, 'claimed')) {
      const turn = tables.messages.get(id)?.turn ?? null;
      const state = turn === null ? 'unknown' : tables.turns.get(turn)?.state;
      if (state !== undefined && state !== 'running') {
        found.push(
          createViolation(5, `message ${id} is claimed by turn ${turn}, which is ${state}`),
        );
      }
    }
    return found;
  });
}
