import { setTimeout as pause } from 'node:timers/promises';
import type { TelegramDouble, VisibleMessage } from '@parley/simulators/telegram';
import type { Disturbance, LoadResult, SteadyResult } from './doubles.ts';
import { getPreciseTime } from './processes.ts';

/** A Telegram double with a listener for the bot's messages. */
export interface TelegramCrowd {
  readonly double: TelegramDouble;
  listen(onAnswer: (answer: VisibleMessage) => void): void;
}

/** How long a bot may be silent before the benchmark gives up, in ms. */
const TIMEOUT_MS = 60_000;

/**
 * Writes each message `pauseMs` after the previous one was answered. Returns the ms from each
 * message to its answer.
 */
export async function writeOneByOne(
  { double, listen }: TelegramCrowd,
  { chat, messages, pauseMs }: { chat: number; messages: number; pauseMs: number },
): Promise<number[]> {
  const latencies: number[] = [];
  for (let number = 1; number <= messages; number += 1) {
    const answered = Promise.withResolvers<number>();
    listen(({ at }) => answered.resolve(at));
    const timer = setTimeout(
      () => answered.reject(new Error(`no answer to ${number}`)),
      TIMEOUT_MS,
    );
    const writtenAt = getPreciseTime();
    double.say({ chat, text: createText(number) });
    latencies.push((await answered.promise) - writtenAt);
    clearTimeout(timer);
    await pause(pauseMs);
  }
  return latencies;
}

/** Every chat always waits for one answer, until enough have arrived or the time is up. */
export async function writeSideBySide(
  { double, listen }: TelegramCrowd,
  { chats, messages, ms }: { chats: number; messages: number; ms: number },
): Promise<LoadResult> {
  const startedAt = getPreciseTime();
  const writtenAt = new Map<number, number>();
  const latencies: number[] = [];
  let written = 0;
  const finished = Promise.withResolvers<void>();
  const patience = setTimeout(() => finished.reject(new Error('the bot fell silent')), TIMEOUT_MS);
  const write = (chat: number): void => {
    written += 1;
    writtenAt.set(chat, getPreciseTime());
    double.say({ chat, text: createText(written) });
  };
  listen(({ chatId, at }) => {
    latencies.push(at - (writtenAt.get(chatId) ?? Number.NaN));
    patience.refresh();
    const enough = written >= messages || getPreciseTime() - startedAt >= ms;
    if (!enough) write(chatId);
    else if (latencies.length === written) finished.resolve();
  });
  for (let chat = 1; chat <= chats; chat += 1) write(chat);
  await finished.promise;
  clearTimeout(patience);
  return { latencies, ms: getPreciseTime() - startedAt };
}

/** The longest wait for an answer that is merely late, in ms. */
const LATEST_MS = 75_000;

/**
 * Quiet people, each in a separate chat. Meanwhile, messages to other people do not count. A person
 * who does not get an answer within 75 s is counted and asks no further questions.
 */
export async function writeSteadily(
  { double, listen }: TelegramCrowd,
  { chats, ms, pauseMs }: { chats: number; ms: number; pauseMs: number },
): Promise<SteadyResult> {
  const until = getPreciseTime() + ms;
  const waiting = new Map<number, (at: number) => void>();
  listen(({ chatId, at }) => {
    waiting.get(chatId)?.(at);
    waiting.delete(chatId);
  });
  const latencies: number[] = [];
  let unanswered = 0;
  const person = async (chat: number): Promise<void> => {
    for (let number = 1; ; number += 1) {
      // The pauses vary, so that people do not write in lockstep.
      await pause(pauseMs * (0.5 + Math.random()));
      if (getPreciseTime() >= until) return;
      const writtenAt = getPreciseTime();
      const answered = new Promise<number>((resolve) => waiting.set(chat, resolve));
      double.say({ chat, text: createText(number) });
      const at = await Promise.race([answered, pause(LATEST_MS, null, { ref: false })]);
      if (at === null) {
        unanswered += 1;
        return;
      }
      latencies.push(at - writtenAt);
    }
  };
  await Promise.all(Array.from({ length: chats }, (_, index) => person(QUIET_FROM + index)));
  return { latencies, unanswered };
}

/** The chats of quiet people are numbered from here. */
const QUIET_FROM = 5_000;

function createText(number: number): string {
  return `What is on today, and can you move number ${number}?`;
}

/** The chats used by disturbances, where no quiet people write. */
const FLOODING = 20_001;
const LIMITED = 20_002;
const SENDING_FILES = 20_003;
const SLOW_FROM = 21_000;
/** A group that the bot serves. */
export const LIMITED_GROUP = -7;

/** How often the flooding chat writes several messages. */
const HANDFUL_MS = 50;

/** Starts the disturbance, and returns once its immediate part is done. */
export function startDisturbance(double: TelegramDouble, disturbance: Disturbance): void {
  switch (disturbance.kind) {
    case 'flood':
      void floodWithMessages(double, disturbance.messages, disturbance.perSecond);
      break;
    case 'slow-model':
      for (let chat = 0; chat < disturbance.chats; chat += 1) {
        const text = `Please think for ${disturbance.seconds} s about this.`;
        double.say({ chat: SLOW_FROM + chat, text });
      }
      break;
    case 'limited':
      limitSends(double, disturbance.place, disturbance.seconds);
      break;
    case 'files':
      sendFiles(double, disturbance.files, disturbance.megabytes);
  }
}

/** One person sends many large documents at once. */
function sendFiles(double: TelegramDouble, files: number, megabytes: number): void {
  const bytes = new Uint8Array(megabytes * 1_000_000).fill(32);
  for (let nth = 1; nth <= files; nth += 1) {
    const file = { kind: 'document', name: `report ${nth}.txt`, bytes } as const;
    double.say({ chat: SENDING_FILES, text: `What does report ${nth} say?`, file });
  }
}

async function floodWithMessages(
  double: TelegramDouble,
  messages: number,
  perSecond: number,
): Promise<void> {
  const handful = Math.ceil((perSecond * HANDFUL_MS) / 1_000);
  for (let written = 0; written < messages; ) {
    for (let one = 0; one < handful && written < messages; one += 1) {
      written += 1;
      double.say({ chat: FLOODING, text: `And another thing, number ${written}` });
    }
    await pause(HANDFUL_MS);
  }
}

/** Refuses sends to this chat and reports the remaining wait; people there keep writing. */
function limitSends(double: TelegramDouble, place: 'person' | 'group', seconds: number): void {
  const chat = place === 'person' ? LIMITED : LIMITED_GROUP;
  const over = Date.now() + seconds * 1_000;
  const refuse = (): void => {
    const left = Math.ceil((over - Date.now()) / 1_000);
    double.clearFaults();
    if (left <= 0) return;
    const description = `Too Many Requests: retry after ${left}`;
    const parameters = { retry_after: left };
    double.fault({ kind: 'refuse', code: 429, chat, times: 1e6, description, parameters });
    setTimeout(refuse, 1_000);
  };
  refuse();
  const text = place === 'person' ? 'Are you there?' : `@${double.me.username} are you there?`;
  const write = (): void => {
    double.say({ chat, from: LIMITED, text });
    if (Date.now() < over) setTimeout(write, 1_000);
  };
  write();
}
