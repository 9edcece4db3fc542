import { type Button, type CommittedParts, type LiveEvent, reasonOf } from '@parley/core';
import type { NewPart, PartWithBytes, TurnCommit } from '@parley/store';
import { closeCodeFence, renderAnswerParts } from '../answer/long-answer.ts';
import {
  getVisibleAnswer,
  markSystemMessage,
  type QuotableMessages,
  type VisibleAnswer,
} from '../answer/visible-text.ts';
import type { FinalStep, StepUsage } from '../loop/turn-journal.ts';
import { DEFAULT_TURN_LIMITS } from '../loop/turn-limits.ts';
import type { TurnMedia } from '../media/turn-media.ts';
import { renderParts } from '../post-message.ts';
import type { FinalNotice, TurnServices } from './means.ts';
import type { TurnRun } from './run.ts';
import { deliversElsewhere, type Turn } from './turn.ts';
import { createTextEntry, joinMessageTexts, listQuotableMessages } from './turn-text.ts';

/** The outcome of a turn's run. `reason` states why the turn failed or stayed silent. */
export interface TurnOutcome {
  readonly outcome: Extract<LiveEvent, { type: 'turn-ended' }>['outcome'];
  readonly reason?: string;
  readonly fresh?: CommittedParts | undefined;
}

export interface TurnToCommit {
  readonly turn: Turn;
  readonly run: TurnRun;
  readonly media: Pick<TurnMedia, 'forHistory'>;
  /** Notices for the person, sent as separate messages after the answer. */
  readonly notices: readonly string[];
}

/** Commits what people see of the model's answer: its parts, or nothing (G09). */
export async function commitAnswer(
  services: TurnServices,
  ending: TurnToCommit,
  step: FinalStep,
): Promise<TurnOutcome> {
  const { turn, run } = ending;
  const { text, usage, isJson } = step;
  const answer = renderVisibleAnswer(step, listQuotableMessages(turn, run.journal.joined()));
  const remembered = answer.kind === 'says' ? answer.text : text;
  const entries = [createUserEntry(ending), createTextEntry('assistant', remembered)];
  const said = { ...getUnstoredState(ending), entries, usage, account: turn.account };
  if (answer.kind === 'silent') {
    const { reason } = answer;
    return commitTurnOutcome(services, run, { ...said, outcome: 'silent', reason, parts: [] });
  }
  // A program that reads raw Markdown receives the bare JSON.
  const isBare = turn.route.target.dialect === 'markdown';
  const shownText = isJson && !isBare ? fenceJson(remembered) : remembered;
  const { replyTo } = answer;
  const route = replyTo === undefined ? turn.route : { ...turn.route, replyToMessageId: replyTo };
  const parts = await renderAnswerParts(shownText, route, getMaxMessages(services));
  if (parts.length === 0) return commitFailure(services, ending, { ...NOTHING_TO_SHOW, usage });
  // The button is placed below the answer, whose parts may already have been streamed.
  const isPlan = turn.mode === 'plan' && turn.lead.message.trigger === undefined;
  const shown = isPlan ? addPlanButton(parts, turn.turnId) : parts;
  const all = [...shown, ...(await createExtraNotices(ending))];
  return commitTurnOutcome(services, run, { ...said, outcome: 'answered', parts: all, isPlan });
}

/** The visible text of an answer (G08–G10). JSON for a program is visible as a whole. */
export function renderVisibleAnswer(
  { text, isJson }: FinalStep,
  quotable: QuotableMessages,
): VisibleAnswer {
  return isJson ? { kind: 'says', text } : getVisibleAnswer(text, quotable);
}

function getMaxMessages({ limits }: TurnServices): number {
  return limits?.messages ?? DEFAULT_TURN_LIMITS.messages;
}

/**
 * The code block prevents the JSON from being interpreted as Markdown. Channels without Markdown
 * show the JSON without a block.
 */
