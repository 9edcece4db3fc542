import type { TableSize } from '@parley/store/backup';
import {
  compareFacts,
  findNewFailures,
  findNewProblems,
  isUnknownCommand,
  readReplay,
} from './compare-output.ts';
import type { ReleaseRecord, ReleaseRun } from './run-release.ts';

/**
 * What was found in a rehearsal. `refuse` ends the upgrade; `ask` ends it unless the operator
 * accepts that kind of change, because an intended change looks the same; `note` is only reported.
 */
export interface Finding {
  readonly level: 'refuse' | 'ask' | 'note';
  readonly kind: FindingKind;
  readonly text: string;
}

/** The kinds that `--accept` names are those with the level `ask`. */
export type FindingKind =
  | 'start'
  | 'migration'
  | 'settings'
  | 'doctor'
  | 'data'
  | 'return'
  | 'prompts'
  | 'cases'
  | 'messages'
  | 'privacy'
  | 'speed'
  | 'memory'
  | 'log'
  | 'stop';

export const ACCEPTABLE = ['prompts', 'speed', 'memory', 'data', 'doctor', 'return'] as const;

export interface Decision {
  readonly kind: 'go' | 'refuse';
  readonly findings: readonly Finding[];
}

/** Decides whether the new release may replace the old one, from what both did on the same copy. */
export function decideUpgrade(
  before: ReleaseRecord,
  after: ReleaseRecord,
  accepted: readonly string[] = [],
): Decision {
  const findings = [
    ...judgeMigration(after),
    ...judgeData(before, after),
    ...judgeSettings(before, after),
    ...judgeCommands(before, after),
    ...judgeRun(before.run, after.run),
    ...judgeAnswers(before, after),
    ...judgePrompts(before, after),
  ].map((finding) =>
    finding.level === 'ask' && accepted.includes(finding.kind)
      ? ({ ...finding, level: 'note' } as const)
      : finding,
  );
  return { kind: findings.some(({ level }) => level !== 'note') ? 'refuse' : 'go', findings };
}

const refuse = (kind: FindingKind, text: string): Finding => ({ level: 'refuse', kind, text });
const ask = (kind: FindingKind, text: string): Finding => ({ level: 'ask', kind, text });
const note = (kind: FindingKind, text: string): Finding => ({ level: 'note', kind, text });

/** The first command opens the database, which migrates it. */
function judgeMigration({ commands: { conversations } }: ReleaseRecord): readonly Finding[] {
  const { code, out, err } = conversations;
  if (code === 0) return [];
  const how = code === null ? 'did not end' : `ended with code ${code}`;
  return [refuse('migration', `opening the copied database ${how}: ${firstLine(err || out)}`)];
}

/** The facts that people know must be the same, and no table may lose rows. */
function judgeData(before: ReleaseRecord, after: ReleaseRecord): readonly Finding[] {
  // A database that was not migrated has no data to compare.
  if (after.commands.conversations.code !== 0) return [];
  const lost = (['conversations', 'letters', 'jobs', 'usage'] as const).flatMap((name) => {
    const [was, is] = [before.commands[name], after.commands[name]];
    if (was.code !== 0) return [];
    const what = is.code === 0 ? compareFacts(was.out, is.out) : firstLine(is.err || is.out);
    return what === null ? [] : [refuse('data', `"parley ${name}" lost data: ${what}`)];
  });
  const { noWayBack } = after;
  const stuck = `Parley could not return from it by itself: ${noWayBack}`;
  return [
    ...lost,
    ...judgeTables(after.tablesBefore, after.tables),
    ...(noWayBack === null ? [] : [ask('return', stuck)]),
  ];
}

/** Tables of short-lived rows, which any start may change. */
const SHORT_LIVED = new Set(['process', 'lease', 'retention_run', 'store_state']);

/** A table may get another name, but then another new table has its rows. */
function judgeTables(
  before: Readonly<Record<string, TableSize>>,
  after: Readonly<Record<string, TableSize>>,
): readonly Finding[] {
  const isNew = (name: string) => before[name] === undefined;
  const renamed = Object.entries(after).flatMap(([name, size]) => (isNew(name) ? [size] : []));
  return Object.entries(before).flatMap(([name, was]) => {
    if (SHORT_LIVED.has(name)) return [];
    const is = after[name] ?? findRenamed(renamed, was);
    if (is === undefined || is.rows < was.rows)
      return [
        refuse('data', `the table ${name} had ${was.rows} rows and now has ${is?.rows ?? 0}`),
      ];
    if (is.columns >= was.columns) return [];
    return [ask('data', `the table ${name} lost ${was.columns - is.columns} columns`)];
  });
}

