import { reasonOf } from '@parley/core';
import { type CronExpression, CronExpressionParser } from 'cron-parser';

/** The maximum length of an expression, in characters. */
const MAX_WRITTEN = 500;

const FORM =
  'five fields: minute, hour, day of the month, month, day of the week, such as 0 9 * * mon-fri';

const FIELD = /^[\da-z*]+(?:-[\da-z]+)?(?:\/\d+)?(?:,[\da-z*]+(?:-[\da-z]+)?(?:\/\d+)?)*,?$/i;

const NAME = /^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|sun|mon|tue|wed|thu|fri|sat)$/i;

/** A valid cron expression. */
export interface CronPattern {
  /** The number of different hours of the day in which the job may run. */
  readonly hours: number;
  /** Iterates over the local times after the given one (ms as if UTC). */
  readonly after: (from: number) => CronExpression;
}

/**
 * Parses a cron expression with five fields, which may contain numbers, names, ranges, steps and
 * lists. Returns an explanation if the expression is invalid.
 */
export function readCronExpression(written: string): CronPattern | string {
  const expression = written.trim();
  const fields = expression === '' ? [] : expression.split(/\s+/);
  const problem = (why: string) =>
    `"${expression.slice(0, MAX_WRITTEN)}" is not a cron expression (${why}). Expected ${FORM}.`;
  if (expression.length > MAX_WRITTEN) return problem('it is too long');
  if (fields.length !== 5) return problem(`it has ${fields.length} fields`);
  const words = fields.flatMap((field) => field.match(/[a-z]+/gi) ?? []);
  const odd =
    fields.find((field) => !FIELD.test(field) || field.endsWith(',')) ??
    words.find((word) => !NAME.test(word));
  if (odd !== undefined) return problem(`"${odd}" is not understood`);
  const after = (from: number) =>
    CronExpressionParser.parse(expression, { currentDate: new Date(from), tz: 'UTC' });
  try {
    return { hours: after(0).fields.hour.values.length, after };
  } catch (error) {
    return problem(reasonOf(error));
  }
}
