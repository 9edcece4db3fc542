import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { REAL_LIMITS, type SlackDouble, startSlackDouble } from '@parley/simulators/slack';
import { openSlackRooms, type SlackRoom } from '../crash/slack-people.ts';
import { judgeConversation } from '../crash/verdict.ts';
import { findQuestions, findStretches, formatQuestion, type Question } from '../crash/words.ts';
import { type ChatRequest, getMessageText } from '../model/chat-request.ts';
import { type ModelDouble, startModelDouble } from '../model/index.ts';
import { findFreePort } from '../services/free-port.ts';
import { SupervisedBot } from './kept-running.ts';
import { type KillPlan, type KillScale, planKills } from './kill-plan.ts';
import { renderTable } from './report.ts';
import { startRedisSide } from './servers.ts';
import {
  getRequestUrl,
  listUncertainParts,
  SLACK_SUBJECTS,
  type SlackSubject,
  startSlackBot,
} from './slack-subjects.ts';
import { withNewFolder } from './subjects.ts';

// Slack bots that are killed at the same moments while the same people ask the same questions.

/** The results of one bot. */
export interface KillTally {
  readonly subject: SlackSubject;
  readonly questions: number;
  readonly kills: number;
  readonly answered: number;
  /** Questions without an answer and without a notice that the answer may have arrived. */
  readonly lost: number;
  /** Questions that were answered twice. */
  readonly doubled: number;
  /** Answers that the bot reports as possibly delivered. */
  readonly uncertain: number;
  /** The number of model requests. */
  readonly requests: number;
  /** The number of exits without a kill. */
  readonly crashes: number;
}

export interface KillFigures {
  readonly scale: KillScale;
  readonly seed: number;
  readonly ms: number;
  readonly tallies: readonly KillTally[];
}

/** How long the model thinks before it answers, in ms. */
const THINKING_MS = 1_000;
const POLL_INTERVAL_MS = 1_000;

/** Kills all bots by the same schedule, at the same time. */
export async function measureKills(scale: KillScale, seed = 1): Promise<KillFigures> {
  const began = Date.now();
  const plan = planKills(scale, seed);
  const tallies = await withNewFolder(async (folder) => {
    await using opened = new AsyncDisposableStack();
    const sides: KilledSide[] = [];
    for (const subject of SLACK_SUBJECTS) {
      const side = await KilledSide.open(subject, join(folder, subject), scale);
      opened.defer(() => side.close());
      sides.push(side);
    }
    await followPlan(plan, sides);
    await Promise.all(sides.map((side) => side.untilOver()));
    return Promise.all(sides.map((side) => side.count()));
  });
  return { scale, seed, ms: Date.now() - began, tallies };
}

/** Runs the questions and kills of the schedule. */
async function followPlan(
  { questions, killsAtMs }: KillPlan,
  sides: readonly KilledSide[],
): Promise<void> {
  const began = performance.now();
  const until = (atMs: number) => sleep(Math.max(0, began + atMs - performance.now()));
  const asking = async (): Promise<void> => {
    for (const { atMs, question } of questions) {
      await until(atMs);
      for (const side of sides) side.ask(question);
    }
  };
  const killing = async (): Promise<void> => {
    for (const atMs of killsAtMs) {
      await until(atMs);
      for (const side of sides) side.kill();
    }
  };
  await Promise.all([asking(), killing()]);
}

interface KilledSideParts {
  readonly subject: SlackSubject;
  readonly folder: string;
  readonly scale: KillScale;
  readonly double: SlackDouble;
  readonly model: ModelDouble;
  readonly bot: SupervisedBot;
}

/** One bot with its own Slack double, model double and, if needed, Redis. */
class KilledSide {
  readonly #parts: KilledSideParts;
  readonly #rooms: ReadonlyMap<number, SlackRoom>;
  readonly #asked = new Map<number, number>();
  readonly #opened: AsyncDisposableStack;
  #isStopped = false;

  private constructor(parts: KilledSideParts, opened: AsyncDisposableStack) {
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
        return createReply(request, replies);
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
   * Resolves when every question has an answer, or when Slack redelivers nothing and the bot has
   * not called the model for a while.
   */
  async untilOver(): Promise<void> {
    const { scale, model } = this.#parts;
    const retriedBy = Date.now() + scale.retryMs.reduce((sum, ms) => sum + ms, 0);
    let requests = model.total;
    let movedAt = Date.now();
    while (this.#missing() > 0) {
      if (model.total > requests) movedAt = Date.now();
      requests = model.total;
      if (Date.now() > Math.max(retriedBy, movedAt) + scale.quietMs) return;
      await sleep(POLL_INTERVAL_MS);
    }
  }

  /** Stops the bot and counts. */
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
    const sum = (of: (verdict: (typeof chats)[number]) => number) =>
      chats.reduce((total, verdict) => total + of(verdict), 0);
    const questions = [...this.#asked.values()].reduce((total, count) => total + count, 0);
    return {
      ...{ subject, questions, kills: bot.kills, answered: questions - this.#missing() },
      ...{ lost: sum(({ lost }) => lost), doubled: sum(({ doubled }) => doubled) },
      ...{ uncertain: uncertain.length, requests: model.total, crashes: bot.crashes },
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

  /** The number of questions without an answer. */
  #missing(): number {
    return [...this.#rooms.values()].reduce((total, room) => {
      const answers = this.#heard(room).flatMap((one) => one.answers.map(({ number }) => number));
      return total + (this.#asked.get(room.sender) ?? 0) - new Set(answers).size;
    }, 0);
  }
}

/** Finds the questions in the newest message, ignoring the context that Parley adds above it. */
function createReply({ messages }: ChatRequest, reply: number): string {
  const newest = getMessageText(messages.findLast(({ role }) => role === 'user'));
  const asked = findQuestions(newest.split('</message-context>').at(-1) ?? '');
  const names = asked.map(({ sender, number }) => `s${sender}-n${number}`).join(' ');
  return `reply-${reply}-1-of-1 to ${names} ok`;
}

const TITLES: Readonly<Record<SlackSubject, string>> = {
  parley: 'Parley',
  'chat-sdk': 'Chat SDK',
  'chat-sdk-after': 'Chat SDK, acknowledging after the handler',
};

/** The printed table. */
export function renderKills({ scale, seed, ms, tallies }: KillFigures): string {
  const { questions, kills, chats } = scale;
  const rows: readonly (readonly [title: string, of: (tally: KillTally) => number])[] = [
    ['answered', ({ answered }) => answered],
    ['lost', ({ lost }) => lost],
    ['answered twice', ({ doubled }) => doubled],
    ['reported as uncertain', ({ uncertain }) => uncertain],
    ['requests to the model', ({ requests }) => requests],
    ['ended by itself', ({ crashes }) => crashes],
  ];
  const head = ['', ...tallies.map(({ subject }) => TITLES[subject])];
  const body = rows.map(([title, of]) => [title, ...tallies.map((one) => String(of(one)))]);
  const minutes = (ms / 60_000).toFixed(1);
  return [
    `${questions} questions in ${chats} chats of Slack, ${kills} kills, ${minutes} minutes, seed ${seed}`,
    renderTable([head, ...body]),
  ].join('\n\n');
}