function findRenamed(tables: readonly TableSize[], was: TableSize): TableSize | undefined {
  const large = tables.filter(({ rows }) => rows >= was.rows);
  return large.find(({ columns }) => columns >= was.columns) ?? large[0];
}

function judgeSettings(before: ReleaseRecord, after: ReleaseRecord): readonly Finding[] {
  const [was, is] = [before.commands.settings, after.commands.settings];
  const found = findNewProblems(was, is);
  return found === null ? [] : [refuse('settings', `it does not accept your settings: ${found}`)];
}

function judgeCommands(before: ReleaseRecord, after: ReleaseRecord): readonly Finding[] {
  const { doctor, replay, cases } = after.commands;
  const failures = findNewFailures(before.commands.doctor, doctor);
  return [
    ...failures.map((text) => ask('doctor', `the doctor fails: ${text}`)),
    ...judgeReplay(before.commands.replay, replay),
    ...judgeCases(before.commands.cases, cases),
  ];
}

type Ended = ReleaseRecord['commands']['replay'];

/** What the old release cannot rebuild either is not the fault of the new one. */
function judgeReplay(before: Ended, after: Ended): readonly Finding[] {
  const [was, is] = [readReplay(before), readReplay(after)];
  if (is.kind === 'absent')
    return [note('prompts', 'recorded turns were not replayed: it has no "parley replay"')];
  if (is.kind === 'failed') {
    const text = `replaying recorded turns failed: ${is.reason}`;
    // It also fails if no turn was recorded yet.
    return [was.kind === 'replayed' ? refuse('prompts', text) : note('prompts', text)];
  }
  const { same, changed, diverged, incomplete } = is;
  const all = same + changed + diverged + incomplete;
  const text = `of ${all} recorded turns ${same} have the same request, ${changed + diverged} another one, ${incomplete} are incomplete`;
  const known = was.kind === 'replayed' ? was.changed + was.diverged : 0;
  return [changed + diverged > known ? ask('prompts', text) : note('prompts', text)];
}

function judgeCases(before: Ended, after: Ended): readonly Finding[] {
  if (isUnknownCommand(after)) return [note('cases', 'no cases were run: it has no "parley eval"')];
  if (after.code === 0) return [note('cases', 'all cases pass')];
  if (hasNoCases(after)) return [note('cases', 'there are no cases')];
  const text = `cases fail (code ${after.code}): ${firstLine(after.err || after.out)}`;
  const failedBefore = before.code !== 0 && !isUnknownCommand(before) && !hasNoCases(before);
  return [failedBefore ? note('cases', `${text}, as before`) : refuse('cases', text)];
}

/** Without any case, the command fails as well. */
const hasNoCases = ({ out, err }: Ended): boolean => /there are no cases/i.test(`${err}${out}`);

const MIN_LOG_LINES = 200;
const MIN_STOP_MS = 2_000;

function judgeRun(before: ReleaseRun, after: ReleaseRun): readonly Finding[] {
  if (after.kind === 'failed') return [refuse('start', `it does not start: ${after.reason}`)];
  if (before.kind === 'failed') return [];
  const { hasDied, log, stop } = after;
  if (hasDied) return [refuse('start', `it ended by itself while it ran: ${log.end}`)];
  const findings: Finding[] = [];
  if (log.errors > before.log.errors + 2)
    findings.push(refuse('log', `it logs ${log.errors} errors (before: ${before.log.errors})`));
  if (log.lines > before.log.lines * 5 + MIN_LOG_LINES)
    findings.push(refuse('log', `it logs ${log.lines} lines (before: ${before.log.lines})`));
  if (stop.code === null) findings.push(refuse('stop', 'it does not stop when it is asked to'));
  else if (stop.code !== 0 && before.stop.code === 0)
    findings.push(refuse('stop', `it stops with exit code ${stop.code}`));
  else if (stop.tookMs > before.stop.tookMs * 5 + MIN_STOP_MS)
    findings.push(ask('speed', `it takes ${Math.round(stop.tookMs)} ms to stop`));
  return [...findings, ...judgeMemory(before, after)];
}

