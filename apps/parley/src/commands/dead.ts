import type { InputOf, OutputOf } from '@parley/gateway/operations';
import { type CliContext, formatJson } from '../cli.ts';
import { type Operations, operateAndPrint, withOperations } from '../operate.ts';
import { formatSecond, stripControlCharacters } from '../terminal/text.ts';

export interface SettleFlags {
  readonly all?: boolean;
  readonly kind?: ListedDeadLetter['kind'];
  readonly allowDuplicates?: boolean;
}

type DeadLetterList = OutputOf<'dead/list'>;
type ListedDeadLetter = DeadLetterList['letters'][number];
type SettleRequest = InputOf<'dead/settle'>;

/**
 * `parley dead …` (D06): lists, replays and drops dead letters. The exit code is 0 on success and 1
 * otherwise, with the reason printed. Without a running gateway, the change is written to the
 * database, and the next start carries it out with other due work.
 */
export function listDeadLetters(cli: CliContext, limit: number, before?: number): Promise<number> {
  return operateAndPrint(cli, 'dead/list', { limit, before }, formatDeadLetterList);
}

export function showDeadLetter(cli: CliContext, id: number): Promise<number> {
  return withOperations(cli, 'dead/show', async (operations) => {
    const { letter } = await operations.perform('dead/show', { id });
    if (cli.json) cli.print(formatJson({ letter }));
    else
      cli.print(
        letter === null
          ? describeMissingLetter(id, await listKnownIds(operations))
          : formatLetter(letter),
      );
    return letter === null ? 1 : 0;
  });
}

export function settleDeadLetters(
  cli: CliContext,
  action: SettleRequest['action'],
  ids: number[],
  { all, kind, allowDuplicates = false }: SettleFlags,
): Promise<number> {
  const kinds = kind === undefined ? (['refused', 'uncertain', 'unanswered'] as const) : [kind];
  const order: SettleRequest = {
    action,
    letters: all ? { after: 0, kinds: [...kinds] } : ids,
    evenTwice: allowDuplicates,
  };
  return withOperations(cli, 'dead/settle', async (operations) => {
    const results: SettledLetter[] = [];
    for (let rest: SettleRequest | null = order; rest !== null; ) {
      const outcome: OutputOf<'dead/settle'> = await operations.perform('dead/settle', rest);
      results.push(...outcome.results);
      rest = createNextRequest(order, outcome.next);
    }
    if (cli.json) {
      cli.print(formatJson({ results }));
    } else {
      const isMissing = results.some(({ result }) => result === 'missing');
      const near = isMissing ? await listKnownIds(operations) : [];
      cli.print(describeOutcome(results, operations.address !== null, near));
      await printSkippedLetters(operations, order, cli.print);
    }
    return results.every(({ result }) => result !== 'missing' && result !== 'uncertain') ? 0 : 1;
  });
}

function createNextRequest(order: SettleRequest, next: number | null): SettleRequest | null {
  if (next === null || Array.isArray(order.letters)) return null;
  return { ...order, letters: { ...order.letters, after: next } };
}

/** Mentions the dead letters that `--all` skips because their messages may have been delivered. */
async function printSkippedLetters(
  { perform }: Operations,
  order: SettleRequest,
  print: CliContext['print'],
): Promise<void> {
  if (Array.isArray(order.letters) || order.action === 'drop' || order.evenTwice) return;
  const { counts } = await perform('dead/list', { limit: 1 });
  if (counts.uncertain === 0) return;
  print(
    `${counts.uncertain} may have arrived and are left alone. --allow-duplicates sends them again, so they may arrive twice.`,
  );
}

async function listKnownIds({ perform }: Operations): Promise<readonly number[]> {
  return (await perform('dead/list', {})).letters.map(({ id }) => id);
}

type SettledLetter = OutputOf<'dead/settle'>['results'][number];

function formatDeadLetterList({ letters, counts, next }: DeadLetterList): string {
  const all = counts.refused + counts.uncertain + counts.unanswered;
  if (all === 0) return 'No failed messages.';
  const kinds = `${counts.refused} refused, ${counts.uncertain} uncertain, ${counts.unanswered} unanswered`;
  const more = next === null ? [] : [`To list older ones, run: parley dead list --before ${next}`];
  return [...letters.map(formatLetter), ...more, kinds].join('\n');
}

function formatLetter(letter: ListedDeadLetter): string {
  const { id, diedAt, kind, chat, reason, settled } = letter;
  const then = settled === null ? '' : `; ${settled.how} ${formatSecond(settled.at)}`;
  const lines = [
    `${id}  ${formatSecond(diedAt)}  ${kind}  ${chat}${then}`,
    ...(reason === '' ? [] : [`    because: ${toOneLine(reason)}`]),
    ...listLetterDetails(letter).map((fact) => `    ${fact}`),
    ...listMessageLines(letter).map((line) => `    | ${line}`),
  ];
  return lines.map(stripControlCharacters).join('\n');
}

function listLetterDetails(letter: ListedDeadLetter): readonly string[] {
  if (letter.kind === 'unanswered') {
    const { count, messages, steps } = letter;
    return [
      ...(steps === 0
        ? []
        : [`the turn had completed ${steps} steps; a replay may run their tools again`]),
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

function listMessageLines(letter: ListedDeadLetter): readonly string[] {
  if (letter.kind !== 'unanswered') return letter.text === '' ? [] : letter.text.split('\n');
  return letter.messages.flatMap(({ from, text, at }) => [
    `${toOneLine(from)}, ${formatSecond(at)}:`,
    ...text.split('\n'),
  ]);
}

function describeOutcome(
  results: readonly SettledLetter[],
  isRunning: boolean,
  known: readonly number[],
): string {
  const of = (result: SettledLetter['result']) =>
    results.filter((one) => one.result === result).map(({ id }) => id);
  const line = (result: SettledLetter['result'], before: string, after = '.') => {
    const ids = of(result);
    return ids.length === 0 ? [] : [`${before}: ${formatNumbers(ids)}${after}`];
  };
  const waits = isRunning ? '' : ' Parley is not running here; this happens when it starts.';
  return [
    ...(results.length === 0 ? ['There is nothing to do.'] : []),
    ...line('replayed', 'Replayed', `.${waits}`),
    ...line('dropped', 'Dropped'),
    ...line('settled', 'Done already'),
    ...line(
      'uncertain',
      'Left alone, because it may have arrived',
      '. With --allow-duplicates, it is sent again and may arrive twice.',
    ),
    ...of('missing').map((id) => describeMissingLetter(id, known)),
  ].join('\n');
}

/** Suggests the existing dead letter with the nearest number. */
function describeMissingLetter(id: number, known: readonly number[]): string {
  const [near] = known.toSorted((a, b) => Math.abs(a - id) - Math.abs(b - id));
  const hint = near === undefined ? 'There are no dead letters.' : `Did you mean ${near}?`;
  return `There is no dead letter ${id}. ${hint}`;
}

const MAX_NUMBERS = 20;

function formatNumbers(ids: readonly number[]): string {
  const rest = ids.length - MAX_NUMBERS;
  return `${ids.slice(0, MAX_NUMBERS).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

function toOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
