import { silentLogger } from '@parley/contracts';
import {
  createDeadDesk,
  type DeadDesk,
  DeadList,
  DeadOrder,
  DeadOutcome,
  ShownLetter,
} from '@parley/gateway/dead-letters';
import { z } from 'zod';
import { type Cli, jsonText, withStore } from '../cli.ts';
import { CliError } from '../data-folder.ts';
import { askRunning, type FoundGateway, findGateway } from '../running-gateway.ts';
import { secondText, visible } from '../terminal/text.ts';

/** What `parley dead` is to do; numbers as they were typed. */
export type DeadWork = { readonly json?: boolean | undefined } & (
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

/** The most that a list shows at once. */
const LARGEST_PAGE = 50;

/**
 * `parley dead …` (D06): 0 done, 1 not all of it, and why is printed. A running gateway does it at once; without
 * one it is done in the database, and carried out by whoever starts.
 */
export async function dead(cli: Cli, command: DeadWork): Promise<number> {
  // What was typed is checked before anything is opened.
  const task = taskOf(command, { json: command.json === true, print: cli.print });
  const gateway = await findGateway(cli.folder, cli.env);
  if (gateway !== null) return task({ desk: deskOf(gateway), isRunning: true });
  return withStore(cli, (store) => {
    // The next start looks for what is due.
    const wake = async () => {};
    const desk = createDeadDesk({ store, wake, clock: Date.now, log: silentLogger });
    return task({ desk, isRunning: false });
  });
}

/** Where dead letters are settled: by the running gateway, else in the database itself. */
interface OpenDesk {
  readonly desk: DeadDesk;
  /** A gateway runs and takes up at once what is replayed. */
  readonly isRunning: boolean;
}

function taskOf(command: DeadWork, shown: Shown): (open: OpenDesk) => Promise<number> {
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
  print(json ? jsonText(found) : listText(found));
  return 0;
}

async function show(desk: DeadDesk, id: number, { json, print }: Shown): Promise<number> {
  const letter = await desk.letter(id);
  if (json) print(jsonText({ letter }));
  else
    print(letter === null ? missingText(id, nearest(id, await known(desk))) : letterText(letter));
  return letter === null ? 1 : 0;
}

interface Shown {
  readonly json: boolean;
  readonly print: Cli['print'];
}

async function settle(
  { desk, isRunning }: OpenDesk,
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
    print(jsonText({ results }));
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
async function tellLeftAlone(desk: DeadDesk, order: DeadOrder, print: Cli['print']): Promise<void> {
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
}: Extract<DeadWork, { action: 'replay' | 'drop' }>): DeadOrder {
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

const OneLetter = z.object({ letter: ShownLetter.nullable() });

/** The desk of a running gateway. */
function deskOf(gateway: FoundGateway): DeadDesk {
  return {
    list({ before, limit }) {
      const page = before === undefined ? '' : `&before=${before}`;
      return askRunning(gateway, { path: `/api/dead?limit=${limit}${page}`, answer: DeadList });
    },
    async letter(id) {
      const asked = await askRunning(gateway, { path: `/api/dead/${id}`, answer: OneLetter });
      return asked.letter;
    },
    settle: (order) => askRunning(gateway, { path: '/api/dead', body: order, answer: DeadOutcome }),
  };
}

type Result = DeadOutcome['results'][number];

/** A list for the terminal. Texts of strangers command no terminal. */
function listText({ letters, counts, next }: DeadList): string {
  const all = counts.refused + counts.uncertain + counts.unanswered;
  if (all === 0) return 'Nothing was given up. All is delivered, or on its way.';
  const kinds = `${counts.refused} refused, ${counts.uncertain} uncertain, ${counts.unanswered} unanswered`;
  const more = next === null ? [] : [`Older ones: parley dead list --before ${next}`];
  return [...letters.map(letterText), ...more, kinds].join('\n');
}

/** One letter: number, when, what it is, where, why, and its words. */
function letterText(letter: ShownLetter): string {
  const { id, diedAt, kind, chat, reason, settled } = letter;
  const then = settled === null ? '' : `; ${settled.how} ${secondText(settled.at)}`;
  const lines = [
    `${id}  ${secondText(diedAt)}  ${kind}  ${chat}${then}`,
    ...(reason === '' ? [] : [`    because: ${oneLine(reason)}`]),
    ...facts(letter).map((words) => `    ${words}`),
    ...wordsOf(letter).map((line) => `    | ${line}`),
  ];
  return lines.map(visible).join('\n');
}

function facts(letter: ShownLetter): readonly string[] {
  if (letter.kind === 'unanswered') {
    const { count, messages, steps } = letter;
    return [
      ...(steps === 0
        ? []
        : [`its turn had done ${steps} steps; asked again, tools may do them again`]),
      ...(count > messages.length ? [`${count} messages; the first ${messages.length}:`] : []),
    ];
  }
  const { part, file, state } = letter;
  return [
    ...(part === null ? [] : [`part ${part} of an answer`]),
    ...(file === '' ? [] : [`with the file ${file}`]),
    ...(letter.settled?.how === 'replayed' ? [`now: ${state}`] : []),
  ];
}

function wordsOf(letter: ShownLetter): readonly string[] {
  if (letter.kind !== 'unanswered') return letter.text === '' ? [] : letter.text.split('\n');
  return letter.messages.flatMap(({ from, text, at }) => [
    `${oneLine(from)}, ${secondText(at)}:`,
    ...text.split('\n'),
  ]);
}

/** What came of a wish, in words. `near` finds a number that is there for one that is not. */
function outcomeText(
  results: readonly Result[],
  isRunning: boolean,
  near: (id: number) => number | null,
): string {
  const of = (result: Result['result']) =>
    results.filter((one) => one.result === result).map(({ id }) => id);
  const [replayed, dropped, settled] = [of('replayed'), of('dropped'), of('settled')];
  const uncertain = of('uncertain');
  const waits = isRunning ? '' : ' Parley does not run here; it is done as soon as it does.';
  return [
    ...(results.length === 0 ? ['There is nothing to do.'] : []),
    ...(replayed.length === 0 ? [] : [`Replayed: ${numbers(replayed)}.${waits}`]),
    ...(dropped.length === 0 ? [] : [`Dropped: ${numbers(dropped)}.`]),
    ...(settled.length === 0 ? [] : [`Done already: ${numbers(settled)}.`]),
    ...(uncertain.length === 0
      ? []
      : [
          `Left alone, for it may have arrived: ${numbers(uncertain)}. With --even-twice it is sent, and may come twice.`,
        ]),
    ...of('missing').map((id) => missingText(id, near(id))),
  ].join('\n');
}

/** That there is no such letter, and which one might be meant. */
function missingText(id: number, near: number | null): string {
  const hint = near === null ? 'There is none to be settled.' : `Did you mean ${near}?`;
  return `There is no dead letter ${id}. ${hint}`;
}

/** The number that is nearest. */
function nearest(id: number, known: readonly number[]): number | null {
  const byDistance = known.toSorted((a, b) => Math.abs(a - id) - Math.abs(b - id));
  return byDistance[0] ?? null;
}

const MOST_NUMBERS = 20;

function numbers(ids: readonly number[]): string {
  const rest = ids.length - MOST_NUMBERS;
  return `${ids.slice(0, MOST_NUMBERS).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
