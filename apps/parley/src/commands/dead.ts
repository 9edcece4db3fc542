import { type DeadDesk, DeadOrder, type DeadOutcome } from '@parley/gateway/dead-desk';
import { CliError } from '../cli-error.ts';
import type { DataFolder } from '../data-folder.ts';
import { type OpenDeadDesk, openDeadDesk } from './dead-desk.ts';
import { letterText, listText, missingText, nearest, outcomeText } from './dead-text.ts';

/** What `parley dead` is to do; numbers as they were typed. */
export type DeadCommand = { readonly json?: boolean | undefined } & (
  | { readonly action: 'list'; readonly last: string; readonly before?: string }
  | { readonly action: 'show'; readonly id: string }
  | {
      readonly action: 'replay' | 'drop';
      readonly ids: readonly string[];
      readonly all?: boolean;
      readonly kind?: string;
      readonly evenTwice?: boolean;
    }
);

type Print = (text: string) => void;

/** The most that a list shows at once. */
const LARGEST_PAGE = 50;

/**
 * `parley dead …` (D06): 0 done, 1 not all of it, and why is printed. A running gateway does it at once; without
 * one it is done in the database, and carried out by whoever starts.
 */
export async function deadCommand(
  folder: DataFolder,
  env: NodeJS.ProcessEnv,
  command: DeadCommand,
  print: Print,
): Promise<number> {
  // What was typed is checked before anything is opened.
  const task = taskOf(command, { json: command.json === true, print });
  await using open = await openDeadDesk(folder, env);
  return await task(open);
}

function taskOf(command: DeadCommand, shown: Shown): (open: OpenDeadDesk) => Promise<number> {
  switch (command.action) {
    case 'list': {
      const { last, before } = command;
      const limit = Math.min(Math.max(1, numberOf(last)), LARGEST_PAGE);
      const page = { limit, before: before === undefined ? undefined : numberOf(before) };
      return ({ desk }) => list(desk, page, shown);
    }
    case 'show': {
      const id = numberOf(command.id);
      return ({ desk }) => show(desk, id, shown);
    }
    case 'replay':
    case 'drop': {
      const order = orderOf(command);
      return (open) => settle(open, order, shown);
    }
  }
}

async function list(
  desk: DeadDesk,
  page: Parameters<DeadDesk['list']>[0],
  { json, print }: Shown,
): Promise<number> {
  const found = await desk.list(page);
  print(json ? jsonOf(found) : listText(found));
  return 0;
}

async function show(desk: DeadDesk, id: number, { json, print }: Shown): Promise<number> {
  const letter = await desk.letter(id);
  if (json) print(jsonOf({ letter }));
  else
    print(letter === null ? missingText(id, nearest(id, await known(desk))) : letterText(letter));
  return letter === null ? 1 : 0;
}

interface Shown {
  readonly json: boolean;
  readonly print: Print;
}

async function settle(
  { desk, isRunning }: OpenDeadDesk,
  order: DeadOrder,
  { json, print }: Shown,
): Promise<number> {
  const results: DeadOutcome['results'] = [];
  let rest: DeadOrder | null = order;
  while (rest !== null) {
    const outcome: DeadOutcome = await desk.settle(rest);
    results.push(...outcome.results);
    rest = behind(order, outcome.next);
  }
  if (json) {
    print(jsonOf({ results }));
  } else {
    const near = results.some(({ result }) => result === 'missing') ? await known(desk) : [];
    print(outcomeText(results, isRunning, (id) => nearest(id, near)));
    await tellLeftAlone(desk, order, print);
  }
  return results.every(({ result }) => result !== 'missing' && result !== 'uncertain') ? 0 : 1;
}

/** The same wish for what comes next; null: that was all. */
function behind(order: DeadOrder, next: number | null): DeadOrder | null {
  if (next === null || Array.isArray(order.letters)) return null;
  return { ...order, letters: { ...order.letters, after: next } };
}

/** All means all but these. */
async function tellLeftAlone(desk: DeadDesk, order: DeadOrder, print: Print): Promise<void> {
  if (Array.isArray(order.letters) || order.action === 'drop' || order.evenTwice) return;
  const { counts } = await desk.list({ limit: 1 });
  if (counts.uncertain === 0) return;
  print(
    `${counts.uncertain} may have arrived and are left alone; --even-twice sends them, and they may come twice.`,
  );
}

async function known(desk: DeadDesk): Promise<readonly number[]> {
  return (await desk.list({ limit: LARGEST_PAGE })).letters.map(({ id }) => id);
}

/** Throws CliError for what says nothing, or two things at once. */
function orderOf({
  action,
  ids,
  all,
  kind,
  evenTwice,
}: Extract<DeadCommand, { action: 'replay' | 'drop' }>): DeadOrder {
  if ((all === true) === ids.length > 0) {
    throw new CliError('usage', `Say which: "parley dead ${action} 17 18", or --all.`);
  }
  if (kind !== undefined && all !== true) {
    throw new CliError('usage', '--kind goes with --all; numbers need no kind.');
  }
  const letters =
    all === true ? { after: 0, ...(kind !== undefined && { kinds: [kind] }) } : ids.map(numberOf);
  const order = DeadOrder.safeParse({ action, letters, evenTwice: evenTwice === true });
  if (order.success) return order.data;
  throw new CliError(
    'usage',
    kind === undefined
      ? 'That are too many numbers at once; take fewer, or --all.'
      : `There is no kind ${JSON.stringify(kind)}. There are refused, uncertain and unanswered.`,
  );
}

/** `17` and `#17`. Throws CliError for anything else. */
function numberOf(text: string): number {
  const digits = /^#?(\d{1,15})$/.exec(text)?.[1];
  if (digits !== undefined) return Number(digits);
  throw new CliError('usage', `A number such as 17 is wanted, not ${JSON.stringify(text)}.`);
}

function jsonOf(value: object): string {
  return JSON.stringify(value, null, 2);
}
