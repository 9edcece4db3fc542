import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { countOf, decodeText, ParleyError, reasonOf } from '@parley/core';
import type { CronBody } from '@parley/gateway/cron-routes';
import type { HeartbeatAnswer, HeartbeatReport } from '@parley/proactive';
import { ofAgent, withApi } from '../api.ts';
import { type Cli, jsonText, notRunning } from '../cli.ts';
import { askGateway, findGateway } from '../running-gateway.ts';
import { visible } from '../terminal/text.ts';

/** `parley cron …` (H08): 0 done, 1 not, and why is printed. */
export function cron(cli: Cli, order: CronBody): Promise<number> {
  return withApi(cli, '/api/cron', async ({ ask }) => {
    const body = await withFormatFile(order);
    const { text } = await ask<{ readonly text: string }>('', { body });
    cli.print(visible(text.replaceAll('`', '')));
    return 0;
  });
}

/** With the text of the schema that `--format` names. Throws ParleyError `format-unreadable`. */
async function withFormatFile(order: CronBody): Promise<CronBody> {
  if (!('fields' in order)) return order;
  const { format: file = 'none', ...fields } = order.fields;
  if (order.fields.format === undefined || file === 'json' || file === 'none') return order;
  try {
    return { ...order, fields: { ...fields, format: decodeText(await readFile(file)).text } };
  } catch (error) {
    const message = `The format ${file} cannot be read: ${reasonOf(error)}. Name a file with a JSON Schema.`;
    throw new ParleyError({ code: 'format-unreadable', message, retryable: false, cause: error });
  }
}

/** `parley heartbeat`: 0 fine, 1 HEARTBEAT.md needs a fix. A stopped installation is read from its files. */
export function heartbeat(cli: Cli, json = false): Promise<number> {
  return withApi(cli, '/api/heartbeat', async ({ ask, isRunning }) => {
    const report = await ask<HeartbeatReport>('');
    cli.print(
      json ? jsonText({ running: isRunning, ...report }) : heartbeatText(report, isRunning),
    );
    return report.problems.length === 0 ? 0 : 1;
  });
}

/** Several tasks may be checked for news first, for 30 s each. In ms. */
const STARTED_WITHIN_MS = 5 * 60_000;

/** `parley heartbeat now`: 1 no task was started, 3 nothing runs. `task` empty: the one that is due. */
export async function heartbeatNow(cli: Cli, task: string, json = false): Promise<number> {
  const gateway = await findGateway(cli.folder, cli.env);
  if (gateway === null) return notRunning(cli);
  const body = { id: randomUUID(), ...(task !== '' && { task }) };
  const answer = await askGateway<HeartbeatAnswer>(
    gateway,
    ofAgent('/api/heartbeat/now', cli.agent),
    { body, withinMs: STARTED_WITHIN_MS },
  );
  cli.print(json ? jsonText(answer) : answer.text);
  return answer.task === null ? 1 : 0;
}

/** What a file says outside of its tasks is lost in none of them. */
export function contextLine(context: string): string {
  const lines = context.split('\n').filter((line) => line.trim() !== '');
  return `${countOf(lines.length, 'line')} outside of the tasks, given to the run of each`;
}

/** A report for the terminal: one task after the other, then what needs fixing. */
export function heartbeatText(report: HeartbeatReport, isRunning: boolean): string {
  const { plan, tokens, tasks, problems, context } = report;
  return [
    `heartbeat  ${plan.text.replaceAll('`', '')} (${report.timeZoneFrom === undefined ? report.timeZone : `${report.timeZone}, from ${report.timeZoneFrom}`})`,
    ...(isRunning ? [] : ['           Parley does not run: times are as if it were started now']),
    ...(plan.lastSkip === null ? [] : [`last run   started no task: ${plan.lastSkip}`]),
    `today      ${tokens.today} of ${tokens.perDay} tokens`,
    ...(tasks.length === 0 ? ['\nThere are no tasks in HEARTBEAT.md.'] : []),
    ...tasks.flatMap(({ name, schedule, tell, last, next }) => [
      `\n${name}  ${schedule}${tell === null ? '' : `, notifies ${tell}`}`,
      `  last     ${last.text}`,
      `  next     ${next.text}`,
    ]),
    ...(context === undefined ? [] : ['', `besides  ${contextLine(context)}`]),
    ...(problems.length === 0 ? [] : ['', ...problems]),
  ]
    .flatMap((text) => text.split('\n'))
    .map(visible)
    .join('\n');
}
