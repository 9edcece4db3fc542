import {
  type Button,
  type FreshParts,
  type LiveEvent,
  type Reader,
  type ReplyRoute,
  reasonOf,
} from '@parley/core';
import type { ModelError } from '@parley/models';
import type { LaneLease } from '@parley/queue';
import type { ClaimedTurn, NewPart, PartWithBytes, TurnCommit } from '@parley/store';
import { answerParts, DEFAULT_ANSWER_MESSAGES, withFenceClosed } from './answer/long-answer.ts';
import {
  marked,
  type QuotableMessages,
  type VisibleAnswer,
  visibleText,
} from './answer/visible-text.ts';
import type { FinalStep, StepUsage } from './loop/turn-journal.ts';
import { renderParts } from './post-message.ts';
import { accountOfTurn } from './spend.ts';
import type { SeenTurn } from './turn-answer.ts';
import { deliversElsewhere, leadingMessage, quotableIn, spoken, textOf } from './turn-opening.ts';
import type { TurnServices } from './turn-services.ts';

/** `reason`: why it failed or stayed silent. */
export interface Ending {
  readonly outcome: Extract<LiveEvent, { type: 'turn-ended' }>['outcome'];
  readonly reason?: string;
  readonly fresh?: FreshParts | undefined;
}

export type EndingTurn = Omit<SeenTurn, 'opened'>;

/** Commits what people see of the model's answer: its parts, or nothing (G09). */
export async function giveAnswer(
  deps: TurnServices,
  seen: EndingTurn,
  lease: LaneLease,
  step: FinalStep,
): Promise<Ending> {
  const { turn } = seen;
  const { text, usage, isJson } = step;
  const answer = seenOf(step, quotableIn(turn, seen.journal.joined()));
  const remembered = answer.kind === 'says' ? answer.text : text;
  const entries = [asked(seen), spoken('assistant', remembered)];
  const said = { ...kept(seen), entries, usage, account: accountOfTurn(turn, deps) };
  if (answer.kind === 'silent') {
    const { reason } = answer;
    return commit(deps, lease, { ...said, outcome: 'silent', reason, parts: [] });
  }
  // A program that reads Markdown as it is written reads the JSON itself.
  const isBare = leadingMessage(turn).route.target.dialect === 'markdown';
  const shownText = isJson && !isBare ? fenced(remembered) : remembered;
  const most = deps.limits?.messages ?? DEFAULT_ANSWER_MESSAGES;
  const parts = await answerParts(shownText, routeOf(turn, answer.replyTo), most);
  if (parts.length === 0) {
    return giveUp(deps, seen, lease, { notice: NOTHING_TO_SHOW, reason: 'nothing to show', usage });
  }
  // After the answer, whose parts may have been streamed already.
  const isPlan = turn.mode === 'plan' && leadingMessage(turn).message.trigger === undefined;
  const shown = isPlan ? withPlanButton(parts, turn.turnId) : parts;
  const all = [...shown, ...(await noticeOf(seen))];
  return commit(deps, lease, { ...said, outcome: 'answered', parts: all, isPlan });
}

/** What people see of an answer (G08–G10); JSON for a program is all of it. */
export function seenOf({ text, isJson }: FinalStep, quotable: QuotableMessages): VisibleAnswer {
  return isJson ? { kind: 'says', text } : visibleText(text, quotable);
}

