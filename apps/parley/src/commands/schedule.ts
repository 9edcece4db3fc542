import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { decodeText, ParleyError, pluralize, reasonOf } from '@parley/core';
import type { InputOf, OutputOf } from '@parley/gateway/operations';
import type { CliContext } from '../cli.ts';
import { operateAndPrint, operateText } from '../operate.ts';
import { stripControlCharacters } from '../terminal/text.ts';

export function listJobs(cli: CliContext): Promise<number> {
  return operateAndPrint(cli, 'cron/list', {}, ({ jobs }) =>
    stripControlCharacters(jobs.map(({ line }) => line).join('\n') || 'There are no jobs.'),
  );
}

export async function addJob(cli: CliContext, job: InputOf<'cron/add'>): Promise<number> {
  return operateText(cli, 'cron/add', await readFormatFile(job));
}

export async function changeJob(cli: CliContext, job: InputOf<'cron/change'>): Promise<number> {
  return operateText(cli, 'cron/change', await readFormatFile(job));
}

/**
 * Reads the JSON Schema from the file named by `--format`. Throws ParleyError `format-unreadable`.
 */
async function readFormatFile<Order extends InputOf<'cron/add'>>(order: Order): Promise<Order> {
  const { format: file = 'none', ...fields } = order.fields;
  if (order.fields.format === undefined || file === 'json' || file === 'none') return order;
  try {
    return { ...order, fields: { ...fields, format: decodeText(await readFile(file)).text } };
  } catch (error) {
    const message = `The format file ${file} cannot be read: ${reasonOf(error)}. Specify a file with a JSON Schema.`;
    throw new ParleyError({ code: 'format-unreadable', message, retryable: false, cause: error });
  }
}

/**
 * `parley heartbeat`: prints a report; the exit code is 1 if HEARTBEAT.md has a problem, and 0
 * otherwise. Without a running gateway, the report is built from the files.
 */
export function showHeartbeat(cli: CliContext): Promise<number> {
  return operateAndPrint(cli, 'heartbeat/report', {}, formatHeartbeat, ({ problems }) =>
    problems.length === 0 ? 0 : 1,
  );
}

/**
 * How long (ms) to wait for a heartbeat run to start. Before the run starts, several tasks may
 * check for news, each for up to 30 s.
 */
const STARTED_WITHIN_MS = 5 * 60_000;

/**
 * `parley heartbeat now`: starts a task. The exit code is 1 if no task was started, and 3 if no
 * gateway is running. If `task` is empty, the most overdue task is started.
 */
export function runHeartbeatNow(cli: CliContext, task: string): Promise<number> {
  const asked = { id: randomUUID(), ...(task !== '' && { task }) };
  return operateAndPrint(
    cli,
    'heartbeat/now',
    asked,
    ({ text }) => text,
    (answer) => (answer.task === null ? 1 : 0),
    STARTED_WITHIN_MS,
  );
}

/** Describes the text outside the tasks, which every task's run receives. */
export function formatContextLine(context: string): string {
  const lines = context.split('\n').filter((line) => line.trim() !== '');
  return `${pluralize(lines.length, 'line')} outside the tasks, included in each task's run`;
}

/** Formats a report for the terminal: the tasks in order, followed by the problems. */
export function formatHeartbeat(report: OutputOf<'heartbeat/report'>): string {
  const { plan, tokens, tasks, problems, context } = report;
  return [
    `heartbeat  ${plan.text.replaceAll('`', '')} (${report.timeZoneFrom === undefined ? report.timeZone : `${report.timeZone}, from ${report.timeZoneFrom}`})`,
    ...(report.running ? [] : ['Parley is not running: the times assume that it starts now']),
    ...(plan.lastSkip === null ? [] : [`last run   did not start a task: ${plan.lastSkip}`]),
    `today      ${tokens.today} of ${tokens.perDay} tokens`,
    ...(tasks.length === 0 ? ['\nThere are no tasks in HEARTBEAT.md.'] : []),
    ...tasks.flatMap(({ name, schedule, tell, last, next }) => [
      `\n${name}  ${schedule}${tell === null ? '' : `, notifies ${tell}`}`,
      `  last     ${last.text}`,
      `  next     ${next.text}`,
    ]),
    ...(context === undefined ? [] : ['', `besides  ${formatContextLine(context)}`]),
    ...(problems.length === 0 ? [] : ['', ...problems]),
  ]
    .flatMap((text) => text.split('\n'))
    .map(stripControlCharacters)
    .join('\n');
}
