import { setTimeout as pause } from 'node:timers/promises';
import type { TelegramDouble } from '@parley/simulators/telegram';

/** The owner of the installation, and the group in which people talk among themselves. */
export const OWNER = 501;
export const TALKING_GROUP = -9;

/** How often each event occurs in a day of a busy installation. */
export const BUSY_DAY = {
  'messages of 200 people': 6_000,
  'lines in a group that are not for the bot': 20_000,
  'questions in the group': 300,
  'memories of the owner': 200,
  'calls of file tools': 500,
  'lists of things to do': 100,
  'documents and pictures': 100,
  reminders: 200,
  'runs of a standing task': 48,
  'new sessions': 200,
  'messages on the page': 100,
} as const;
type DayEvent = keyof typeof BUSY_DAY;

/** Messages on the page are written elsewhere. */
type TelegramEvent = Exclude<DayEvent, 'messages on the page'>;

const PEOPLE_FROM = 10_000;
const PEOPLE = 200;

const WRITERS: Readonly<Record<TelegramEvent, (double: TelegramDouble, number: number) => void>> = {
  'messages of 200 people': (double, number) =>
    void double.say({ chat: pickPerson(number), text: `What is on today, and number ${number}?` }),
  'lines in a group that are not for the bot': (double, number) =>
    void double.say({
      chat: TALKING_GROUP,
      from: pickPerson(number),
      text: createChatterText(number),
    }),
  'questions in the group': (double, number) =>
    void double.say({
      chat: TALKING_GROUP,
      from: pickPerson(number),
      text: `@${double.me.username} who is right, ${number}?`,
    }),
  'memories of the owner': (double, number) =>
    callTool(double, 'save_memory', {
      type: 'fact',
      scope: 'user',
      quote: `my locker has the number ${number}`,
    }),
  'calls of file tools': (double, number) =>
    callTool(double, 'write', {
      path: `notes/day-${number % 50}.md`,
      content: `Entry ${number}\n\n${createChatterText(number)}\n`,
    }),
  'lists of things to do': (double, number) =>
    callTool(double, 'write_todos', { todos: [{ task: `thing ${number}`, state: 'open' }] }),
  'documents and pictures': (double, number) =>
    void double.say({
      chat: pickPerson(number),
      text: 'What does this say?',
      file: {
        kind: 'document',
        name: `report-${number}.txt`,
        type: 'text/plain',
        bytes: new TextEncoder().encode(createChatterText(number).repeat(400)),
      },
    }),
  reminders: (double, number) =>
    callTool(double, 'cron', { action: 'add', task: `water plant ${number}`, at: 'in 20 s' }),
  'runs of a standing task': (double) =>
    void double.say({ chat: OWNER, text: '/heartbeat now mail' }),
  'new sessions': (double, number) => void double.say({ chat: pickPerson(number), text: '/new' }),
};

/** Simulates a day on Telegram within `ms`, with evenly spaced events. */
export async function simulateDay(double: TelegramDouble, ms: number): Promise<void> {
  const names = Object.keys(WRITERS).filter((name): name is TelegramEvent => name in WRITERS);
  const started = performance.now();
  await Promise.all(
    names.map(async (name) => {
      for (let number = 1; number <= BUSY_DAY[name]; number += 1) {
        // Measured by the clock, so that a busy machine does not lengthen the day.
        const due = started + (number * ms) / BUSY_DAY[name] - performance.now();
        if (due > 0) await pause(due);
        WRITERS[name](double, number);
      }
    }),
  );
}

function pickPerson(number: number): number {
  return PEOPLE_FROM + (number % PEOPLE);
}

function createChatterText(number: number): string {
  return `I think that ${number} of them were enough, and the weather will be fine on day ${number % 30}. `;
}

/**
 * The owner makes the model call a tool; the required parts of the arguments quote the owner's
 * message.
 */
function callTool(double: TelegramDouble, name: string, input: object): void {
  const quoted = 'quote' in input ? `${input.quote}. ` : '';
  double.say({ chat: OWNER, text: `${quoted}Please call ${name} ${JSON.stringify(input)}` });
}
