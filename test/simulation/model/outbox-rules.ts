import { type ChangeOf, isGivenUp } from './apply-step.ts';
import { type CheckedChange, checkContinuity, createViolation, type StepMoment } from './moment.ts';
import type { RuleViolation } from './rules.ts';
import { findFirstUnfinished, REMOVED, type TracedPart } from './traced-tables.ts';

export function checkPart(
  moment: StepMoment,
  { change, before }: CheckedChange<'part'>,
): readonly RuleViolation[] {
  const { part, chat, turn, from, to, order } = change;
  const row = `part ${part}`;
  const steps = checkContinuity(row, from, before);
  const hasNoLetter =
    isGivenUp(to) &&
    !isGivenUp(from) &&
    turn !== null &&
    !moment.letters.has(part) &&
    !isWithheld(moment, turn);
  const letter = hasNoLetter
    ? [createViolation(13, `${row} became ${to} without a dead letter`)]
    : [];
  const joins = from === null || (isGivenUp(from) && to === 'pending');
  const place =
    joins && !isLastPart(moment, chat, order)
      ? [createViolation(8, `${row} was placed before existing parts of ${chat}`)]
      : [];
  switch (`${from} > ${to}`) {
    case 'null > pending':
      return [...steps, ...place, ...checkOrigin(moment, part, turn)];
    case 'failed > pending':
    case 'unknown > pending':
      return [...steps, ...place];
    case 'sending > pending':
      return [...steps, ...checkRetry(moment, part, chat, before)];
    case 'pending > sending':
    case 'sending > sent':
    case `sent > ${REMOVED}`:
    case `failed > ${REMOVED}`:
    case `unknown > ${REMOVED}`:
      return steps;
    case 'sending > failed':
    case 'sending > unknown':
    // The rest of an answer whose chat is closed to the bot.
    case 'pending > failed':
      return [...steps, ...letter];
    case 'pending > sent':
      return [...steps, createViolation(11, `${row} was sent without being marked first`)];
    default:
      return [...steps, createViolation(9, `${row} went from ${from} to ${to}`)];
  }
}

/**
 * Rule 11: a part that the platform has may be sent again only under a key, unless the deployment
 * or a person asks for it.
 */
function checkRetry(
  { options }: StepMoment,
  part: string,
  chat: string,
  before: TracedPart | undefined,
): readonly RuleViolation[] {
  if (before === undefined || before.key !== null || before.timesShown <= before.resends) return [];
  if (options.mayRepeat?.(chat, part) === true) return [];
  return [
    createViolation(
      11,
      `part ${part} is to be sent again, but the platform has it and has no keys`,
    ),
  ];
}

/** Whether every part that was in the chat before this step comes earlier. */
function isLastPart({ tables, applied }: StepMoment, chat: string, order: number): boolean {
  const changed = new Set(applied.flatMap((one) => (one.kind === 'part' ? [one.change.part] : [])));
  for (const [id, other] of tables.parts) {
    if (other.chat === chat && other.order > order && !changed.has(id)) return false;
  }
  return true;
}

/**
 * Rule 10: a running turn may post to other chats, and the partial answer of a stopped turn is
 * kept.
 */
function checkOrigin(
  { tables, applied }: StepMoment,
  part: string,
  turn: string | null,
): readonly RuleViolation[] {
  const state = turn === null ? undefined : tables.turns.get(turn)?.state;
  if (state === undefined || state === 'running' || state === 'stopped') return [];
  const endsNow = applied.some(
    (one) => one.kind === 'turn' && one.change.turn === turn && one.change.from !== one.change.to,
  );
  return endsNow
    ? []
    : [createViolation(10, `part ${part} was added to turn ${turn}, which is ${state}`)];
}

export function checkSent(
  moment: StepMoment,
  { part, key, chat }: ChangeOf<'sent'>,
  before: TracedPart | undefined,
): readonly RuleViolation[] {
  const row = `part ${part}`;
  if (before === undefined) return [];
  const { state, resends, timesShown, wasMarked } = before;
  const mayRepeat = moment.options.mayRepeat?.(chat, part) === true;
  const isHarmless = key !== null || mayRepeat || resends > 0;
  const found: RuleViolation[] = [];
  if (!wasMarked) found.push(createViolation(11, `the platform got ${row} while it was ${state}`));
  else if (state === 'pending' && !isHarmless) {
    found.push(
      createViolation(11, `the platform got ${row}, which has no key and waits to be sent again`),
    );
  }
  if (before.key !== undefined && before.key !== key) {
    found.push(createViolation(12, `${row} was sent under the keys ${before.key} and ${key}`));
  }
  if (timesShown > resends && !mayRepeat) {
    found.push(
      createViolation(
        12,
        `${row} was shown ${timesShown + 1} times, but people resent it ${resends} times`,
      ),
    );
  }
  return found;
}

/** Checks rule 8 for the parts that a step marked. */
export function checkChats({ tables, applied }: StepMoment): readonly RuleViolation[] {
  return applied.flatMap((one) => {
    if (one.kind !== 'part' || one.change.to !== 'sending' || one.change.from === 'sending')
      return [];
    const { part, chat, order } = one.change;
    const earlier = findFirstUnfinished(tables, chat);
    const first = earlier === undefined ? undefined : tables.parts.get(earlier);
    if (first === undefined || first.order >= order) return [];
    return [
      createViolation(
        8,
        `part ${part} is being sent while ${earlier} of the same chat is ${first.state}`,
      ),
    ];
  });
}

/**
 * Whether a person takes over a turn's chat in this step: its lane has a higher epoch and no
 * holder.
 */
function isWithheld({ applied, tables }: StepMoment, turn: string): boolean {
  const conversation = tables.turns.get(turn)?.conversation;
  return applied.some((one) => {
    if (one.kind !== 'lane' || one.before === undefined) return false;
    const { change, before } = one;
    const isRaised = change.holder === null && change.epoch > before.epoch;
    return isRaised && change.conversation === conversation;
  });
}
