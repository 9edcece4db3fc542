import { isDeepStrictEqual } from 'node:util';
import { type CheckRunner, detectLanguageName } from '@parley/core';
import { parseToolArguments } from '@parley/models';
import type { ReplayedCall } from '../replay/outcome.ts';
import type { AnswerCheck } from './eval-case.ts';

/** What a case is checked on: the answer as people see it, and the calls before it. */
export interface CheckedAnswer {
  /** Empty if the agent stayed silent. */
  readonly text: string;
  readonly isSilent: boolean;
  readonly calls: readonly ReplayedCall[];
}

/** Asks the judge model whether the answer fulfils a criterion; null if it does, else its reason. */
export type JudgeAnswer = (criterion: string, answer: string) => Promise<string | null>;

export interface CheckServices {
  readonly checks: Pick<CheckRunner, 'checkAnswer'>;
  /** Absent if no model may be asked; a `judge` check is then skipped. */
  readonly judge?: JudgeAnswer | undefined;
}

export interface CheckResult {
  readonly check: AnswerCheck;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  /** Why the check failed or was skipped, as a sentence. */
  readonly reason?: string;
}

/** Runs the checks of a case on an answer, in order. */
export async function runChecks(
  checks: readonly AnswerCheck[],
  answer: CheckedAnswer,
  services: CheckServices,
  signal: AbortSignal,
): Promise<readonly CheckResult[]> {
  const results: CheckResult[] = [];
  for (const check of checks) {
    if ('judge' in check && services.judge === undefined) {
      const reason = 'Only a run with --live asks the judge model.';
      results.push({ check, outcome: 'skipped', reason });
      continue;
    }
    const reason = await findFailure(check, answer, services, signal);
    results.push(
      reason === null ? { check, outcome: 'passed' } : { check, outcome: 'failed', reason },
    );
  }
  return results;
}

async function findFailure(
  check: AnswerCheck,
  answer: CheckedAnswer,
  { checks, judge }: CheckServices,
  signal: AbortSignal,
): Promise<string | null> {
  if ('schema' in check) {
    const checked = await checks.checkAnswer(answer.text, check.schema, signal);
    return 'wrong' in checked ? `The answer does not match the schema: ${checked.wrong}.` : null;
  }
  if ('judge' in check) return (await judge?.(check.judge, answer.text)) ?? null;
  return findFailureIn(check, answer);
}

type SimpleCheck = Exclude<AnswerCheck, { readonly schema: unknown } | { readonly judge: string }>;

function findFailureIn(
  check: SimpleCheck,
  { text, isSilent, calls }: CheckedAnswer,
): string | null {
  if ('contains' in check)
    return includesWords(text, check.contains)
      ? null
      : `The answer does not contain "${check.contains}".`;
  if ('lacks' in check)
    return includesWords(text, check.lacks) ? `The answer contains "${check.lacks}".` : null;
  if ('calls' in check) return findMissingCall(check, calls);
  if ('neverCalls' in check)
    return calls.some(({ name }) => name === check.neverCalls)
      ? `The agent called ${check.neverCalls}.`
      : null;
  if ('order' in check) return findWrongOrder(check.order, calls);
  if ('silent' in check) {
    if (check.silent === isSilent) return null;
    return isSilent ? 'The agent stayed silent.' : 'The agent answered instead of staying silent.';
  }
  if ('language' in check) {
    const found = detectLanguageName([text]);
    return found?.toLowerCase() === check.language.toLowerCase()
      ? null
      : `The answer is in ${found ?? 'no language that could be recognized'}, not in ${check.language}.`;
  }
  const { min = 0, max = Number.POSITIVE_INFINITY } = check.length;
  return text.length >= min && text.length <= max
    ? null
    : `The answer has ${text.length} characters.`;
}

/** Case and runs of white space do not matter. */
function includesWords(text: string, words: string): boolean {
  const fold = (one: string) => one.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim();
  return fold(text).includes(fold(words));
}

function findMissingCall(
  { calls: name, with: wanted = {} }: Extract<AnswerCheck, { readonly calls: string }>,
  calls: readonly ReplayedCall[],
): string | null {
  const made = calls.filter((call) => call.name === name);
  if (made.length === 0) return `The agent did not call ${name}.`;
  const hasArguments = made.some(({ arguments: written }) => {
    const given = parseToolArguments({ arguments: written });
    return (
      given !== null &&
      Object.entries(wanted).every(([key, value]) => isDeepStrictEqual(given[key], value))
    );
  });
  return hasArguments ? null : `The agent called ${name}, but with other arguments.`;
}

function findWrongOrder(order: readonly string[], calls: readonly ReplayedCall[]): string | null {
  let at = 0;
  for (const { name } of calls) if (name === order[at]) at += 1;
  if (at === order.length) return null;
  const made = calls.map(({ name }) => name).join(', ');
  return `The calls were ${made === '' ? 'none' : made}, not ${order.join(', ')} in this order.`;
}
