import { setTimeout as sleep } from 'node:timers/promises';
import { REAL_LIMITS, type SlackDouble, startSlackDouble } from '@parley/simulators/slack';
import { openSlackRooms, type SlackRoom } from '../crash/slack-people.ts';
import { judgeConversation } from '../crash/verdict.ts';
import { findQuestions, findStretches, formatQuestion, type Question } from '../crash/words.ts';
import { type ChatRequest, getMessageText } from '../model/chat-request.ts';
import { type ModelDouble, startModelDouble } from '../model/index.ts';
import { findFreePort } from '../services/free-port.ts';
import { SupervisedBot } from './kept-running.ts';
import type { KillScale } from './kill-plan.ts';
import { startRedisSide } from './servers.ts';
import {
  getRequestUrl,
  listUncertainParts,
  type SlackSubject,
  startSlackBot,
} from './slack-subjects.ts';

/** The outcomes of the questions to one bot. */
export interface KillTally {
  readonly subject: SlackSubject;
  readonly questions: number;
  readonly kills: number;
  readonly answered: number;
  /** Questions without an answer, unless the bot reports that the answer may have arrived. */
  readonly lost: number;
  /** Lost questions that Slack stopped delivering because each of its attempts met a restart. */
  readonly undelivered: number;
  /** Questions that were answered twice. */
  readonly doubled: number;
  /** Answers that the bot reports as possibly delivered. */
  readonly uncertain: number;
  /** How often the model was asked. */
  readonly requests: number;
  /** How often the bot ended without being killed. */
  readonly crashes: number;
}

/** How long the model thinks before it answers, in ms. */
const THINKING_MS = 1_000;
const POLL_INTERVAL_MS = 1_000;

interface SideParts {
  readonly subject: SlackSubject;
  readonly folder: string;
  readonly scale: KillScale;
  readonly double: SlackDouble;
  readonly model: ModelDouble;
  readonly bot: SupervisedBot;
}

/** One bot with its own Slack, its own model and, if needed, its own Redis. */
export class KilledSide {
  readonly #parts: SideParts;
  readonly #rooms: ReadonlyMap<number, SlackRoom>;
  readonly #asked = new Map<number, number>();
  readonly #opened: AsyncDisposableStack;
  #isStopped = false;

  private constructor(parts: SideParts, opened: AsyncDisposableStack) {
    const { double, scale } = parts;
    const senders = Array.from({ length: scale.chats }, (_, index) => index + 1);
    this.#parts = parts;
    this.#opened = opened;
    this.#rooms = new Map(openSlackRooms(double, senders).map((room) => [room.sender, room]));
  }

  static async open(subject: SlackSubject, folder: string, scale: KillScale): Promise<KilledSide> {
    await using opened = new AsyncDisposableStack();
    const retries = { delaysMs: scale.retryMs };
    const double = await startSlackDouble({ limits: REAL_LIMITS, retries });
    opened.defer(() => double.close());
    let replies = 0;
    const model = await startModelDouble({
      latencyMs: THINKING_MS,
      reply(request) {
        replies += 1;
        return replyTo(request, replies);
      },
    });
    opened.defer(() => model.close());
    const redis = subject === 'parley' ? undefined : await startRedisSide();
    opened.defer(async () => redis?.close());
    const port = await findFreePort();
    const options = {
      ...{ folder, port, slack: double, modelUrl: model.baseUrl, redisUrl: redis?.url ?? '' },
    };
    const bot = new SupervisedBot(() => startSlackBot(subject, options));
    opened.defer(() => bot.stop());
    await bot.ready();
    await double.setRequestUrl(getRequestUrl(subject, port));
    return new KilledSide({ subject, folder, scale, double, model, bot }, opened.move());
  }