/** As a block of code no sign of it is taken for Markdown; where a channel has no Markdown it is the bare JSON. */
function fenced(json: string): string {
  const longest = Math.max(2, ...[...json.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}json\n${json}\n${fence}`;
}

function withPlanButton(parts: readonly PartWithBytes[], turnId: string): readonly PartWithBytes[] {
  const buttons: Button[] = [{ label: 'Run the plan', data: `/run ${turnId}`, style: 'primary' }];
  return parts.map((part, at) => (at === parts.length - 1 ? { ...part, buttons } : part));
}

interface NoAnswer {
  readonly notice: string;
  readonly reason: string;
  readonly usage?: StepUsage | null;
}

export async function giveUp(
  deps: TurnServices,
  seen: EndingTurn,
  lease: LaneLease,
  { notice, reason, usage = seen.journal.spent() }: NoAnswer,
): Promise<Ending> {
  const { turn } = seen;
  return commit(deps, lease, {
    ...kept(seen),
    outcome: 'failed',
    reason,
    entries: [asked(seen)],
    parts: [...(await noticeParts(turn, notice)), ...(await noticeOf(seen))],
    // Steps before the failure cost something, too.
    usage,
    account: accountOfTurn(turn, deps),
  });
}

/**
 * Keeps what people have seen of an answer before they stopped it, for them and for the model (U08): best effort, as
 * the stop itself is stored. Where answers are not shown while they grow there is nothing to keep.
 */
export async function keepStopped(
  deps: TurnServices,
  seen: EndingTurn,
  shown: string,
): Promise<void> {
  const { turn } = seen;
  const { route } = leadingMessage(turn);
  if (route.streams !== true || shown.trim() === '') return;
  const { turnId, conversationId } = turn;
  const entries = [asked(seen), spoken('assistant', `${shown}\n\n[Stopped here by the user.]`)];
  try {
    const most = deps.limits?.messages ?? DEFAULT_ANSWER_MESSAGES;
    const text = `${withFenceClosed(shown)}\n\n*Stopped.*`;
    const parts = await answerParts(text, route, most);
    const kept = await deps.store.files.withParts(parts, (stored) =>
      deps.store.turns.keepStopped(
        { conversationId, turnId, entries, parts: stored },
        deps.clock(),
      ),
    );
    if (kept !== null) await deps.deliver(route.channel, route.account, route.chatId);
  } catch (error) {
    deps.log.warn(
      { turn: turnId, reason: reasonOf(error) },
      'what a stopped answer had said is not kept',
    );
  }
}

/** Commits a system message instead of an answer; it enters no history, and the next turn has it as Parley's own. */
export async function giveNotice(
  deps: TurnServices,
  turn: ClaimedTurn,
  lease: LaneLease,
  notice: string,
): Promise<Ending> {
  const parts = await noticeParts(turn, notice);
  const hadNoGroupContext = turn.groupContext.length === 0;
  const said = { turnId: turn.turnId, hadNoGroupContext, entries: [], usage: null };
  return commit(deps, lease, { ...said, outcome: 'answered', parts });
}

function kept({ turn, journal, prompt }: EndingTurn) {
  return {
    turnId: turn.turnId,
    step: journal.unstored(),
    prompt: prompt?.forCommit(),
    hadNoGroupContext: turn.groupContext.length === 0,
  };
}

/** The end of a turn whose answer may be a file that is not stored yet. */
type AnswerCommit = Omit<TurnCommit, 'parts'> & { readonly parts: readonly PartWithBytes[] };

async function commit(deps: TurnServices, lease: LaneLease, turn: AnswerCommit): Promise<Ending> {
  const { tracer, meter, clock, monotonic } = deps;
  const startedAt = monotonic();
  const leaves = lease.onLeft !== undefined;
  let fresh: FreshParts | undefined;
  const facts = { parts: turn.parts.length };
  const result = await tracer.span('parley.outbox', { facts }, ({ trace }) =>
    deps.store.files.withParts(turn.parts, (parts) =>
      deps.store.lanes.commit(lease, { ...turn, parts, trace, leaves }, clock(), (stored) => {
        fresh = stored;
      }),
    ),
  );
  if (result === 'left') lease.onLeft?.();
  meter.observe('parley_commit_seconds', monotonic() - startedAt, { outcome: turn.outcome });
  for (const { route } of result === 'fenced' ? [] : turn.parts) {
    meter.count('parley_outbox_queued_total', { channel: route.channel });
  }
  if (result === 'fenced') return { outcome: 'fenced' };
  deps.pass('turn-committed');
  const { outcome, reason } = turn;
  return { outcome, fresh, ...(reason === undefined ? {} : { reason }) };
}

function asked({ turn, media, journal }: EndingTurn) {
  return spoken('user', textOf([...turn.messages, ...journal.joined()], media.forHistory));
}

async function noticeOf({ turn, media }: EndingTurn): Promise<readonly NewPart[]> {
  return media.notice === null ? [] : partsOf(turn, marked(media.notice));
}

/** A notice in the turn's own chat is known to the next turn there, as from Parley (P18). */
async function noticeParts(turn: ClaimedTurn, text: string): Promise<readonly NewPart[]> {
  const parts = await partsOf(turn, marked(text));
  const { conversationId } = turn;
  return parts.map((part, at) =>
    at > 0 || deliversElsewhere(turn) ? part : { ...part, notice: { conversationId, text } },
  );
}

function partsOf(turn: ClaimedTurn, markdown: string): Promise<readonly NewPart[]> {
  return renderParts(markdown, leadingMessage(turn).route);
}

/** Replies to the message that the answer names, else to the one the route does. */
function routeOf(turn: ClaimedTurn, replyTo: string | undefined): ReplyRoute {
  const { route } = leadingMessage(turn);
  return replyTo === undefined ? route : { ...route, replyToMessageId: replyTo };
}

export const GAVE_UP =
  'Something went wrong each time I tried to answer this, and I have given up on it. Please ask again; the log says what it was.';

const NOTHING_TO_SHOW =
  'The model answered with nothing that can be shown. Please ask again, or in other words.';

/**
 * The message to a person when the model gave no answer. Only an owner reads about servers, keys and
 * settings.
 */
export function failureText(error: ModelError, reader: Reader): string {
  if (reader.kind === 'owner') return error.message;
  switch (error.failure.kind) {
    case 'too-long':
      return 'This is too long for my model, even without the older part of our conversation. Please send less text at once, or /new to start again.';
    case 'filtered':
      return 'My model declined to answer this. Please put it in other words.';
    case 'rate-limited':
    case 'overloaded':
      return 'My model has too much to do just now. Please try again in a while.';
    default:
      return 'I could not get an answer from my model. Please try again later.';
  }
}
