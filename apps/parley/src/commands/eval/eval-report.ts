import type { CaseOutcome, CheckResult } from '@parley/agent/evals';
import { formatDuration } from '@parley/core';
import { stripControlCharacters } from '../../terminal/text.ts';

/** The result of one case. A case file that cannot be read is `broken`. */
export interface EvaluatedCase {
  readonly name: string;
  readonly title: string;
  readonly kind: CaseOutcome['kind'] | 'broken';
  readonly problems: readonly string[];
  readonly checks: readonly CheckResult[];
  readonly answer: CaseOutcome['answer'];
  /** How long the case took, in ms. */
  readonly ms: number;
}

/** `parley eval --json`: the number of cases of each kind, and all cases. */
export interface EvalReport {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly broken: number;
  readonly cases: readonly EvaluatedCase[];
}

export function createEvalReport(cases: readonly EvaluatedCase[]): EvalReport {
  const count = (kind: EvaluatedCase['kind']) => cases.filter((one) => one.kind === kind).length;
  return {
    ...{ passed: count('passed'), failed: count('failed') },
    ...{ skipped: count('skipped'), broken: count('broken'), cases },
  };
}

/** True if the command must end with an error. */
export function isRejected({ failed, broken }: EvalReport): boolean {
  return failed + broken > 0;
}

const SIGNS: Readonly<Record<EvaluatedCase['kind'], string>> = {
  passed: '✓',
  failed: '✗',
  skipped: '-',
  broken: '!',
};

/** Formats the report for a terminal: a line for each case, and below it what failed. */
export function formatEvalReport(report: EvalReport): string {
  const lines = report.cases.flatMap((one) => [
    `${SIGNS[one.kind]} ${one.name}${one.title === '' ? '' : `  ${one.title}`}`,
    ...listReasons(one).map((reason) => `    ${reason}`),
  ]);
  const { passed, failed, skipped, broken } = report;
  const totals = [`${passed} passed`, `${failed} failed`];
  if (skipped > 0) totals.push(`${skipped} skipped`);
  if (broken > 0) totals.push(`${broken} broken`);
  return stripControlCharacters([...lines, '', totals.join(', ')].join('\n'));
}

/** Why a case did not pass, and which checks were skipped. */
function listReasons({ kind, problems, checks }: EvaluatedCase): readonly string[] {
  const found = checks.flatMap(({ outcome, reason }) =>
    outcome === 'passed' || reason === undefined ? [] : [reason],
  );
  if (kind === 'skipped' && problems.length + found.length === 0)
    return ['It has no recorded answer. Run it with --live, and add --record to keep the answer.'];
  return [...problems, ...found];
}

/** Formats the report as JUnit XML, which CI services show as tests. */
export function formatJunit({ cases, failed, broken, skipped }: EvalReport): string {
  const seconds = (ms: number) => (ms / 1_000).toFixed(3);
  const total = cases.reduce((sum, { ms }) => sum + ms, 0);
  const tests = cases.map((one) => `    ${formatTestCase(one, seconds(one.ms))}`);
  const counts = `tests="${cases.length}" failures="${failed + broken}" skipped="${skipped}" time="${seconds(total)}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite name="parley eval" ${counts}>`,
    ...tests,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function formatTestCase(one: EvaluatedCase, seconds: string): string {
  const head = `<testcase classname="parley eval" name="${escapeXml(one.name)}" time="${seconds}"`;
  const reasons = listReasons(one).join('\n');
  switch (one.kind) {
    case 'passed':
      return `${head}/>`;
    case 'skipped':
      return `${head}><skipped message="${escapeXml(reasons)}"/></testcase>`;
    case 'failed':
    case 'broken': {
      const [first = ''] = reasons.split('\n');
      return `${head}><failure message="${escapeXml(first)}">${escapeXml(reasons)}</failure></testcase>`;
    }
  }
}

/** XML allows no control characters except tab and line breaks. */
function escapeXml(text: string): string {
  return text
    .replaceAll(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** Formats how long a live run took and what it cost; empty if no model was asked. */
export function formatCost({ cases }: EvalReport): string {
  const usages = cases.flatMap(({ answer }) => answer?.usage ?? []);
  const tokens = usages.reduce((sum, one) => sum + one.inputTokens + one.outputTokens, 0);
  if (tokens === 0) return '';
  const money = usages.reduce<number | null>(
    (sum, { costUsd }) => (sum === null || costUsd === null ? null : sum + costUsd),
    0,
  );
  const ms = cases.reduce((sum, one) => sum + one.ms, 0);
  const cost = money === null ? 'cost unknown' : `US$ ${money.toFixed(4)}`;
  return `${tokens} tokens, ${cost}, ${formatDuration(ms)}`;
}