  ask(question: Question): void {
    const { sender, number } = question;
    const room = this.#rooms.get(sender);
    if (room === undefined) throw new Error(`${sender} is in no chat.`);
    this.#asked.set(sender, number);
    const { channel, from, threadTs, mention } = room;
    this.#parts.double.say({
      channel,
      from,
      threadTs,
      text: `${mention}${formatQuestion(question)}`,
    });
  }

  kill(): void {
    this.#parts.bot.kill();
  }

  /**
   * Resolves when every question has an answer, or when Slack no longer redelivers and the bot has
   * not asked the model for a while.
   */
  async untilOver(): Promise<void> {
    const { scale, model } = this.#parts;
    let requests = model.total;
    let movedAt = Date.now();
    while (this.#missing() > 0 && Date.now() < movedAt + scale.quietMs) {
      await sleep(POLL_INTERVAL_MS);
      if (model.total > requests || this.#isDelivering()) movedAt = Date.now();
      requests = model.total;
    }
  }

  /** Stops the bot and counts the outcomes. */
  async count(): Promise<KillTally> {
    const { subject, folder, bot, model } = this.#parts;
    await this.close();
    const uncertain = listUncertainParts(subject, folder);
    const chats = [...this.#rooms.values()].map((room) =>
      judgeConversation({
        asked: new Map([[room.sender, this.#asked.get(room.sender) ?? 0]]),
        heard: this.#heard(room),
        uncertain: uncertain
          .filter(({ chatId }) => chatId === room.channel)
          .flatMap(({ text }) => findStretches(text)),
      }),
    );
    const lost = chats.flatMap(({ faults }) => faults).filter((fault) => fault.endsWith('is lost'));
    const doubled = chats.reduce((total, verdict) => total + verdict.doubled, 0);
    const questions = [...this.#asked.values()].reduce((total, count) => total + count, 0);
    return {
      ...{ subject, questions, kills: bot.kills, answered: questions - this.#missing() },
      ...{ lost: lost.length, undelivered: this.#undelivered(lost) },
      ...{ doubled, uncertain: uncertain.length },
      ...{ requests: model.total, crashes: bot.crashes },
    };
  }

  async close(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    await this.#opened.disposeAsync();
  }

  #heard({ channel }: SlackRoom) {
    return this.#parts.double
      .conversation(channel)
      .filter(({ from }) => from === 'bot')
      .flatMap(({ text }) => findStretches(text));
  }

  /** The number of questions in these faults that Slack has tried to deliver in vain. */
  #undelivered(faults: readonly string[]): number {
    const { double, scale } = this.#parts;
    const failed = double
      .deliveries()
      .filter((one) => one.attempt === scale.retryMs.length && one.outcome !== 'acknowledged')
      .map(({ payload }) => JSON.stringify(payload));
    const names = faults.flatMap(findQuestions).map(formatQuestion);
    return names.filter((text) => failed.some((event) => event.includes(`${text}"`))).length;
  }

  /** Whether Slack will redeliver anything. */
  #isDelivering(): boolean {
    const { double, scale } = this.#parts;
    const last = new Map(double.deliveries().map((one) => [one.payload.event_id, one]));
    return [...last.values()].some(
      ({ attempt, outcome }) =>
        outcome === 'pending' || (outcome !== 'acknowledged' && attempt < scale.retryMs.length),
    );
  }

  /** The number of questions without an answer. */
  #missing(): number {
    return [...this.#rooms.values()].reduce((total, room) => {
      const answers = this.#heard(room).flatMap((one) => one.answers.map(({ number }) => number));
      return total + (this.#asked.get(room.sender) ?? 0) - new Set(answers).size;
    }, 0);
  }
}

/**
 * Replies with the names of the questions in the newest message, ignoring the lines that Parley
 * adds above it.
 */
function replyTo({ messages }: ChatRequest, reply: number): string {
  const newest = getMessageText(messages.findLast(({ role }) => role === 'user'));
  const asked = findQuestions(newest.split('</message-context>').at(-1) ?? '');
  const names = asked.map(({ sender, number }) => `s${sender}-n${number}`).join(' ');
  return `reply-${reply}-1-of-1 to ${names} ok`;
}
