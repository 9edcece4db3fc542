import { readFileSync } from 'node:fs';
import { decodeText, reasonOf } from '@parley/core';
import type { HookView } from '@parley/proactive';
import type { CliContext } from '../cli.ts';
import { CliError } from '../data-folder.ts';
import { operateAndPrint } from '../operate.ts';
import { formatMinute, stripControlCharacters } from '../terminal/text.ts';

/**
 * `parley hooks` (H09): lists the configured hooks, each with its target chat and its last event.
 */
export function listHooks(cli: CliContext): Promise<number> {
  return operateAndPrint(cli, 'hooks/list', {}, ({ hooks }) =>
    stripControlCharacters(hooks.map(formatHook).join('\n') || 'No hooks are configured.'),
  );
}

function formatHook({ name, agent, action, task, target, events: [last] }: HookView): string {
  const work =
    action === 'job' ? `job for ${target}` : `heartbeat, ${task ?? 'the most overdue task'}`;
  const what = last === undefined ? 'no event yet' : `${formatMinute(last.at)}, ${last.outcome}`;
  return `${name}${agent === undefined ? '' : ` (${agent})`}: ${work}; ${what}`;
}

const SAMPLE = '{"test": true, "text": "A test event, sent by parley hooks test."}';

/**
 * `parley hooks test` (H09): sends an event to a hook. The exit code is 0 if the event was
 * accepted, 1 if it was refused (the reason is printed), and 3 if no gateway is running.
 */
export function testHook(cli: CliContext, name: string, file?: string): Promise<number> {
  const body = file === undefined ? SAMPLE : readEventFile(file);
  return operateAndPrint(
    cli,
    'hooks/test',
    { name, body },
    ({ id }) => `Accepted as ${id}; "parley hooks" shows the outcome.`,
  );
}

function readEventFile(file: string): string {
  try {
    return decodeText(readFileSync(file)).text;
  } catch (error) {
    throw new CliError('usage', `${file} cannot be read (${reasonOf(error)}). Check the path.`);
  }
}
