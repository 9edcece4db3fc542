import { decodeLiteralText, type ReplyRoute, toLiteralMarkdown } from '@parley/core';
import { type Approval, type Lease, type NewPart, SENT_FILES } from '@parley/store';
import { renderParts } from '../post-message.ts';
import { type PersonAnswer, type PersonQuestion, TurnSuspendedError } from '../tools/tool.ts';
import type { Turn } from '../turn/turn.ts';
import {
  createApproval,
  formatMinutes,
  type GateServices,
  storeQuestion,
} from './stored-question.ts';

/**
 * How long a question in a group waits, in ms. The deadline is shorter than in a direct chat
 * because the rest of the group has to wait as well.
 */
const GROUP_WAIT_MS = 10 * 60_000;

/**
 * Asks the person whom a turn answers, once per call (`ask_user`). The question and the suspension
 * of the turn are stored in one transaction and TurnSuspendedError is thrown, as for approvals. The
 * run after the answer calls this function again and gets the answer.
 */
export async function askPerson(
  deps: GateServices,
  turn: Turn,
  lease: Lease,
  call: string,
  asking: PersonQuestion,
): Promise<PersonAnswer> {
  const { question, choices, part } = asking;
  // Uses a separate key, because the same call may also have needed an approval.
  const callKey = part === undefined ? `${call}.ask` : `${call}.ask.${part}`;
  const asked = await deps.store.approvals.of(turn.turnId, callKey);
  if (asked !== null) return toPersonAnswer(asked);
  const { lead, route } = turn;
  const { message } = lead;
  if (message.trigger !== undefined) return { kind: 'no-person' };
  const isGroup = message.chat.type !== 'direct';
  const waitMs = Math.min(deps.rules.waitMs, isGroup ? GROUP_WAIT_MS : Number.POSITIVE_INFINITY);
  const text = formatPersonQuestion(asking, isGroup ? message.sender.name : null, waitMs);
  const bodies = await renderParts(text, route);
  await storeQuestion(deps, turn, lease, async () => {
    const about = { tool: 'ask_user', callKey, shown: decodeLiteralText(question), rule: null };
    const made = createApproval(deps, turn, about);
    const approval = { ...made, approvers: [], choices, expiresAt: deps.clock() + waitMs };
    return { approval, parts: addButtons(bodies, asking, approval.code, route) };
  });
  // The lease is lost, so the worker that now holds the lane asks the question.
  throw new TurnSuspendedError('ask_user');
}

/** The maximum length of a choice, in characters; it fits on a button on every platform. */
export const CHOICE_CHARACTERS = 60;
/** The maximum number of choices; they fit into a Discord menu. */
export const MAX_CHOICES = 25;
/** The number of buttons per part if the route does not specify a maximum. */
const USUAL_BUTTONS = 8;

const SKIP = { label: 'Skip', does: 'leaves it open' } as const;

function addButtons(
  parts: readonly NewPart[],
  { choices, skip = SKIP }: PersonQuestion,
  code: string,
  { inputs, maxButtons = USUAL_BUTTONS }: Pick<ReplyRoute, 'inputs' | 'maxButtons'>,
): readonly NewPart[] {
  const others = [
    ...(inputs ? [{ label: 'Answer…', data: `/answer ${code}`, asks: 'Your answer' }] : []),
    {
      ...{ label: skip.label, data: `/answer ${code} skip` },
      ...('style' in skip && { style: skip.style }),
    },
  ];
  // If the buttons do not fit, people choose by number.
  const shown = choices.length + others.length > maxButtons ? [] : choices;
  const buttons = [
    ...shown.map((label, at) => ({ label, data: `/answer ${code} ${at + 1}` })),
    ...others,
  ];
  return parts.map((part, at) => (at === parts.length - 1 ? { ...part, buttons } : part));
}

/**
 * The question as shown to people. `name` is the person asked; it is given only in groups, where
 * other people read the question too.
 */
function formatPersonQuestion(
  { question, choices, skip = SKIP }: PersonQuestion,
  name: string | null,
  waitMs: number,
): string {
  const whom = name === null ? '' : `${toLiteralMarkdown(name)}: `;
  const list = choices.map((choice, at) => `${at + 1}. ${toLiteralMarkdown(choice)}`).join('\n');
  const reply = name === null ? 'Answer' : 'Reply to this message';
  const means = choices.length === 0 ? 'with a message' : 'with a number or in your own words';
  const how = `${reply} ${means}; \`skip\` ${skip.does}. I’ll wait ${formatMinutes(waitMs)}.`;
  return [`${whom}${question}`, list, how].filter((text) => text !== '').join('\n\n');
}

function toPersonAnswer({ state, answer, choices, askedAt, expiresAt }: Approval): PersonAnswer {
  if (state !== 'answered') return { kind: 'late', waited: formatMinutes(expiresAt - askedAt) };
  if (answer === null) return { kind: 'skipped' };
  if (choices?.includes(answer)) return { kind: 'chose', answer };
  return { kind: 'wrote', answer, ...(answer === SENT_FILES && { sentFiles: true }) };
}