/** A release that uses this much more (MB) is reported. */
const MORE_MEMORY = 60;

function judgeMemory(
  before: Extract<ReleaseRun, { kind: 'ran' }>,
  after: Extract<ReleaseRun, { kind: 'ran' }>,
): readonly Finding[] {
  if (before.memory === null || after.memory === null) return [];
  const [was, is] = [Math.round(before.memory.after), Math.round(after.memory.after)];
  const text = `memory ${is} MB (before: ${was} MB)`;
  return [is > was * 1.3 + MORE_MEMORY ? ask('memory', text) : note('memory', text)];
}

/** Answers that take this much longer (ms) are reported, if they also take a multiple of before. */
const MORE_LATENCY_MS = 250;
const SLOWER = 3;

function judgeAnswers(before: ReleaseRecord, after: ReleaseRecord): readonly Finding[] {
  if (after.run.kind === 'failed') return [];
  const findings: Finding[] = [];
  // What the old release does not answer either is not the fault of the new one.
  const answered = new Set(before.answers.filter(isComplete).map(({ number }) => number));
  const wrong = after.answers.filter(({ number }) => answered.has(number));
  const lost = wrong.filter(({ seen }) => seen.every((count) => count === 0)).length;
  const partial = wrong.filter(({ seen }) => seen.includes(0) && seen.some((n) => n > 0)).length;
  const doubled = wrong.filter(({ seen }) => seen.some((count) => count > 1)).length;
  if (lost > 0)
    findings.push(refuse('messages', `${lost} of ${answered.size} messages get no answer`));
  if (partial > 0) findings.push(refuse('messages', `${partial} answers lack a part`));
  if (doubled > 0) findings.push(refuse('messages', `${doubled} answers are sent twice`));
  const [was, is] = [median(before), median(after)];
  if (was === null || is === null) return findings;
  const text = `a median answer takes ${is} ms (before: ${was} ms)`;
  const isSlow = is > was * SLOWER && is > was + MORE_LATENCY_MS;
  return [...findings, isSlow ? ask('speed', text) : note('speed', text)];
}

function isComplete({ seen }: { readonly seen: readonly number[] }): boolean {
  return seen.every((count) => count === 1);
}

function median({ answers }: ReleaseRecord): number | null {
  const times = answers.flatMap(({ tookMs }) => tookMs ?? []).toSorted((a, b) => a - b);
  const middle = times[Math.floor(times.length / 2)];
  return middle === undefined ? null : Math.round(middle);
}

function judgePrompts(before: ReleaseRecord, after: ReleaseRecord): readonly Finding[] {
  if (after.run.kind === 'failed') return [];
  const { leaks, prompts } = after;
  if (leaks.length > 0)
    return [
      refuse(
        'privacy',
        `private text of the owner reached ${leaks.length} prompts of other people`,
      ),
    ];
  const both = [...prompts].filter(([number]) => (before.prompts.get(number)?.length ?? 0) > 0);
  const changed = both.filter(
    ([number, texts]) =>
      texts.length > 0 && texts.join('\n') !== before.prompts.get(number)?.join('\n'),
  );
  const text = `${changed.length} of ${both.length} prompts of played messages differ`;
  if (changed.length === 0) return [note('prompts', text)];
  const [number, texts] = changed[0] ?? [0, []];
  const where = describeDifference(before.prompts.get(number)?.join('\n') ?? '', texts.join('\n'));
  return [ask('prompts', `${text}, for example ${where}`)];
}

/** Shows the first place at which two texts differ. */
function describeDifference(was: string, is: string): string {
  let at = 0;
  while (at < was.length && was[at] === is[at]) at += 1;
  const show = (text: string) => JSON.stringify(text.slice(Math.max(0, at - 20), at + 40));
  return `${show(was)} became ${show(is)}`;
}

function firstLine(text: string): string {
  const line = text.split('\n').find((one) => one.trim() !== '') ?? 'it said nothing';
  return line.trim().slice(0, 300);
}