function fenceJson(json: string): string {
  const longest = Math.max(2, ...[...json.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}json\n${json}\n${fence}`;
}

function addPlanButton(parts: readonly PartWithBytes[], turnId: string): readonly PartWithBytes[] {
  const buttons: Button[] = [{ label: 'Run the plan', data: `/run ${turnId}`, style: 'primary' }];
  return parts.map((part, at) => (at === parts.length - 1 ? { ...part, buttons } : part));
}

/** Commits a notice instead of an answer. */
export async function commitFailure(
  services: TurnServices,
  ending: TurnToCommit,
  { notice, reason, usage }: FinalNotice & { readonly usage?: StepUsage },
): Promise<TurnOutcome> {
  const { turn, run } = ending;
  return commitTurnOutcome(services, run, {
    ...getUnstoredState(ending),
    outcome: 'failed',
    reason,
    entries: [createUserEntry(ending)],
    parts: [...(await createNoticeParts(turn, notice)), ...(await createExtraNotices(ending))],
    // The steps before the failure are charged as well.
    usage: usage ?? run.journal.spent(),
    account: turn.account,
  });
}

/**
 * Commits a system message instead of an answer. The message is not added to the history, but the
 * next turn sees it as a message from Parley.
 */
export async function commitNotice(
  services: TurnServices,
  { turn, run }: Pick<TurnToCommit, 'turn' | 'run'>,
  notice: string,
): Promise<TurnOutcome> {
  const parts = await createNoticeParts(turn, notice);
  const hadNoGroupContext = turn.groupContext.length === 0;
  const said = { turnId: turn.turnId, hadNoGroupContext, entries: [], usage: null };
  return commitTurnOutcome(services, run, { ...said, outcome: 'answered', parts });
}

/**
 * Stores what people saw of an answer before they stopped it, for them and for the model (U08).
 * Best effort, since the stop itself is already stored. On platforms that do not stream answers,
 * people have seen nothing.
 */
export async function savePartialAnswer(
  services: TurnServices,
  ending: TurnToCommit,
  shown: string,
): Promise<void> {
  const { turnId, conversationId, route } = ending.turn;
  if (route.streams !== true || shown.trim() === '') return;
  const stopped = createTextEntry('assistant', `${shown}\n\n[Stopped here by the user.]`);
  const entries = [createUserEntry(ending), stopped];
  try {
    const text = `${closeCodeFence(shown)}\n\n*Stopped.*`;
    const parts = await renderAnswerParts(text, route, getMaxMessages(services));
    const kept = await services.store.files.withParts(parts, (stored) =>
      services.store.turns.savePartialAnswer(
        { conversationId, turnId, entries, parts: stored },
        services.clock(),
      ),
    );
    if (kept !== null) await services.deliver(route.channel, route.account, route.chatId);
  } catch (error) {
    services.log.warn(
      { turn: turnId, reason: reasonOf(error) },
      'the beginning of a stopped answer could not be stored',
    );
  }
}

/** Results of the run that have not been stored yet. */
function getUnstoredState({ turn, run }: TurnToCommit) {
  return {
    turnId: turn.turnId,
    step: run.journal.unstored(),
    prompt: run.prompt?.forCommit(),
    hadNoGroupContext: turn.groupContext.length === 0,
  };
}

/** The commit for a turn whose answer may be a file that has not been stored yet. */
type AnswerCommit = Omit<TurnCommit, 'parts'> & { readonly parts: readonly PartWithBytes[] };

async function commitTurnOutcome(
  services: TurnServices,
  { lease }: TurnRun,
  turn: AnswerCommit,
): Promise<TurnOutcome> {
  const { tracer, meter, clock, monotonic, store } = services;
  const startedAt = monotonic();
  const leaves = lease.onLeft !== undefined;
  let fresh: CommittedParts | undefined;
  const facts = { parts: turn.parts.length };
  const result = await tracer.span('parley.outbox', { facts }, ({ trace }) =>
    store.files.withParts(turn.parts, (parts) =>
      store.lanes.commit(lease, { ...turn, parts, trace, leaves }, clock(), (stored) => {
        fresh = stored;
      }),
    ),
  );
  if (result === 'left') lease.onLeft?.();
  meter.observe('parley_commit_seconds', monotonic() - startedAt, { outcome: turn.outcome });
  if (result === 'fenced') return { outcome: 'fenced' };
  for (const { route } of turn.parts) {
    meter.count('parley_outbox_queued_total', { channel: route.channel });
  }
  services.checkpoint('turn-committed');
  const { outcome, reason } = turn;
  return { outcome, fresh, ...(reason === undefined ? {} : { reason }) };
}

function createUserEntry({ turn, run, media }: TurnToCommit) {
  return createTextEntry(
    'user',
    joinMessageTexts([...turn.messages, ...run.journal.joined()], media.forHistory),
  );
}

async function createExtraNotices({ turn, notices }: TurnToCommit): Promise<readonly NewPart[]> {
  return notices.length === 0
    ? []
    : renderParts(markSystemMessage(notices.join('\n\n')), turn.route);
}

/**
 * Renders a notice. If it goes to the turn's own chat, the next turn there sees it as coming from
 * Parley (P18).
 */
async function createNoticeParts(
  { conversationId, messages, route }: Turn,
  text: string,
): Promise<readonly NewPart[]> {
  const parts = await renderParts(markSystemMessage(text), route);
  return parts.map((part, at) =>
    at > 0 || deliversElsewhere(messages) ? part : { ...part, notice: { conversationId, text } },
  );
}

const NOTHING_TO_SHOW: FinalNotice = {
  notice: 'The model answered with nothing that can be shown. Please ask again, or in other words.',
  reason: 'nothing to show',
};
