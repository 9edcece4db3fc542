import { reasonOf } from '@parley/contracts';
import { type CronExpression, CronExpressionParser } from 'cron-parser';

/** What an expression is, for messages. */
const FORM =
  'five fields: minute, hour, day of the month, month, day of the week, such as 0 9 * * mon-fri';
const FIELD = /^(?:[\da-z*]+(?:-[\da-z]+)?(?:\/\d+)?,?)+$/i;
const NAME = /^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|sun|mon|tue|wed|thu|fri|sat)$/i;

/** An expression that is understood, or why it is not. */
export type ReadCron =
  /** `from`: the wall time (ms as if UTC) behind which it begins to count. */
  | {
      readonly kind: 'cron';
      readonly hours: number;
      readonly after: (from: number) => CronExpression;
    }
  | { readonly kind: 'problem'; readonly message: string };

/** Reads a cron expression of five fields: numbers, names, ranges, steps and lists. */
export function readCronExpression(written: string): ReadCron {
  const fields = written.trim().split(/\s+/);
  const problem = (why: string): ReadCron => ({
    kind: 'problem',
    message: `"${written.trim()}" is no cron expression (${why}). Expected ${FORM}.`,
  });
  if (fields.length !== 5)
    return problem(`it has ${written.trim() === '' ? 0 : fields.length} fields`);
  const odd = fields.find((field) => !FIELD.test(field) || field.endsWith(','));
  if (odd !== undefined) return problem(`"${odd}" is not understood`);
  const words = fields.flatMap((field) => field.match(/[a-z]+/gi) ?? []);
  const unknown = words.find((word) => !NAME.test(word));
  if (unknown !== undefined) return problem(`"${unknown}" is not understood`);
  const expression = fields.join(' ');
  const after = (from: number) =>
    CronExpressionParser.parse(expression, { currentDate: new Date(from), tz: 'UTC' });
  try {
    const hours = after(0).fields.hour.values.length;
    return { kind: 'cron', hours, after };
  } catch (error) {
    return problem(reasonOf(error));
  }
}
