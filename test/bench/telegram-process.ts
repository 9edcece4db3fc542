import { z } from 'zod';
import { startTelegramDouble } from '../platforms/telegram/telegram-double.ts';
import type { VisibleMessage } from '../platforms/telegram/transcript.ts';
import { preciseNow } from './clock.ts';

// The Telegram double in a process of its own, together with the people who write: what they cost is
// not the bot's, and both ends of a latency are read from one clock.

/** What the benchmark asks of this process; each order has one result. */
export const Order = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('first-poll') }),
  z.object({ kind: z.literal('one-by-one'), chat: z.int(), messages: z.int() }),
  z.object({ kind: z.literal('side-by-side'), chats: z.int(), messages: z.int(), ms: z.number() }),
]);
export type Order = z.infer<typeof Order>;

/** How long a bot may be silent before the benchmark gives up. */
const PATIENCE_MS = 15_000;

const double = await startTelegramDouble({ clock: preciseNow });
const { transcript } = double;
let seen = 0;
let onAnswer: (answer: VisibleMessage) => void = () => {};
transcript.changes.onChange(() => {
  for (const message of transcript.after(seen)) {
    seen = message.seq;
    if (message.from === 'bot') onAnswer(message);
  }
});

const tell = (result: unknown) => process.send?.(result);
process.on('message', (order) => {
  carryOut(Order.parse(order)).then(
    (result) => tell({ result }),
    (error: unknown) => tell({ failure: String(error) }),
  );
});
process.on('disconnect', () => void double.close());
tell({ result: { apiRoot: double.apiRoot, token: double.token } });

async function carryOut(order: Order): Promise<unknown> {
  switch (order.kind) {
    case 'first-poll':
      return double.waitFor(() => transcript.firstArrival('getUpdates'), PATIENCE_MS);
    case 'one-by-one':
      return oneByOne(order.chat, order.messages);
    case 'side-by-side':
      return sideBySide(order.chats, order.messages, order.ms);
  }
}

/** The next message is written when the one before is answered. Gives back the ms of each. */
async function oneByOne(chat: number, messages: number): Promise<number[]> {
  const latencies: number[] = [];
  for (let number = 1; number <= messages; number += 1) {
    const answered = Promise.withResolvers<number>();
    onAnswer = ({ at }) => answered.resolve(at);
    const timer = setTimeout(
      () => answered.reject(new Error(`no answer to ${number}`)),
      PATIENCE_MS,
    );
    const writtenAt = preciseNow();
    double.say({ chat, text: textOf(number) });
    latencies.push((await answered.promise) - writtenAt);
    clearTimeout(timer);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return latencies;
}

/** Every chat always waits for one answer, until so many are there or the time is up. */
async function sideBySide(chats: number, messages: number, ms: number) {
  const startedAt = preciseNow();
  let written = 0;
  let answered = 0;
  const finished = Promise.withResolvers<void>();
  const patience = setTimeout(() => finished.reject(new Error('the bot fell silent')), PATIENCE_MS);
  const write = (chat: number): void => {
    written += 1;
    double.say({ chat, text: textOf(written) });
  };
  onAnswer = ({ chatId }) => {
    answered += 1;
    patience.refresh();
    const enough = written >= messages || preciseNow() - startedAt >= ms;
    if (!enough) write(chatId);
    else if (answered === written) finished.resolve();
  };
  for (let chat = 1; chat <= chats; chat += 1) write(chat);
  await finished.promise;
  clearTimeout(patience);
  return { answered, ms: preciseNow() - startedAt };
}

function textOf(number: number): string {
  return `What is on today, and can you move number ${number}?`;
}
