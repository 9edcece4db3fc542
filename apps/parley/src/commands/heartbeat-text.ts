import type { HeartbeatReport } from '@parley/proactive';
import { visible } from '../terminal/visible-text.ts';

/** A report for the terminal: one task after the other, then what needs mending. */
export function heartbeatText(report: HeartbeatReport, isRunning: boolean): string {
  const { plan, tokens, tasks, problems, timeZone } = report;
  return [
    `heartbeat  ${plan.words.replaceAll('`', '')} (${timeZone})`,
    ...(isRunning ? [] : ['           Parley does not run: times are as if it were started now']),
    ...(plan.lastWords === null ? [] : [`last beat  ran nothing: ${plan.lastWords}`]),
    `today      ${tokens.today} of ${tokens.perDay} tokens`,
    ...(tasks.length === 0 ? ['\nThere are no tasks in HEARTBEAT.md.'] : []),
    ...tasks.flatMap(({ name, schedule, tell, last, next }) => [
      `\n${name}  ${schedule}${tell === null ? '' : `, tells ${tell}`}`,
      `  last     ${last.words}`,
      `  next     ${next.words}`,
    ]),
    ...(problems.length === 0 ? [] : ['', ...problems]),
  ]
    .flatMap((text) => text.split('\n'))
    .map(visible)
    .join('\n');
}
