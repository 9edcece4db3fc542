import { silentLogger } from '@parley/core';
import {
  createDeadDesk,
  type DeadDesk,
  DeadList,
  type DeadOrder,
  DeadOutcome,
  ShownLetter,
} from '@parley/gateway/dead-letters';
import { z } from 'zod';
import { type Cli, jsonText, withStore } from '../cli.ts';
import { askRunning, type FoundGateway, findGateway } from '../running-gateway.ts';
import { secondText, visible } from '../terminal/text.ts';

export interface Settling {
  readonly json?: boolean;
  readonly all?: boolean;
  readonly kind?: DeadKind;
  readonly evenTwice?: boolean;
}

type DeadKind = ShownLetter['kind'];

/** The most that a list shows at once. */
const LARGEST_PAGE = 50;

/**
 * `parley dead …` (D06): 0 done, 1 not all of it, and why is printed. A running gateway does it at once; without
 * one it is done in the database, and carried out by the next start.
 */
async function withDesk(
  { folder, env }: Cli,
  work: (desk: DeadDesk, isRunning: boolean) => Promise<number>,
): Promise<number> {
  const gateway = await findGateway(folder, env);
  if (gateway !== null) return work(deskOf(gateway), true);
  return withStore({ folder, env }, (store) => {
    // The next start looks for what is due.
    const wake = async () => {};
    return work(createDeadDesk({ store, wake, clock: Date.now, log: silentLogger }), false);
  });
}

export function listDead(
  cli: Cli,
  { last, before, json }: { last: number; before?: number; json?: boolean },
): Promise<number> {
  return withDesk(cli, async (desk) => {
    const found = await desk.list({ limit: last, before });
    cli.print(json ? jsonText(found) : listText(found));
    return 0;
  });
}

export function showDead(cli: Cli, id: number, json = false): Promise<number> {
  return withDesk(cli, async (desk) => {
    const letter = await desk.letter(id);
    if (json) cli.print(jsonText({ letter }));
    else cli.print(letter === null ? missingText(id, await known(desk)) : letterText(letter));
    return letter === null ? 1 : 0;
  });
}

export function settleDead(
  cli: Cli,
  action: DeadOrder['action'],
  ids: number[],
  { all, kind, evenTwice = false, json }: Settling,
): Promise<number> {
  const kinds = kind === undefined ? KINDS : [kind];
  const order: DeadOrder = {
    action,
    letters: all ? { after: 0, kinds: [...kinds] } : ids,
    evenTwice,
  };
  return withDesk(cli, async (desk, isRunning) => {
    const results: DeadOutcome['results'] = [];
    for (let rest: DeadOrder | null = order; rest !== null; ) {
      const outcome: DeadOutcome = await desk.settle(rest);
      results.push(...outcome.results);
      rest = behind(order, outcome.next);
    }
    if (json) {
      cli.print(jsonText({ results }));
    } else {
      const near = results.some(({ result }) => result === 'missing') ? await known(desk) : [];
      cli.print(outcomeText(results, isRunning, near));
      await printLeftAlone(desk, order, cli.print);
    }
    return results.every(({ result }) => result !== 'missing' && result !== 'uncertain') ? 0 : 1;
  });
}

const KINDS = ['refused', 'uncertain', 'unanswered'] as const satisfies readonly DeadKind[];

function behind(order: DeadOrder, next: number | null): DeadOrder | null {
  if (next === null || Array.isArray(order.letters)) return null;
  return { ...order, letters: { ...order.letters, after: next } };
}

/** All means all but these. */
async function printLeftAlone(
  desk: DeadDesk,
  order: DeadOrder,
  print: Cli['print'],
): Promise<void> {
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

const OneLetter = z.object({ letter: ShownLetter.nullable() });

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

type Result = DeadOutcome['results'][number]['result'];

function listText({ letters, counts, next }: DeadList): string {
  const all = counts.refused + counts.uncertain + counts.unanswered;
  if (all === 0) return 'No failed messages.';
  const kinds = `${counts.refused} refused, ${counts.uncertain} uncertain, ${counts.unanswered} unanswered`;
  const more = next === null ? [] : [`Older ones: parley dead list --before ${next}`];
  return [...letters.map(letterText), ...more, kinds].join('\n');
}

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

function outcomeText(
  results: DeadOutcome['results'],
  isRunning: boolean,
  known: readonly number[],
): string {
  const of = (result: Result) => results.filter((one) => one.result === result).map(({ id }) => id);
  const line = (result: Result, before: string, after = '.') => {
    const ids = of(result);
    return ids.length === 0 ? [] : [`${before}: ${numbers(ids)}${after}`];
  };
  const waits = isRunning ? '' : ' Parley does not run here; it is done as soon as it does.';
  return [
    ...(results.length === 0 ? ['There is nothing to do.'] : []),
    ...line('replayed', 'Replayed', `.${waits}`),
    ...line('dropped', 'Dropped'),
    ...line('settled', 'Done already'),
    ...line(
      'uncertain',
      'Left alone, for it may have arrived',
      '. With --even-twice it is sent, and may come twice.',
    ),
    ...of('missing').map((id) => missingText(id, known)),
  ].join('\n');
}

/** Names the known letter whose number is nearest. */
function missingText(id: number, known: readonly number[]): string {
  const [near] = known.toSorted((a, b) => Math.abs(a - id) - Math.abs(b - id));
  const hint = near === undefined ? 'There is none to be settled.' : `Did you mean ${near}?`;
  return `There is no dead letter ${id}. ${hint}`;
}

const MOST_NUMBERS = 20;

function numbers(ids: readonly number[]): string {
  const rest = ids.length - MOST_NUMBERS;
  return `${ids.slice(0, MOST_NUMBERS).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
