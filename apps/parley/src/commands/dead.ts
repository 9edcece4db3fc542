import type {
  DeadLetterList,
  DeadLetterOrder,
  DeadLetterOutcome,
  ShownDeadLetter,
} from '@parley/gateway/dead-letters';
import { type Api, withApi } from '../api.ts';
import { type Cli, jsonText } from '../cli.ts';
import { secondText, visible } from '../terminal/text.ts';

export interface Settling {
  readonly json?: boolean;
  readonly all?: boolean;
  readonly kind?: DeadKind;
  readonly evenTwice?: boolean;
}

type DeadKind = ShownDeadLetter['kind'];

/** The most that a list shows at once. */
const LARGEST_PAGE = 50;

/**
 * `parley dead …` (D06): 0 done, 1 not all of it, and why is printed. Where nothing runs it is done in the
 * database, and done by the next start, which looks for due work.
 */
export function listDead(
  cli: Cli,
  { last, before, json }: { last: number; before?: number; json?: boolean },
): Promise<number> {
  return withApi(cli, '/api/dead', async (api) => {
    const page = before === undefined ? '' : `&before=${before}`;
    const found = await api.ask<DeadLetterList>(`?limit=${last}${page}`);
    cli.print(json ? jsonText(found) : listText(found));
    return 0;
  });
}

export function showDead(cli: Cli, id: number, json = false): Promise<number> {
  return withApi(cli, '/api/dead', async (api) => {
    const { letter } = await api.ask<{ readonly letter: ShownDeadLetter | null }>(`/${id}`);
    if (json) cli.print(jsonText({ letter }));
    else cli.print(letter === null ? missingText(id, await known(api)) : letterText(letter));
    return letter === null ? 1 : 0;
  });
}

export function settleDead(
  cli: Cli,
  action: DeadLetterOrder['action'],
  ids: number[],
  { all, kind, evenTwice = false, json }: Settling,
): Promise<number> {
  const kinds: DeadKind[] = kind === undefined ? ['refused', 'uncertain', 'unanswered'] : [kind];
  const order: DeadLetterOrder = { action, letters: all ? { after: 0, kinds } : ids, evenTwice };
  return withApi(cli, '/api/dead', async (api) => {
    const results: Settled[] = [];
    for (let rest: DeadLetterOrder | null = order; rest !== null; ) {
      const outcome: DeadLetterOutcome = await api.ask('', { body: rest });
      results.push(...outcome.results);
      rest = behind(order, outcome.next);
    }
    if (json) {
      cli.print(jsonText({ results }));
    } else {
      const near = results.some(({ result }) => result === 'missing') ? await known(api) : [];
      cli.print(outcomeText(results, api.isRunning, near));
      await printLeftAlone(api, order, cli.print);
    }
    return results.every(({ result }) => result !== 'missing' && result !== 'uncertain') ? 0 : 1;
  });
}

function behind(order: DeadLetterOrder, next: number | null): DeadLetterOrder | null {
  if (next === null || Array.isArray(order.letters)) return null;
  return { ...order, letters: { ...order.letters, after: next } };
}

/** All means all but these. */
async function printLeftAlone(
  { ask }: Api,
  order: DeadLetterOrder,
  print: Cli['print'],
): Promise<void> {
  if (Array.isArray(order.letters) || order.action === 'drop' || order.evenTwice) return;
  const { counts } = await ask<DeadLetterList>('?limit=1');
  if (counts.uncertain === 0) return;
  print(
    `${counts.uncertain} may have arrived and are left alone; --even-twice sends them, and they may come twice.`,
  );
}

async function known({ ask }: Api): Promise<readonly number[]> {
  return (await ask<DeadLetterList>(`?limit=${LARGEST_PAGE}`)).letters.map(({ id }) => id);
}

type Settled = DeadLetterOutcome['results'][number];

function listText({ letters, counts, next }: DeadLetterList): string {
  const all = counts.refused + counts.uncertain + counts.unanswered;
  if (all === 0) return 'No failed messages.';
  const kinds = `${counts.refused} refused, ${counts.uncertain} uncertain, ${counts.unanswered} unanswered`;
  const more = next === null ? [] : [`Older ones: parley dead list --before ${next}`];
  return [...letters.map(letterText), ...more, kinds].join('\n');
}

function letterText(letter: ShownDeadLetter): string {
  const { id, diedAt, kind, chat, reason, settled } = letter;
  const then = settled === null ? '' : `; ${settled.how} ${secondText(settled.at)}`;
  const lines = [
    `${id}  ${secondText(diedAt)}  ${kind}  ${chat}${then}`,
    ...(reason === '' ? [] : [`    because: ${oneLine(reason)}`]),
    ...facts(letter).map((fact) => `    ${fact}`),
    ...messageLines(letter).map((line) => `    | ${line}`),
  ];
  return lines.map(visible).join('\n');
}

function facts(letter: ShownDeadLetter): readonly string[] {
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

function messageLines(letter: ShownDeadLetter): readonly string[] {
  if (letter.kind !== 'unanswered') return letter.text === '' ? [] : letter.text.split('\n');
  return letter.messages.flatMap(({ from, text, at }) => [
    `${oneLine(from)}, ${secondText(at)}:`,
    ...text.split('\n'),
  ]);
}

function outcomeText(
  results: readonly Settled[],
  isRunning: boolean,
  known: readonly number[],
): string {
  const of = (result: Settled['result']) =>
    results.filter((one) => one.result === result).map(({ id }) => id);
  const line = (result: Settled['result'], before: string, after = '.') => {
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

/** Names the dead letter with the nearest number. */
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
